/** `snitch server`: the servers that `cli.yaml` names, as kubectl has contexts. */
import type { Command } from 'commander';
import { addOutputOptions, type Register, withExamples } from '../command/command.ts';
import { type AddFlags, addServer, removeServer, useServer } from './change.ts';
import { type ListFlags, listServers } from './list.ts';
import { renameServer } from './rename.ts';

const NOTES = `
The servers are listed by name under \`servers:\` in ~/.config/snitch/cli.yaml; \`server:\` there names the default. To use
another one, give --server NAME, before or after the command, or set SNITCH_SERVER. SNITCH_URL overrides the default and
SNITCH_SERVER. The key of one server is never sent to another: a key in the environment belongs to SNITCH_URL.`;

export const register: Register = (program) => {
  const server = program
    .command('server')
    .description('the servers that this user works with, by name')
    .addHelpText('after', NOTES);
  withExamples(
    server,
    'snitch server add home https://snitch.example.com   asks for the key',
    'snitch server list',
    'snitch server use home',
    'snitch --server work list',
  );
  addList(server);
  addAdd(server);
  addUse(server);
  addRename(server);
  addRemove(server);
};

function addList(server: Command): void {
  const list = server
    .command('list', { isDefault: true })
    .description('list them, and ask each whether it answers')
    .option('--timeout <duration>', 'how long to wait for the servers, which are all asked at once', '5s')
    .action((flags: ListFlags) => listServers(flags));
  withExamples(addOutputOptions(list), 'snitch server list', 'snitch server list --json');
}

function addAdd(server: Command): void {
  const add = server
    .command('add')
    .description('add a server; asks for its key, and tries it')
    .argument('<name>', 'what you want to call it')
    .argument('<url>', 'its address, such as https://snitch.example.com')
    .option(
      '--key-file <file>',
      'file with its API key, which must stay there; - reads the key from the input',
    )
    .option('--admin-key-file <file>', 'the same for its admin key, if you administer it')
    .option('--use', 'make it the default')
    .option('-q, --quiet', 'print no message')
    .action((name: string, url: string, flags: AddFlags) => addServer(name, url, flags));
  withExamples(
    add,
    'snitch server add home https://snitch.example.com',
    'snitch server add work https://snitch.example.org --key-file ~/.config/snitch/work.key --use',
  );
}

function addUse(server: Command): void {
  const use = server
    .command('use')
    .description('make one of them the default')
    .argument('<server>', 'its name')
    .option('-q, --quiet', 'print no message')
    .action((name: string, flags: { quiet?: boolean }) => useServer(name, flags));
  withExamples(use, 'snitch server use home');
}

function addRename(server: Command): void {
  const rename = server
    .command('rename')
    .description('rename a server; its key and the check-ins that wait for it move along')
    .argument('<server>', 'its name')
    .argument('<name>', 'what you want to call it')
    .option('-q, --quiet', 'print no message')
    .action((name: string, next: string, flags: { quiet?: boolean }) => renameServer(name, next, flags));
  withExamples(rename, 'snitch server rename home berlin');
}

function addRemove(server: Command): void {
  const remove = server
    .command('remove')
    .description('forget a server and its key; the server itself does not change')
    .argument('<server>', 'its name')
    .option('-f, --force', 'do not ask')
    .option('-q, --quiet', 'print no message')
    .action((name: string, flags: { force?: boolean; quiet?: boolean }) => removeServer(name, flags));
  withExamples(remove, 'snitch server remove home');
}
