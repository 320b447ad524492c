/** Two commands that create the same at the same moment: cron on two hosts, a build that runs twice. Time limit: 120 s. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireChannel, WireOwnership } from '../../../src/api/wire.ts';
import { fakeServer } from '../fake-server.ts';
import { type Ended, runSnitch } from '../snitch-process.ts';
import { type Commands, withCase } from '../with-daemon.ts';
import { meetAt } from './meeting.ts';

const test = suite<Commands>('the same at the same moment');

test.before.each(async (context) => {
  Object.assign(context, await withCase());
});
test.after.each((context) => context.end());

/** Tokens are those of the whole server, which the tests share. */
const fileWith = (token: string) => `
owner: web
channels:
  - {kind: ntfy, name: ops, settings: {server: 'http://127.0.0.1:9', topic: ops}}
snitches:
  - {name: nightly, interval: daily, tags: [db], needs: [queue]}
  - {name: queue, interval: hourly}
  - {name: moved, interval: hourly, token: ${token}}
  - {name: nobody's, interval: weekly, owner: null}
`;

/** Runs a command twice at once so that the given requests of the two meet. */
async function twice(
  { daemon, env }: Commands,
  paths: readonly string[],
  ...args: string[]
): Promise<Ended[]> {
  await using meeting = await meetAt(daemon.url, paths);
  const to = { ...env, SNITCH_URL: meeting.url, SNITCH_API_KEY: daemon.apiKey };
  const ended = await Promise.all([runSnitch(args, to), runSnitch(args, to)]);
  const all = ended.map(({ stderr }) => stderr).join('--\n');
  for (const path of paths)
    assert.ok(meeting.held.filter((one) => one === path).length > 1, `${path} met: ${all}`);
  return ended;
}

const nameOf = ({ name }: { name: string | null }) => name;

for (const path of ['POST /v1/imports', 'POST /v1/channels']) {
  test(`two applies of a file that meet at ${path} make everything once`, async (context) => {
    const { daemon, json, listed, run } = context;
    const file = join(daemon.dataDir, 'web.yaml');
    writeFileSync(file, fileWith(path.endsWith('imports') ? 'moved-token-1' : 'moved-token-2'));
    const ended = await twice(context, [path], 'apply', '-f', file, '--yes');
    for (const { code, stderr } of ended) assert.is(code, 0, stderr);
    const snitches = await listed();
    assert.equal(snitches.map(nameOf).sort(), ['moved', 'nightly', "nobody's", 'queue']);
    const channels = await json<WireChannel[]>('channel', 'list');
    assert.equal(channels.filter(({ kind }) => kind === 'ntfy').map(nameOf), ['ops']);
    const queue = snitches.find(({ name }) => name === 'queue');
    assert.equal(snitches.find(({ name }) => name === 'nightly')?.needs, [queue?.token]);
    const owned = (await (await daemon.call('GET', '/v1/ownership')).json()) as WireOwnership[];
    assert.equal(
      owned.map(({ owner }) => owner),
      ['web', 'web', 'web'],
    );
    const late = ended.filter(({ stderr }) => /refused some of it/.test(stderr));
    // Either of the two may be first at another place.
    assert.ok(late.length > 0, ended.map(({ stderr }) => stderr).join('--\n'));
    for (const { stderr } of late) assert.match(stderr, /unchanged/);
    const again = await run('apply', '-f', file, '--yes');
    assert.equal(again, { code: 0, stdout: '', stderr: '4 unchanged, 1 channel unchanged\n' });
  });
}

test('two imports from the same service at once bring each snitch over once', async (context) => {
  const checks = [
    { name: 'hidden', timeout: 86_400, grace: 60, unique_key: 'a'.repeat(40) },
    { name: 'shown', timeout: 3_600, grace: 60, uuid: '00000000-0000-4000-8000-000000000001' },
    { name: 'hidden', timeout: 3_600, grace: 60, unique_key: 'b'.repeat(40) },
  ];
  await using old = await fakeServer((_, response) => response.end(JSON.stringify({ checks })));
  const keyFile = join(context.daemon.dataDir, 'old.key');
  writeFileSync(keyFile, 'old-key');
  const flags = ['import', 'healthchecks', '--from-url', old.url, '--from-key-file', keyFile, '--yes'];
  const ended = await twice(context, ['POST /v1/imports'], ...flags);
  for (const { code, stderr } of ended) assert.is(code, 0, stderr);
  const told = ended.map(({ stderr }) => stderr.trim()).sort();
  assert.equal(told, [
    '0 made, 3 there already, 0 that cannot be',
    '3 made, 0 there already, 0 that cannot be',
  ]);
  const snitches = await context.listed();
  assert.equal(snitches.map(nameOf).sort(), ['hidden', 'hidden', 'shown']);
});

test.run();
