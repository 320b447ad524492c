/** `snitch server`: the servers that `cli.yaml` names, as kubectl has contexts. */
import type { Command } from 'commander';
import { addOutputOptions, type Register, withExamples } from '../command/command.ts';
import { type AddFlags, addServer, removeServer, useServer } from './change.ts';
import { type ListFlags, listServers } from './list.ts';
import { renameServer } from './rename.ts';

const NOTES = `
The servers stand below \`servers:\` in ~/.config/snitch/cli.yaml, by their names; \`server:\` there names the default.
Another one is asked with --server NAME, before or behind the command, or with SNITCH_SERVER. SNITCH_URL wins over both the
default and SNITCH_SERVER. The key of one server is never sent to another: a key in the environment belongs to SNITCH_URL.`;

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
    .option('--timeout <duration>', 'how long to wait for all of them, who are asked at once', '5s')
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
      'file that holds its API key and stays there; - reads the key from the input',
    )
    .option('--admin-key-file <file>', 'the same for its admin key, if you administer it')
    .option('--use', 'make it the default')
    .option('-q, --quiet', 'no message')
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
    .option('-q, --quiet', 'no message')
    .action((name: string, flags: { quiet?: boolean }) => useServer(name, flags));
  withExamples(use, 'snitch server use home');
}

function addRename(server: Command): void {
  const rename = server
    .command('rename')
    .description('call a server something else; its key and what waits for it go along')
    .argument('<server>', 'its name')
    .argument('<name>', 'what you want to call it')
    .option('-q, --quiet', 'no message')
    .action((name: string, next: string, flags: { quiet?: boolean }) => renameServer(name, next, flags));
  withExamples(rename, 'snitch server rename home berlin');
}

function addRemove(server: Command): void {
  const remove = server
    .command('remove')
    .description('forget a server and its key; nothing changes on the server itself')
    .argument('<server>', 'its name')
    .option('-f, --force', 'do not ask')
    .option('-q, --quiet', 'no message')
    .action((name: string, flags: { force?: boolean; quiet?: boolean }) => removeServer(name, flags));
  withExamples(remove, 'snitch server remove home');
}
