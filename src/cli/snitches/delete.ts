/** `snitch delete`: asks a person to confirm; a script has to say `--force`. */
import { addClientOptions, type ClientFlags, type Register, withExamples } from '../command/command.ts';
import { confirmDeletion } from '../command/confirm.ts';
import { connect } from '../command/connection.ts';
import { resolveSnitches } from '../command/resolve.ts';
import { Output } from '../output/output.ts';

interface DeleteFlags extends ClientFlags {
  force?: boolean;
}

export const register: Register = (program) => {
  const remove = program
    .command('delete')
    .description('delete snitches with their history; alerts that were already raised are still delivered')
    .argument('<snitch...>', 'tokens, or names')
    .option('-f, --force', 'do not ask; needed without a terminal')
    .action((names: string[], flags: DeleteFlags) => deleteSnitches(names, flags));
  withExamples(
    addClientOptions(remove),
    'snitch delete nightly-backup',
    'snitch delete --force nightly-backup',
  );
};

async function deleteSnitches(names: readonly string[], flags: DeleteFlags): Promise<void> {
  const client = connect(flags);
  const output = new Output(flags);
  const snitches = await resolveSnitches(client, names);
  await confirmDeletion(
    snitches.map(({ name, token, status }) => `${name} (${token}, ${status})`),
    flags,
  );
  for (const { token, name } of snitches) {
    await client.deleteSnitch(token);
    output.done(`${name}: deleted`);
  }
  if (output.format === 'json') output.json([]);
}
