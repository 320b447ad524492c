/** What docs/alerts.md says about webhooks, against a request that the real daemon signed. */
import { spawnSync } from 'node:child_process';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { noticePayload } from '../../src/core/alert.ts';
import { withDaemon } from '../cli/with-daemon.ts';
import { startReceiver } from '../delivery/receiver.ts';
import { unless, without } from '../skipped.ts';
import { ROOT, readPage } from './pages.ts';

interface Signed {
  secret: string;
  headers: Record<string, string>;
  body: string;
}

const test = suite<{ signed: Signed }>('webhooks in the documents');

const { blocks, prose } = readPage('docs/alerts.md');

function sample(language: string): string {
  const [block, ...others] = blocks.filter((one) => one.language === language);
  assert.equal(others, []);
  return block?.text ?? '';
}

test.before(async (context) => {
  const receiver = await startReceiver();
  const on = await withDaemon();
  try {
    const { id, secret } = await on.json<{ id: string; secret: string }>('webhook', 'add', receiver.url);
    const tested = await on.run('webhook', 'test', id);
    assert.is(tested.code, 0, tested.stderr);
    const [received] = receiver.received;
    const headers = Object.entries(received?.headers ?? {}).map(([name, value]) => [name, String(value)]);
    context.signed = {
      secret,
      headers: Object.fromEntries(headers) as Record<string, string>,
      body: received?.body ?? '',
    };
  } finally {
    await on.end();
    await receiver.close();
  }
});

/** Requests that must verify, and requests that must not. */
function trials({ secret, headers, body }: Signed): [name: string, given: Signed, expected: boolean][] {
  const header = (changes: Record<string, string>) => ({ ...headers, ...changes });
  const signature = headers['webhook-signature'] ?? '';
  const old = String(Math.floor(Date.now() / 1_000) - 3_600);
  return [
    ['as it came', { secret, headers, body }, true],
    [
      'with two signatures',
      { secret, headers: header({ 'webhook-signature': `v1,AAAA ${signature}` }), body },
      true,
    ],
    ['with another body', { secret, headers, body: body.replace('snitch', 'snatch') }, false],
    ['with another id', { secret, headers: header({ 'webhook-id': 'alert_x' }), body }, false],
    ['of another time', { secret, headers: header({ 'webhook-timestamp': old }), body }, false],
    [
      'with another secret',
      { secret: `whsec_${Buffer.from('another secret').toString('base64')}`, headers, body },
      false,
    ],
    ['with no signature', { secret, headers: header({ 'webhook-signature': '' }), body }, false],
  ];
}

function outcomes(command: string, args: readonly string[], given: readonly Signed[]): boolean[] {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: ROOT,
    input: JSON.stringify(given),
    encoding: 'utf8',
  });
  assert.is(status, 0, stderr);
  return JSON.parse(stdout) as boolean[];
}

function assertVerifies(signed: Signed, command: string, args: readonly string[]): void {
  const tried = trials(signed);
  const found = outcomes(
    command,
    args,
    tried.map(([, given]) => given),
  );
  assert.equal(
    tried.map(([name], index) => [name, found[index]]),
    tried.map(([name, , expected]) => [name, expected]),
  );
}

unless(without('python3'), test)(
  'the Python verifies a request, and nothing that was changed',
  ({ signed }) => {
    const program = `${sample('python')}
import json, sys
print(json.dumps([verify(one["secret"], one["headers"], one["body"].encode()) for one in json.load(sys.stdin)]))
`;
    assertVerifies(signed, 'python3', ['-c', program]);
  },
);

test('the JavaScript accepts a request, and no modified one', ({ signed }) => {
  const program = `${sample('js')}
import { readFileSync } from 'node:fs';
const outcomeOf = ({ secret, headers, body }) => {
  try {
    return verify(secret, headers, body).type === JSON.parse(body).type;
  } catch {
    return false;
  }
};
console.log(JSON.stringify(JSON.parse(readFileSync(0, 'utf8')).map(outcomeOf)));
`;
  assertVerifies(signed, process.execPath, ['--input-type=module', '--eval', program]);
});

/** The paths of all fields in a value. */
function namesIn(value: unknown, place = ''): string[] {
  if (Array.isArray(value)) return namesIn(value[0], `${place}[]`);
  if (typeof value !== 'object' || value === null) return [place];
  return Object.entries(value).flatMap(([name, inner]) => namesIn(inner, `${place}.${name}`));
}

test('the body that is shown has the fields of a real one', ({ signed }) => {
  const shown = blocks.find(({ text }) => text.includes('"snitch.missing"'));
  const real = JSON.parse(signed.body) as { data: { snitch: { tags: string[] }; reason?: string } };
  real.data.snitch.tags = ['db'];
  // A test alert has no reason.
  real.data.reason ??= 'no check-in';
  assert.equal(namesIn(JSON.parse(shown?.text ?? '{}')), namesIn(real));
});

test('the notice that is shown has the fields of a real one', () => {
  const shown = blocks.find(({ text }) => text.includes('"service.blind"'));
  const snitches = [{ token: 'token', name: 'nightly-backup', deadlineAt: 3 }];
  const real = noticePayload(2, {
    start: 0,
    end: 1,
    postponed: ['nightly-backup'],
    postponedCount: 1,
    snitches,
  });
  assert.equal(namesIn(JSON.parse(shown?.text ?? '{}')), namesIn(real));
});

test('the headers that are named are sent', ({ signed }) => {
  const named = [...prose.matchAll(/^\| `([a-z-]+)` \| /gm)].map(([, name = '']) => name);
  assert.ok(named.includes('webhook-signature'));
  for (const name of named) assert.ok(name in signed.headers, name);
});

test.run();
