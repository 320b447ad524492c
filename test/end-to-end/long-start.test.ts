/**
 * The built daemon starts on a large database after it was blind: it listens first, and does its work after that.
 * Time limit: 240 s.
 */
import { once } from 'node:events';
import { cpSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { newDataDir, removeDataDir } from '../data-directory.ts';
import { runUnless, unless, without } from '../skipped.ts';
import { checkIn, MINUTE, newCase, newSnitch, openIn } from '../store/fixture.ts';
import { WITHOUT_SQLITE } from '../store/postgres/open.ts';
import { openNotifySocket } from '../system/raw-sockets.ts';
import { until as eventually } from '../until.ts';
import { type DaemonProcess, startProcess } from './daemon-process.ts';

/** In milliseconds: longer than all of it takes, so that whatever takes longer never came. */
const WITHIN = 60_000;

const SNITCHES = 6_000;
const INTERVAL = 15 * MINUTE;

/** Every commit takes half a second, so that there is time to look. */
const SLOW_DISK = [
  ...['strace', '-f', '-qq', '-o', '/dev/null', '-e', 'trace=fdatasync'],
  ...['-e', 'inject=fdatasync:delay_enter=500000'],
];

interface World {
  dataDir: string;
}

const test = suite<World>('a daemon that starts on a large database');
const tokens: string[] = [];
let caseId = '';
let made = '';

/** All of them were expected a minute before the daemon starts, and it was last seen alive nine minutes earlier. */
test.before(async () => {
  made = newDataDir();
  const now = Date.now();
  await using store = openIn(made, { clock: () => now });
  const owner = await newCase(store, {}, now);
  caseId = owner.id;
  const created = await Promise.all(
    Array.from({ length: SNITCHES }, (_, index) =>
      newSnitch(store, owner, { name: `job ${index}`, interval: '15_minute', notes: 'x'.repeat(6_000) }, now),
    ),
  );
  tokens.push(...created.map(({ token }) => token));
  await Promise.all(tokens.map((token) => checkIn(store, token, now - INTERVAL - MINUTE)));
  await store.recordLiveness(now - 10 * MINUTE);
});

test.after(() => removeDataDir(made));

test.before.each((world) => {
  world.dataDir = newDataDir();
  cpSync(made, world.dataDir, { recursive: true });
});

test.after.each(({ dataDir }) => removeDataDir(dataDir));

async function progressOf({ url }: DaemonProcess): Promise<string> {
  const answer = await fetch(`${url}/readyz`);
  assert.is(answer.status, 200);
  const { status, progress = [] } = (await answer.json()) as { status: string; progress?: string[] };
  assert.is(status, 'ready');
  return progress.join('; ');
}

async function until(daemon: DaemonProcess, isSo: (progress: string) => boolean): Promise<string> {
  let progress = '';
  const isNow = async () => {
    progress = await progressOf(daemon);
    return isSo(progress);
  };
  await eventually(isNow, 'its progress is told', WITHIN);
  return progress;
}

const isPostponing = (progress: string) => progress.includes('postponing deadlines after a blind window');

async function postponed(dataDir: string): Promise<number[]> {
  const store = openIn(dataDir, { clock: Date.now });
  try {
    const all = await Promise.all(tokens.map((token) => store.listPostponements(caseId, token, 10)));
    for (const windows of all) {
      assert.is(new Set(windows.map(({ start }) => start)).size, windows.length, 'twice for one window');
      for (const { end, dueAt } of windows) assert.ok((dueAt ?? 0) - end <= 2 * INTERVAL, 'too far');
    }
    const alerts = await store.listAlerts(caseId, null, { limit: 1_000, before: null });
    const alarms = alerts.filter(({ alert }) => alert.type === 'snitch.missing');
    assert.equal(alarms, [], 'a job that could not be heard was accused');
    return all.map((windows) => windows.length);
  } finally {
    await store.close();
  }
}

const withStrace = unless(without('strace', '-V'), test);

withStrace(
  'takes check-ins while it postpones, says how far that is, and can be stopped',
  async ({ dataDir }) => {
    const notify = openNotifySocket(join(dataDir, 'notify'));
    const env = { NOTIFY_SOCKET: join(dataDir, 'notify'), WATCHDOG_USEC: '300000' };
    const daemon = await startProcess({ dataDir, env, wrapper: SLOW_DISK });
    try {
      const first = await until(daemon, isPostponing);
      assert.match(
        first,
        /: [\d,]+ of at most 6,000 snitches looked at, and no alarm is raised before that is done/,
      );
      const answers = await Promise.all(tokens.slice(-20).map((token) => fetch(`${daemon.url}/c/${token}`)));
      assert.ok(answers.every(({ status }) => status === 202));
      const isTold = (field: string) => /^STATUS=6000 snitches: .*; postponing deadlines/.test(field);
      await eventually(() => notify.fields.some(isTold), 'the service manager is told', WITHIN);
      assert.ok(isPostponing(await progressOf(daemon)), 'it was over too soon for this test');
      assert.is(await daemon.end(), 0);
    } finally {
      await daemon.end('SIGKILL');
      notify.close();
    }
    const before = await postponed(dataDir);
    assert.ok(before.includes(0) && before.includes(1), 'stopped in the middle');
    await using again = await startProcess({ dataDir });
    await finished(again);
    assert.is(await again.end(), 0);
    assert.ok((await postponed(dataDir)).slice(0, -20).every((windows) => windows >= 1));
  },
);

/** When it looks for what is due again, nothing is left to be postponed. */
async function finished(daemon: DaemonProcess): Promise<void> {
  await sleep(2_000);
  await until(daemon, (progress) => !isPostponing(progress));
}

withStrace(
  'goes on where it was after it was killed in the middle, and accuses nobody',
  async ({ dataDir }) => {
    const daemon = await startProcess({ dataDir, wrapper: SLOW_DISK });
    try {
      await until(daemon, isPostponing);
    } finally {
      process.kill(daemon.pid, 'SIGKILL');
      await daemon.end('SIGKILL');
    }
    await using again = await startProcess({ dataDir });
    try {
      await finished(again);
    } finally {
      assert.is(await again.end(), 0);
    }
    assert.ok((await postponed(dataDir)).every((windows) => windows >= 1));
  },
);

function damage(dataDir: string): void {
  const file = join(dataDir, 'snitch.db');
  const bytes = readFileSync(file);
  const start = Math.floor(bytes.length / 2 / 4096) * 4096;
  bytes.fill(0xa5, start, start + 3 * 4096);
  writeFileSync(file, bytes);
}

test('ends and says why when the check behind the start finds the database damaged, and then does not start again', async ({
  dataDir,
}) => {
  damage(dataDir);
  const notify = openNotifySocket(join(dataDir, 'notify'));
  const daemon = await startProcess({ dataDir, env: { NOTIFY_SOCKET: join(dataDir, 'notify') } });
  try {
    const [code] = await once(daemon.child, 'exit');
    assert.is(code, 1);
    const said = daemon.log.find((line) => line.startsWith('{"level":"fatal"')) ?? '{}';
    const { msg = '' } = JSON.parse(said) as { msg?: string };
    assert.match(
      msg,
      /^the database .* is damaged \(.*\): put a backup in its place with `snitch restore FILE`$/,
    );
    await notify.until(`STATUS=${msg}`);
    const refusal = String(await startProcess({ dataDir }).catch((error: Error) => error.message));
    assert.match(refusal, /ended with 1:[\s\S]*is damaged/);
    assert.not.match(refusal, 'listening');
  } finally {
    await daemon.end('SIGKILL');
    notify.close();
  }
});

/**
 * The process that checks for the daemon, or null where there is none. Until it runs its own program the daemon waits for
 * it: whoever stopped it before that would stop the daemon too.
 */
function checkerOf({ pid }: DaemonProcess): number | null {
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const parent = /^\d+ \(.*\) \S (\d+)/s.exec(readFileSync(`/proc/${name}/stat`, 'utf8'))?.[1];
      if (Number(parent) === pid && programOf(name) !== programOf(pid)) return Number(name);
    } catch {
      // It ended meanwhile.
    }
  }
  return null;
}

function programOf(pid: number | string): string {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
}

function socketsOf(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`)
    .map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`))
    .filter((file) => file.startsWith('socket:'));
}

/** One that has ended stays in the table of processes until somebody asks for its end. */
function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** A daemon whose checker was stopped in the middle. A check takes less than a second here, so that some are over before. */
async function startAndStopChecker(dataDir: string): Promise<{ daemon: DaemonProcess; checker: number }> {
  for (;;) {
    const daemon = await startProcess({ dataDir });
    let isStopped = false;
    try {
      const isOver = () => daemon.log.some((line) => line.includes('the database was checked'));
      for (let checker = checkerOf(daemon); !isOver(); checker = checkerOf(daemon)) {
        if (checker !== null) {
          process.kill(checker, 'SIGSTOP');
          isStopped = true;
          return { daemon, checker };
        }
        await sleep(1);
      }
    } finally {
      if (!isStopped) await daemon.end('SIGKILL');
    }
  }
}

test('leaves no checker behind that does harm when it is killed', async ({ dataDir }) => {
  const { daemon, checker } = await startAndStopChecker(dataDir);
  try {
    assert.match(await progressOf(daemon), 'checking the database in the background');
    const held = new Set(socketsOf(daemon.pid));
    assert.equal(
      socketsOf(checker).filter((socket) => held.has(socket)),
      [],
      'sockets of the daemon',
    );
    const [token = ''] = tokens;
    assert.is((await fetch(`${daemon.url}/c/${token}`)).status, 202);
    await daemon.end('SIGKILL');
    await using again = await startProcess({ dataDir });
    process.kill(checker, 'SIGCONT');
    while (isAlive(checker)) await sleep(10);
    await until(again, (progress) => !progress.includes('checking'));
    assert.ok(again.log.some((line) => line.includes('the database was checked, and is whole')));
    assert.is((await fetch(`${again.url}/c/${token}`)).status, 202);
    assert.is(await again.end(), 0);
  } finally {
    await daemon.end('SIGKILL');
    if (isAlive(checker)) process.kill(checker, 'SIGKILL');
  }
});

runUnless(WITHOUT_SQLITE, test, 'a daemon that starts on a large database');
