/** Channels that run a command of the configuration: a real program as a process. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { DEFAULT_EVENTS } from '../../src/core/channel.ts';
import type { ClaimedDelivery } from '../../src/core/delivery.ts';
import { COMMAND_LIMITS, commandChannel } from '../../src/delivery/channels/command.ts';
import type { DelivererOptions } from '../../src/delivery/deliverer.ts';
import type { Outcome } from '../../src/delivery/outbox/outcome.ts';
import { until } from '../until.ts';
import { anAlert } from './alerts.ts';
import { Outbox } from './outbox.ts';

interface Context {
  outbox: Outbox;
  directory: string;
}

const test = suite<Context>('channels that run a command');

test.before.each(async (context) => {
  context.outbox = await Outbox.open();
  context.directory = mkdtempSync(join(tmpdir(), 'snitch-command-'));
});

test.after.each(async ({ outbox, directory }) => {
  await outbox.dispose();
  rmSync(directory, { recursive: true, force: true });
});

/** A deliverer with one channel, which runs a script. */
async function withScript(
  { outbox, directory }: Context,
  script: string,
  options: Partial<DelivererOptions> = {},
) {
  const path = join(directory, 'page');
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  const fields = { settings: { command: 'page' }, events: DEFAULT_EVENTS, tags: [] };
  await outbox.store.createChannel(outbox.owner.id, { kind: 'command', name: null, fields }, outbox.clock());
  return outbox.deliverer({ commands: { page: [path, '--now', directory] }, ...options });
}

/** An alert for the channel that runs the command of that name. */
function claimOf(command: string): ClaimedDelivery {
  const recipient = { channel: { settings: { command } }, incident: { key: 'alert_1' } };
  return {
    alert: anAlert(),
    case: { name: 'Operations', timezone: 'UTC' },
    recipient,
  } as unknown as ClaimedDelivery;
}

const failed = (outbox: Outbox) => async () => (await outbox.deliveries())[0]?.lastError != null;

test('it gets the alert as JSON, the fields in its environment, and nothing of the daemon', async (context) => {
  const { outbox, directory } = context;
  process.env.SNITCH_SMTP_URL = 'smtp://u:s3cr3t@x';
  try {
    await withScript(
      context,
      'cat >"$2/input"; env >"$2/env"; echo "$1" >"$2/first"; mv "$2/first" "$2/done"',
    );
    await outbox.raise(1, { names: ['night $(touch /tmp/x) `id` "q"'] });
    await until(() => existsSync(join(directory, 'done')), 'it ran');
    await until(async () => (await outbox.deliveries('delivered')).length === 1, 'it is delivered');
  } finally {
    delete process.env.SNITCH_SMTP_URL;
  }
  const read = (name: string) => readFileSync(join(directory, name), 'utf8');
  assert.is(read('done'), '--now\n');
  const input = JSON.parse(read('input'));
  assert.is(input.type, 'snitch.errored');
  assert.is(input.snitch.name, 'night $(touch /tmp/x) `id` "q"');
  assert.match(read('env'), 'SNITCH_NAME=night $(touch /tmp/x) `id` "q"');
  assert.not.match(read('env'), /s3cr3t/);
});

test('a command that fails is tried again, and its last output is the error', async (context) => {
  await withScript(context, 'echo "no dial tone" >&2; exit 3');
  await context.outbox.raise(1);
  await until(failed(context.outbox), 'the failure is settled');
  const [waiting] = await context.outbox.deliveries('pending');
  assert.is(waiting?.lastError, 'exit status 3: no dial tone');
});

test('what commands say last is read, however many end at the same moment', async ({ directory }) => {
  const path = join(directory, 'page');
  writeFileSync(path, '#!/bin/sh\necho "no dial tone" >&2; exit 3\n', { mode: 0o755 });
  const channel = commandChannel({ page: [path] }, COMMAND_LIMITS);
  const { signal: stop } = new AbortController();
  const claim = claimOf('page');
  const to = { target: 'chan_1', now: Date.now(), stop };
  for (let round = 0; round < 25; round += 1) {
    const outcomes = await Promise.all(Array.from({ length: 4 }, () => channel.sendAlert(claim, to)));
    for (const outcome of outcomes)
      assert.equal(outcome, { kind: 'retry', error: 'exit status 3: no dial tone' });
  }
});

test('of a long error the end is kept', async (context) => {
  await withScript(context, 'seq 1000 >&2; exit 1');
  await context.outbox.raise(1);
  await until(failed(context.outbox), 'the failure is settled');
  const [waiting] = await context.outbox.deliveries('pending');
  const [, words = ''] = /^exit status 1: (.*)$/s.exec(waiting?.lastError ?? '') ?? [];
  assert.match(words, /998\\n999\\n1000$/);
  assert.ok(words.length >= 240 && words.length <= 260, `${words.length}`);
});

test('what a command leaves behind in a session of its own is let go of', async (context) => {
  const { outbox, directory } = context;
  await withScript(context, 'setsid sleep 30 & echo $! >"$2/left"; exit 3');
  const pipes = () => process.getActiveResourcesInfo().filter((name) => name === 'PipeWrap').length;
  const before = pipes();
  try {
    await outbox.raise(1);
    await until(failed(outbox), 'the failure is settled');
    await until(() => pipes() <= before, 'its output is closed, although it could still write');
  } finally {
    const left = Number(readFileSync(join(directory, 'left'), 'utf8'));
    process.kill(left, 'SIGKILL');
  }
});

test('a command that hangs is ended after its time, with all processes it started', async (context) => {
  const { outbox, directory } = context;
  await withScript(context, 'sh -c "sleep 2; touch $2/late" & sleep 60', {
    limits: { command: { timeout: 500 } },
  });
  await outbox.raise(1);
  await until(failed(outbox), 'the failure is settled');
  assert.is((await outbox.deliveries('pending'))[0]?.lastError, 'had not ended within 0.5 s');
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  assert.not(existsSync(join(directory, 'late')));
});

test('a name that is gone from the configuration is tried again, since it may come back', async (context) => {
  await withScript(context, 'exit 0', { commands: {} });
  await context.outbox.raise(1);
  await until(failed(context.outbox), 'the failure is settled');
  assert.match((await context.outbox.deliveries('pending'))[0]?.lastError ?? '', 'has no command page');
});

test('a missing command, and one that does not read a large alert, do no harm', async (context) => {
  const { outbox } = context;
  const running = await withScript(context, 'exec 0<&-; exit 0', {
    commands: { page: ['/nonexistent/page'] },
  });
  await outbox.raise(1);
  await until(failed(outbox), 'the failure is settled');
  assert.match((await outbox.deliveries('pending'))[0]?.lastError ?? '', 'cannot be run: ENOENT');
  running.reconfigure({
    smtp: null,
    webhooks: { allowPrivate: true },
    commands: { page: [join(context.directory, 'page')] },
  });
  outbox.offset += 60_000;
  running.wake();
  await until(
    async () => (await outbox.deliveries('delivered')).length === 1,
    'after a reload it is delivered',
  );
});

/** Sends an alert with files to spare, with none, with a few, and with all of them again. */
const WITHOUT_FILES = `
import { closeSync, openSync } from 'node:fs';
import { commandChannel, COMMAND_LIMITS } from '${new URL('../../src/delivery/channels/command.ts', import.meta.url)}';
const channel = commandChannel({ page: ['/bin/true'] }, COMMAND_LIMITS);
const claim = JSON.parse(process.argv[2]);
const outcomes = [];
const send = () => channel.sendAlert(claim, { stop: new AbortController().signal }).then((outcome) => outcomes.push(outcome));
await send();
const open = [];
try {
  for (;;) open.push(openSync('/dev/null', 'r'));
} catch {}
await send();
for (const file of open.splice(0, 3)) closeSync(file);
await send();
for (const file of open) closeSync(file);
await send();
process.stdout.write(JSON.stringify(outcomes));
`;

test('without a file left to open it is tried again, and the daemon goes on', async ({ directory }) => {
  const program = join(directory, 'without-files.mjs');
  writeFileSync(program, WITHOUT_FILES);
  const command = ['-c', 'ulimit -n 100; exec "$0" "$@"', process.execPath, program];
  const said = execFileSync('/bin/sh', [...command, JSON.stringify(claimOf('page'))], { encoding: 'utf8' });
  const refused: Outcome = { kind: 'retry', error: 'cannot be run: EMFILE' };
  const delivered: Outcome = { kind: 'delivered' };
  assert.equal(JSON.parse(said), [delivered, refused, refused, delivered]);
});

test.run();
