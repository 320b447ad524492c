/** `snitch status-page`: the page for others, from the command line. Time limit: 180 s. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireStatusPage } from '../../../src/api/status-page.ts';
import { startProcess } from '../../end-to-end/daemon-process.ts';
import { type Commands, withDaemon } from '../with-daemon.ts';

const test = suite('snitch status-page');
let on: Commands;

test.before(async () => {
  on = await withDaemon();
  url = on.daemon.url;
});
test.after(() => on.end());

let url = '';

const look = (path = '/s/acme') => fetch(`${url}${path}`);

test('there is none until it is set, and every command says how', async () => {
  for (const args of [['show'], ['announce', 'x'], ['delete', '-f']]) {
    const { code, stderr } = await on.run('status-page', ...args);
    assert.is(code, 3);
    assert.match(stderr, 'snitch status-page set --slug NAME --tag TAG');
  }
  const { code, stderr } = await on.run('status-page', 'set', '--title', 'x');
  assert.is(code, 2);
  assert.match(stderr, 'set its address with --slug');
});

test('set says that it is public now, its address, and which snitches are on it', async () => {
  await on.run('create', 'payroll-db', '-i', 'daily', '-t', 'public', '--public-name', 'Payroll');
  await on.make('web', { tags: ['public'] });
  await on.make('inner');
  const { code, stdout, stderr } = await on.run(
    'status-page',
    'set',
    '--slug',
    'acme',
    '--title',
    'Acme',
    '-t',
    'public',
    '-g',
    'public',
  );
  assert.is(code, 0, stderr);
  assert.match(stderr, 'public from now on');
  assert.match(stderr, 'Everybody who knows the address can see the names and the status of these snitches');
  assert.match(stdout, `${on.daemon.url}/s/acme`);
  assert.match(stdout, 'Payroll (here payroll-db)');
  assert.not.match(stdout, 'inner');
  const text = await (await look()).text();
  assert.match(text, 'Payroll');
  assert.not.match(text, 'payroll-db');
  assert.is((await on.run('edit', 'payroll-db', '--public-name', '')).code, 0);
  assert.match((await on.run('status-page', 'show')).stdout, /payroll-db$/m);
});

test('a public name is in the file of a case, and stays if a file does not mention it', async () => {
  await on.run('create', 'in-a-file', '-i', 'daily', '--public-name', 'Files');
  const exported = (await on.run('export')).stdout;
  assert.match(exported, /name: in-a-file\n +public_name: Files/);
  const file = join(on.daemon.dataDir, 'case.yaml');
  const differs = async (text: string) => {
    writeFileSync(file, text);
    return (await on.run('diff', '-f', file)).stdout;
  };
  const entry = (field: string) => `owner: null\nsnitches:\n  - {name: in-a-file, interval: daily${field}}\n`;
  assert.not.match(await differs(entry('')), 'public_name');
  assert.match(await differs(entry(', public_name: Archive')), /public_name.*Files.*Archive/);
  assert.is((await on.run('apply', '-f', file, '--yes')).code, 0);
  assert.match((await on.run('show', 'in-a-file')).stdout, 'Archive');
});

test('an announcement is shown, and taken away', async () => {
  assert.is((await on.run('status-page', 'announce', 'The mail is late')).code, 0);
  assert.match(await (await look()).text(), 'The mail is late');
  assert.is((await on.run('status-page', 'announce', '--clear')).code, 0);
  assert.not.match(await (await look()).text(), 'The mail is late');
  assert.is((await on.run('status-page', 'announce')).code, 2);
});

test('the password comes from a file, and is shown nowhere', async () => {
  const file = join(on.daemon.dataDir, 'page-password');
  writeFileSync(file, 'correct horse\n', { mode: 0o600 });
  const { code, stdout, stderr } = await on.run('status-page', 'set', '--password-file', file);
  assert.is(code, 0);
  assert.not.match(`${stdout}${stderr}`, 'correct horse');
  assert.match(stderr, 'address and the password');
  assert.is((await look()).status, 401);
  assert.is((await on.run('status-page', 'set', '--no-password', '--ask-password')).code, 2);
  assert.is((await on.run('status-page', 'set', '--no-password')).code, 0);
  assert.is((await look()).status, 200);
});

test('what was set is there after a crash, and deleting takes it away at once', async () => {
  await on.daemon.end('SIGKILL');
  await using again = await startProcess({ dataDir: on.daemon.dataDir });
  url = again.url;
  const page = await on.json<WireStatusPage>('status-page', 'show');
  assert.equal([page.slug, page.title, page.tags], ['acme', 'Acme', ['public']]);
  assert.is((await look()).status, 200);
  assert.is((await on.run('status-page', 'delete')).code, 2, 'nobody can be asked');
  assert.is((await on.run('status-page', 'delete', '-f')).code, 0);
  assert.is((await look()).status, 404);
  assert.match(
    (await on.run('log')).stdout,
    /switched on the status page \/s\/acme.*changed the status page \/s\/acme.*took away the status page \/s\/acme/s,
  );
  const file = join(on.daemon.dataDir, 'page-password');
  const anew = ['status-page', 'set', '--slug', 'acme', '-t', 'public', '--password-file', file];
  const { stderr } = await on.run(...anew);
  assert.match(stderr, 'The page is on: who has the password sees what it shows from now on');
  assert.not.match(stderr, 'public from now on');
});

test.run();
