// Time limit: 120 s.
/** Questions on a real terminal: typing ahead, Ctrl-C and Ctrl-D. */
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openTerminal, type Terminal } from '../../tui/tmux.ts';
import { temporaryDirectory } from '../snitch-process.ts';

const PROMPT = fileURLToPath(new URL('../../../src/cli/command/prompt.ts', import.meta.url));

const test = suite('questions on a terminal');

/** Runs a few questions in a shell on a terminal, and prints what each got. */
function asking(name: string, questions: string): Terminal & Disposable {
  const terminal = openTerminal(name, {}, { columns: 60, rows: 40 });
  const program = `const {askLine, askSecretly, confirm} = await import('${PROMPT}');
    const wait = () => new Promise((resolve) => setTimeout(resolve, 700));
    const show = (answer) => console.log('got ' + JSON.stringify(answer));
    try { ${questions} } catch (error) { console.log(error.name + ' ' + error.exitCode) }`;
  terminal.type(
    `clear; ${process.execPath} --input-type=module -e ${JSON.stringify(program.replaceAll(/\s+/g, ' ')).replaceAll('$', '\\$')}; echo "ended $?"`,
  );
  terminal.press('Enter');
  return { ...terminal, [Symbol.dispose]: terminal.close };
}

test('what is typed ahead goes to the next questions, a secret among them', async () => {
  using terminal = asking(
    'ahead',
    `show(await askLine('one: ')); await wait(); show(await askSecretly('two: ')); show(await confirm('three: ')); show(await askLine('four: '));`,
  );
  await terminal.shows(/^one:/m);
  terminal.type('first\rs3cr3t\ryes\rla');
  await terminal.shows('got "first"', 'got "s3cr3t"', 'got true', 'four: la');
  terminal.type('st\r');
  const screen = await terminal.shows('got "last"', 'ended 0');
  assert.not.match(screen.replace('got "s3cr3t"', ''), 's3cr3t');
});

test('a line is edited, and a secret too', async () => {
  using terminal = asking('edit', `show(await askLine('one: ')); show(await askSecretly('two: '));`);
  await terminal.shows(/^one:/m);
  terminal.type('abd');
  terminal.press('Left');
  terminal.type('c');
  terminal.press('Enter');
  await terminal.shows('got "abcd"', 'two:');
  terminal.type('wrong');
  terminal.press('C-u');
  terminal.type('éx');
  terminal.press('Left', 'BSpace', 'Enter');
  await terminal.shows('got "é"', 'ended 0');
});

test('Ctrl-C stops at any question, and Ctrl-D answers nothing', async () => {
  using terminal = asking(
    'stop',
    `show(await askLine('one: ')); show(await askSecretly('two: ')); show(await confirm('three: ')); show(await askLine('four: '));`,
  );
  await terminal.shows(/^one:/m);
  terminal.press('C-d');
  await terminal.shows('got null', 'two:');
  terminal.press('C-d');
  await terminal.shows('three:');
  terminal.press('C-d');
  await terminal.shows('got false', 'four:');
  terminal.type('some');
  terminal.press('C-c');
  await terminal.shows('Stopped 130', 'ended 0');
  for (const ask of ['askSecretly', 'confirm']) {
    using another = asking(`stop-${ask}`, `show(await ${ask}('one: '));`);
    await another.shows(/^one:/m);
    another.press('C-c');
    await another.shows('Stopped 130');
  }
});

test('Ctrl-C at a question ends the command with 130, and nothing is done', async () => {
  using directory = temporaryDirectory();
  const snitch = fileURLToPath(new URL('../../../bin/snitch', import.meta.url));
  const env = { SNITCH_URL: 'http://127.0.0.1:1', SNITCH_API_KEY: 'snk_x', HOME: directory.path };
  const terminal = openTerminal('stop-add', env, { columns: 60, rows: 20 });
  try {
    terminal.type(`${snitch} channel add pushover; echo "ended $?"`);
    terminal.press('Enter');
    await terminal.shows('Token of the application:');
    terminal.press('C-c');
    await terminal.shows('snitch: stopped', 'ended 130');
  } finally {
    terminal.close();
  }
});

test.run();
