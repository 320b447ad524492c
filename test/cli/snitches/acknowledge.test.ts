import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireSnitch } from '../../../src/api/wire.ts';
import { closing } from '../../closing.ts';
import { runSnitch } from '../snitch-process.ts';
import { type Commands, withCase } from '../with-daemon.ts';

const test = suite('snitch acknowledge');
let on: Commands;

test.before(async () => {
  on = await withCase();
});
test.after(() => on.end());

async function errored(...names: string[]): Promise<void> {
  for (const name of names) {
    await on.make(name);
    await on.run('check-in', name, '-s', '3', '-m', 'disk full');
  }
}

const shown = (name: string) => on.named(name);

test('several at once, with a note and a name; show, list and explain say so', async () => {
  await errored('one', 'two words');
  const done = await on.run('acknowledge', 'one', 'two words', '-m', 'on it', '--by', 'Ann');
  assert.equal([done.code, done.stdout], [0, '']);
  const until = 'acknowledged by Ann, no reminders until its status changes';
  assert.is(done.stderr, `one: ${until}\ntwo words: ${until}\n`);
  for (const name of ['one', 'two words']) {
    const { acknowledged } = await shown(name);
    assert.equal([acknowledged?.by, acknowledged?.note], ['Ann', 'on it']);
  }
  assert.match((await on.run('show', 'one')).stdout, /\nAcknowledged: +by Ann, \d{4}-\S+Z: on it\n/);
  assert.match((await on.run('list', '-o', 'wide')).stdout, /ACKNOWLEDGED.*\n.*by Ann, \S+Z: on it/);
  const listed = (await on.run('list')).stdout;
  assert.match(listed, /\none +errored +/, 'the word for programs stays');
  assert.match((await on.run('explain', 'one')).stdout, 'It was acknowledged by Ann at');
});

test('ack is the same; --undo takes it back; -q and --json print as they do elsewhere', async () => {
  await errored('short');
  assert.match((await on.run('ack', 'short')).stderr, /^short: acknowledged by first start, no reminders/);
  const undone = await on.run('ack', 'short', '--undo');
  assert.is(
    undone.stderr,
    'short: no longer acknowledged; reminders go on, but anybody due to be alerted later hears only about the next alarm\n',
  );
  assert.is((await shown('short')).acknowledged, null);
  assert.equal(await on.run('ack', 'short', '-q'), { code: 0, stdout: '', stderr: '' });
  const [changed] = await on.json<WireSnitch[]>('ack', 'short', '-m', 'again');
  assert.equal(changed, await shown('short'));
  const [noted] = await on.json<WireSnitch[]>('ack', 'short', '--note', 'at last');
  assert.is(noted?.acknowledged?.note, 'at last');
  const [said] = await on.json<WireSnitch[]>('ack', 'short', '--message', 'as check-ins have it');
  assert.is(said?.acknowledged?.note, 'as check-ins have it');
  assert.match((await on.run('help', 'ack')).stdout, 'snitch acknowledge nightly-backup');
  const completed = await on.run('__complete', '--', 'ack', 'shor');
  assert.match(completed.stdout, /^short\b/);
  assert.match((await on.run('__complete', '--', 'ack', '--un')).stdout, /^--undo/);
});

test('a healthy snitch is refused with the reason, and names that do not exist change nothing', async () => {
  await on.make('fine');
  const refused = await on.run('acknowledge', 'fine');
  assert.is(refused.code, 1);
  assert.match(refused.stderr, 'only a failed or errored snitch can be acknowledged');
  await errored('untouched');
  assert.is((await on.run('acknowledge', 'untouched', 'nowhere')).code, 3);
  assert.is((await shown('untouched')).acknowledged, null);
});

test('a server that is too old is named as that', async () => {
  const { key } = { key: 'snk_x' };
  const { acknowledged: _, ...old } = await shown('one');
  using server = closing(
    createServer((request, response) => {
      const isList = request.url?.split('?')[0] === '/v1/snitches';
      response.writeHead(isList ? 200 : 404, { 'content-type': 'application/json', 'x-snitch': '1' });
      response.end(JSON.stringify(isList ? [old] : { type: 'resource_not_found', error: 'Nothing.' }));
    }),
  );
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { code, stderr } = await runSnitch(['ack', 'one', '--url', url], { SNITCH_API_KEY: key });
  assert.is(code, 1);
  assert.match(stderr, 'the server is too old to know acknowledgements');
});

test.run();
