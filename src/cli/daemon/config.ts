/** `snitch config`: shows the configuration, and says what is wrong with it. */
import { printable } from '../../text/printable.ts';
import { EXIT } from '../failure/exit-codes.ts';
import { print } from '../output/pieces.ts';

export interface ConfigFlags {
  config?: string;
}

/** Refuses exactly what `serve` refuses, and says why on stderr, as every command does. */
export async function checkConfig({ config: file }: ConfigFlags): Promise<number> {
  const [{ loadConfig }, { readConfigFile }, { exposedSecrets }, { unreadableFiles }] = await Promise.all([
    import('../../config/config.ts'),
    import('../../config/file.ts'),
    import('../../config/exposed-secrets.ts'),
    import('../../config/unreadable-files.ts'),
  ]);
  const config = await loadConfig({ file, env: process.env });
  const found = await readConfigFile({ file, env: process.env });
  for (const { message, remedy } of [...exposedSecrets(found, config), ...unreadableFiles(found, config)]) {
    process.stderr.write(`snitch: warning: ${printable(message)}: ${printable(remedy)}\n`);
  }
  for (const warning of config.warnings) process.stderr.write(`snitch: warning: ${printable(warning)}\n`);
  const subject = found ? found.path : 'no configuration file; defaults and environment';
  print([`${subject}: valid\n`]);
  return EXIT.ok;
}

export interface ShowFlags extends ConfigFlags {
  output: string;
  json?: boolean;
}

/** What `serve` would run with, including defaults and environment, with passwords masked. */
export async function showConfig({ config: file, output, json = false }: ShowFlags): Promise<number> {
  const [{ describeConfig, loadConfig }, { formatYaml }] = await Promise.all([
    import('../../config/config.ts'),
    import('../../config/file.ts'),
  ]);
  const described = describeConfig(await loadConfig({ file, env: process.env }));
  const text = json || output === 'json' ? `${JSON.stringify(described, null, 2)}\n` : formatYaml(described);
  print([text]);
  return EXIT.ok;
}
