/** `snitch doctor`: looks at everything that an alert depends on, on this host and at the server. */
import type { Config } from '../config.ts';
import { addClientOptions, type ClientFlags, type Register, withExamples } from './command.ts';
import type { ConfigFlags } from './config.ts';
import { checkServer } from './doctor-server.ts';
import { EXIT } from './exit-codes.ts';
import { describeFailure } from './failure.ts';
import { type Finding, failure, ok, printFindings, warning } from './findings.ts';

interface DoctorFlags extends ClientFlags, ConfigFlags {
  send?: string;
}

const GIGABYTE = 1024 ** 3;
const LITTLE_SPACE = GIGABYTE;
const NO_SPACE = GIGABYTE / 10;

export const register: Register = (program, finish) => {
  const doctor = program
    .command('doctor')
    .description('look for what would keep an alert from being sent, and say what to do about it')
    .option('--send <address>', 'also send a test mail to it, and a test alert to each webhook')
    .option('--config <file>', 'configuration file of the daemon')
    .action(async (flags: DoctorFlags) => finish(await examine(flags)));
  addClientOptions(doctor);
  withExamples(doctor, 'snitch doctor', 'snitch doctor --send ops@example.com', 'snitch doctor --json');
  doctor.addHelpText('after', '\nExit codes: 0 nothing is broken (there may be warnings), 1 something is.');
};

async function examine(flags: DoctorFlags): Promise<number> {
  const [configuration, config] = await checkConfiguration(flags);
  const host = config === null ? [] : await checkHost(config.dataDir);
  const findings = [
    ...configuration,
    ...host,
    ...(await checkServer(flags, flags.send !== undefined)),
    ...(config === null ? [] : [await checkEmail(config, flags.send ?? null)]),
  ];
  printFindings(findings, flags);
  return findings.some(({ state }) => state === 'failure') ? EXIT.error : EXIT.ok;
}

async function checkConfiguration({ config: file }: ConfigFlags): Promise<[Finding[], Config | null]> {
  const [{ loadConfig }, { readConfigFile }] = await Promise.all([
    import('../config.ts'),
    import('../config-file.ts'),
  ]);
  try {
    const config = await loadConfig({ file, env: process.env });
    const found = await readConfigFile({ file, env: process.env });
    return [
      [ok('configuration', found ? `${found.path} is valid` : 'no file; defaults and environment')],
      config,
    ];
  } catch (error) {
    const remedy = 'put it right, then `snitch config check`';
    return [describeFailure(error).lines.map((line) => failure('configuration', line, remedy)), null];
  }
}

async function checkHost(dataDir: string): Promise<Finding[]> {
  const directory = checkDataDir(dataDir);
  return directory.remedy === ELSEWHERE ? [directory] : [directory, await checkStore(dataDir)];
}

const ELSEWHERE = 'where the daemon runs as another user or on another host, run `snitch doctor` there';

function checkDataDir(dataDir: string): Finding {
  const { accessSync, constants, statfsSync, statSync } = process.getBuiltinModule('node:fs');
  const check = 'data directory';
  try {
    const { mode } = statSync(dataDir);
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
    const { bavail, bsize } = statfsSync(dataDir);
    const free = bavail * bsize;
    const shown = `${dataDir}, ${(free / GIGABYTE).toFixed(1)} GB free`;
    if (free < NO_SPACE) return failure(check, shown, 'make room: a full disk refuses check-ins');
    if (free < LITTLE_SPACE) return warning(check, shown, 'make room: a full disk refuses check-ins');
    if ((mode & 0o077) !== 0)
      return warning(check, `${dataDir} is open to other users`, `chmod 700 ${dataDir}`);
    return ok(check, shown);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const missing = code === 'ENOENT';
    return warning(check, `${dataDir} ${missing ? 'does not exist' : `cannot be used: ${code}`}`, ELSEWHERE);
  }
}

async function checkStore(dataDir: string): Promise<Finding> {
  const { inspectDatabase } = await import('../store/sqlite/copy.ts');
  try {
    const content = inspectDatabase(dataDir);
    if (content === null) return warning('store', 'there is no database yet', '`snitch serve` makes one');
    return ok('store', `whole; ${content.snitches} snitches in ${content.cases} cases`);
  } catch (error) {
    const [message = ''] = describeFailure(error).lines;
    const damaged = message.includes('damaged') || message.includes('no database');
    const remedy = damaged
      ? 'stop the daemon and put a backup in its place: `snitch restore FILE`'
      : ELSEWHERE;
    return failure('store', message, remedy);
  }
}

async function checkEmail({ smtp }: Config, recipient: string | null): Promise<Finding> {
  if (smtp === null) {
    return warning('email', 'is off', 'set smtp.url and smtp.from, or rely on webhooks alone');
  }
  const { checkMail } = await import('../daemon.ts');
  try {
    const { server, problem } = await checkMail(smtp, recipient, Date.now());
    if (problem !== null) return failure('email', problem, 'check smtp.url, smtp.from, and the mail server');
    const sent = recipient === null ? '' : `, and took a test mail to ${recipient}`;
    return ok('email', `${server} lets us in${sent}`);
  } catch (error) {
    const [message = ''] = describeFailure(error).lines;
    return failure('email', message, 'put it right, then `snitch config check`');
  }
}
