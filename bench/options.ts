/** What is measured, and how much of it. */
import { parseArgs } from 'node:util';
import type { Sizes } from './cases/case.ts';

export const FULL: Sizes = {
  million: 1_000_000,
  tenThousand: 10_000,
  thousand: 1_000,
  storms: [5_000, 10_000],
  history: 10,
  connections: 64,
  requests: 1_000_000_000,
  rounds: 0,
  rate: 200,
  seconds: 5,
  quiet: 15,
  slowDisk: 5,
};

/** Enough to see that everything works. */
const FAST: Sizes = {
  ...FULL,
  // The sum of the other two, so that cases that need this many and cases that need both share a database.
  million: 350,
  tenThousand: 200,
  thousand: 150,
  storms: [100],
  history: 3,
  connections: 8,
  requests: 300,
  rate: 50,
  rounds: 1,
  seconds: 1,
  quiet: 1,
};

export interface Options {
  /** Names of cases; if it is empty, all cases except those that are measured only if they are named. */
  cases: readonly string[];
  /** Rounds of each case, or null for as many as each wants. */
  rounds: number | null;
  sizes: Sizes;
  beside: string | null;
  /** Milliseconds to PostgreSQL, each way, if that is measured beside SQLite; otherwise null. */
  delays: readonly number[] | null;
  /** Where the data is kept; null for the system's directory for temporary files. */
  data: string | null;
  /** The file that the table is written to, or null for none. */
  write: string | null;
  profile: boolean;
}

const NUMBERS = {
  seconds: 'seconds',
  connections: 'connections',
  snitches: 'million',
  history: 'history',
  rate: 'rate',
  'slow-disk': 'slowDisk',
} as const;

/** @throws Error in words for what cannot be understood */
export function readOptions(args: readonly string[], document: string): Options {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      case: { type: 'string', multiple: true },
      fast: { type: 'boolean', default: false },
      profile: { type: 'boolean', default: false },
      beside: text,
      store: text,
      delay: text,
      data: text,
      write: text,
      rounds: text,
      seconds: text,
      connections: text,
      snitches: text,
      history: text,
      rate: text,
      'slow-disk': text,
    },
  });
  const named = Object.entries(NUMBERS).flatMap(([option, size]) => {
    const given = values[option as keyof typeof NUMBERS];
    return given === undefined ? [] : [[size, wholeNumber(option, given)]];
  });
  const cases = (values.case ?? []).flatMap((names) => names.split(','));
  const isWhole = cases.length === 0 && !values.fast;
  const delays = delaysOf(values);
  const rounds = values.rounds === undefined ? null : wholeNumber('rounds', values.rounds);
  return {
    cases,
    rounds: rounds ?? (values.fast ? FAST.rounds : null),
    sizes: { ...(values.fast ? FAST : FULL), ...Object.fromEntries(named) },
    beside: values.beside ?? null,
    delays,
    data: values.data ?? null,
    write: values.write ?? (isWhole ? document : null),
    profile: values.profile,
  };
}

const DELAYS = '0,2';

function delaysOf({ store, delay, beside }: { store?: string; delay?: string; beside?: string }) {
  if (store === undefined || store === 'sqlite') {
    if (delay !== undefined) throw new Error('--delay is of the way to PostgreSQL: add --store postgres');
    return null;
  }
  if (store !== 'postgres') throw new Error(`--store takes postgres or sqlite, and not ${store}`);
  if (beside !== undefined)
    throw new Error('--store postgres is measured beside SQLite, and not beside a commit');
  return [...new Set((delay ?? DELAYS).split(','))].map((given) => {
    if (/^\d{1,3}$/.test(given)) return Number(given);
    throw new Error(`--delay takes milliseconds, as 0 or 0,2, and not ${given}`);
  });
}

function wholeNumber(option: string, given: string): number {
  if (/^[1-9]\d{0,8}$/.test(given)) return Number(given);
  throw new Error(`--${option} takes a whole number from 1 on, and not ${given}`);
}
