/**
 * How long checkpoints hold up check-ins: with the copying in the background, and with all of it in the program's main
 * thread, in alternating rounds on one store. Every check-in is the first of its day, in random order, because that
 * changes the most pages.
 *
 *   node bench/checkpoint.ts [--rounds 6] [--snitches 50000] [--callers 64] [--directory DIR] [--slow-disk MS]
 *
 * `--directory` chooses the disk, and `--slow-disk` delays each sync of the store.
 */
import { fdatasync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openStore } from '../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../src/store/store.ts';
import { median, quantile } from './quantile.ts';

const { values: given } = parseArgs({
  options: {
    rounds: { type: 'string', default: '6' },
    snitches: { type: 'string', default: '50000' },
    callers: { type: 'string', default: '64' },
    directory: { type: 'string', default: tmpdir() },
    'slow-disk': { type: 'string', default: '0' },
  },
});
const count = Number(given.snitches);
const callers = Number(given.callers);
const delay = Number(given['slow-disk']);

const DAY = 86_400_000;
const NOTHING = { exitStatus: null, message: null, source: null, runId: null, output: null };
const FIELDS = {
  notes: '',
  tags: [],
  alertEmail: [],
  interval: 'daily' as const,
  alertType: 'basic' as const,
};
const MODES = ['itself', 'background'] as const;

type Mode = (typeof MODES)[number];

interface Round {
  'check-ins a second': number;
  p50: number;
  p99: number;
  'p99.9': number;
  /** How long checkpoints held writes. */
  'median hold': number;
  'longest hold': number;
  /** This includes the times when callers wait for the disk and nothing can be committed. */
  'longest without a commit': number;
  'megabytes more': number;
}

/** How long checkpoints held writes, and the times between two commits, in milliseconds. */
let holds: number[] = [];
let gaps: number[] = [];
let lastCommit = 0;

const MEASURING = { keyId: null, name: 'the measurement' };

function committed(): void {
  const now = performance.now();
  gaps.push(now - lastCommit);
  lastCommit = now;
}

function syncFile(fd: number, done: (error: Error | null) => void): void {
  fdatasync(fd, (error) => void setTimeout(done, delay, error));
}

function open(dataDir: string, mode: Mode, clock: () => number): Store {
  return openStore({
    dataDir,
    clock,
    onCommit: committed,
    onHeld: (duration) => void holds.push(duration),
    report: (message, details) => console.error(message, details),
    ...(delay > 0 ? { syncFile } : {}),
    ...(mode === 'itself' ? { backgroundFrom: Number.POSITIVE_INFINITY } : {}),
  });
}

async function prepare(store: Store, now: number): Promise<string[]> {
  const settings = { name: 'Operations', timezone: 'UTC', members: [], reminders: 'period' as const };
  const others = { errorNotices: true, maxSnitches: null, onHold: false };
  const { id } = await store.by(MEASURING, now).createCase({ ...settings, ...others }, now);
  const tokens: string[] = [];
  while (tokens.length < count) {
    const names = Array.from({ length: 1_000 }, (_, index) => `job ${tokens.length + index}`);
    const made = await Promise.all(
      names.map((name) => store.by(MEASURING, now).createSnitch(id, { ...FIELDS, name }, now)),
    );
    tokens.push(...made.map(({ token }) => token));
  }
  return tokens;
}

/** Each snitch checks in once. */
async function measure(store: Store, tokens: readonly string[], now: number): Promise<Round> {
  const waits: number[] = [];
  const queue = tokens.map((token) => ({ token, place: Math.random() })).sort((a, b) => a.place - b.place);
  const memory = process.memoryUsage.rss();
  const began = performance.now();
  [holds, gaps, lastCommit] = [[], [], began];
  const caller = async () => {
    for (let next = queue.pop(); next; next = queue.pop()) {
      const asked = performance.now();
      await store.applyCheckIn({ token: next.token, now, at: now, outcome: 'healthy', ...NOTHING });
      waits.push(performance.now() - asked);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return {
    'check-ins a second': (1_000 * tokens.length) / (performance.now() - began),
    p50: quantile(waits, 0.5),
    p99: quantile(waits, 0.99),
    'p99.9': quantile(waits, 0.999),
    'median hold': median(holds),
    'longest hold': quantile(holds, 1),
    'longest without a commit': quantile(gaps, 1),
    'megabytes more': (process.memoryUsage.rss() - memory) / 1e6,
  };
}

const dataDir = mkdtempSync(join(given.directory, 'snitch-bench-'));
try {
  let now = Date.UTC(2026, 0, 1, 3);
  const first = open(dataDir, 'itself', () => now);
  const tokens = await prepare(first, now);
  await first.close();
  const rounds: Record<Mode, Round[]> = { itself: [], background: [] };
  for (let round = 0; round < 2 * Number(given.rounds); round += 1) {
    const mode = MODES[round % 2] as Mode;
    now += DAY;
    const store = open(dataDir, mode, () => now);
    rounds[mode].push(await measure(store, tokens, now));
    await store.close();
  }
  const names = Object.keys(rounds.itself[0] ?? {}) as (keyof Round)[];
  const table = names.map((name) => {
    const [itself, background] = MODES.map((mode) => median(rounds[mode].map((one) => one[name])));
    const ratios = rounds.itself.map((one, index) => (rounds.background[index]?.[name] ?? 0) / one[name]);
    const cells = { itself: itself?.toFixed(1), background: background?.toFixed(1) };
    return { what: name, ...cells, ratio: median(ratios).toFixed(2) };
  });
  console.table(table);
} finally {
  rmSync(dataDir, { recursive: true });
}
