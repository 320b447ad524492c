/** What a run must look like: by `create`, `edit`, `show`, `explain`, `history` and `list`. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireSnitch } from '../../../src/api/wire.ts';
import type { WireExplanation } from '../../../src/api/wire-explanation.ts';
import { startFakeServer } from '../fake-server.ts';
import { runSnitch } from '../snitch-process.ts';
import { type Commands, withCase } from '../with-daemon.ts';

const test = suite('what a run must look like');
let on: Commands;

test.before(async () => {
  on = await withCase();
});
test.after(() => on.end());

const rules = ({ min_runtime, failures_before_alert, expect }: WireSnitch) => [
  min_runtime,
  failures_before_alert,
  expect,
];

test('create sets it, show and the wide list tell it', async () => {
  const limits = ['--min-runtime', '5m', '--failures-before-alert', '3'];
  const expected = ['--expect', 'bytes>=1M', '--expect', 'bytes=0.5x..3x', '--expect', 'rows?<=20'];
  const made = await on.run('create', 'full', '-i', 'daily', ...limits, ...expected);
  assert.is(made.code, 0, made.stderr);
  assert.match(made.stdout, /\nShortest run: +5 min; less counts as an error\n/);
  assert.match(made.stdout, /\nErrors: +3 in a row before it is errored\n/);
  assert.match(made.stdout, /\nExpects: +bytes>=1000000\n +bytes=0\.5x\.\.3x\n +rows\?<=20\n/);
  assert.equal(rules(await on.named('full')), [
    300,
    3,
    [
      { value: 'bytes', min: 1e6, max: null, of_usual: [0.5, 3], required: true },
      { value: 'rows', min: null, max: 20, of_usual: null, required: false },
    ],
  ]);
  const wide = await on.run('list', '-o', 'wide');
  assert.match(wide.stdout, /5m or longer, 3 errors in a row, bytes>=1000000, bytes=0\.5x\.\.3x, rows\?<=20/);
});

test('edit changes one of them, and takes them back', async () => {
  await on.run('create', 'edited', '-i', 'daily', '--min-runtime', '90s', '--expect', 'bytes');
  await on.run('edit', 'edited', '--failures-before-alert', '2');
  const bytes = { value: 'bytes', min: null, max: null, of_usual: null, required: true };
  assert.equal(rules(await on.named('edited')), [90, 2, [bytes]]);
  await on.run('edit', 'edited', '--expect', 'rows=10..20');
  const rows = { ...bytes, value: 'rows', min: 10, max: 20 };
  assert.equal(rules(await on.named('edited')), [90, 2, [rows]]);
  const cleared = await on.run(
    'edit',
    'edited',
    '--no-min-runtime',
    '--no-failures-before-alert',
    '--no-expect',
  );
  assert.is(cleared.code, 0, cleared.stderr);
  assert.equal(rules(await on.named('edited')), [null, 1, null]);
});

test('what is not understood is refused with what to write', async () => {
  const wrong: [string[], RegExp][] = [
    [['--expect', 'bytes>5'], /limits belong to what is allowed: write >= or <=/],
    [['--expect', 'none'], /--expect "none": leave it out, or write --no-expect in `snitch edit`/],
    [['--expect', 'Bytes>=5'], /it begins with the name of a value/],
    [
      ['--expect', 'bytes>=lots'],
      /"lots" is no number: write 1000000, 1\.5 or 10M\nsnitch: understood are, in quotes: bytes>=1M/,
    ],
    [['--expect', 'bytes=5..1'], /of bytes can never be met: its min 5 is above its max 1/],
    [['--min-runtime', 'soon'], /--min-runtime: "soon" is not a length of time/],
    [['--failures-before-alert', '11'], /"11" is not a whole number from 1 to 10/],
  ];
  for (const [args, words] of wrong) {
    const { code, stdout, stderr } = await on.run('create', 'wrong', '-i', 'daily', ...args);
    assert.equal([code === 0, stdout], [false, ''], args.join(' '));
    assert.match(stderr, words);
  }
});

test('history has the values and why a run counts as an error; explain tells what is usual', async () => {
  const { token } = JSON.parse(
    (await on.run('create', 'told', '-i', 'daily', '--expect', 'bytes=0.5x..', '--json')).stdout,
  ) as WireSnitch;
  for (const bytes of [100, 110, 120, 90, 80, 10]) await on.run('check-in', token, '-v', `bytes=${bytes}`);
  const { stdout } = await on.run('history', 'told', '-n', '2');
  assert.match(stdout, /^WHEN +OUTCOME .* VALUES +MESSAGE/);
  assert.match(stdout, /error .* bytes=10 +bytes 10 is less than half of the usual 100/);
  assert.match(
    (await on.run('show', 'told')).stdout,
    /\nWhy: +bytes 10 is less than half of the usual 100\n/,
  );
  const explained = await on.run('explain', 'told');
  assert.match(explained.stdout, /\nValues: +bytes 10, usual 100\n/);
  assert.match(explained.stdout, /the usual is 100, the median of the last 5 successful runs\./);
  const { values } = await on.json<WireExplanation>('explain', 'told');
  assert.is(values?.[0]?.usual, 100);
});

test('success of a server that does not know the option is not taken for one', async () => {
  const snitch = {
    ...{
      token: 'abcdefghijklmnopqrstuvwxyz',
      name: 'old',
      tags: [],
      notes: '',
      status: 'pending',
      checked_in_at: null,
    },
    ...{ check_in_url: 'http://x/c/t', interval: 'daily', alert_type: 'basic', alert_email: [] },
    ...{ created_at: '2026-01-01T00:00:00.000Z' },
  };
  await using server = await startFakeServer(() => ({ status: 200, body: snitch }));
  const { code, stderr } = await runSnitch(['create', 'old', '-i', 'daily', '--expect', 'bytes'], {
    SNITCH_URL: server.url,
    SNITCH_API_KEY: 'x',
  });
  assert.is.not(code, 0);
  assert.match(stderr, /the server did not keep what it expects: it is too old/);
});

test.run();
