/** A case on PostgreSQL, at each distance to the database, beside the same case on SQLite in the same rounds. Pure. */
import type { Case, Figures, Line, Sizes } from '../cases/case.ts';

/** The aims for the ratio to SQLite. Cases that are not listed here are about files, or about no store at all. */
const AIMS: Readonly<Record<string, Readonly<Record<string, { least: number }>>>> = {
  hot: { rate: { least: 0.5 }, moreRate: { least: 0.5 } },
  'first-of-period': { rate: { least: 0.9 } },
  sweep: {},
  midnight: {},
  storm: {},
};

const SQLITE = 'SQLite';

/** Cases with as much load as possible also report what one check-in costs: a busy machine affects that the least. */
const COSTS: readonly Line[] = [
  { what: 'Processor time of the daemon for each', figure: 'daemonCost', unit: 'µs' },
  { what: 'Processor time of PostgreSQL for each', figure: 'databaseCost', unit: 'µs' },
];

export function canBeOnPostgres({ name }: Case): boolean {
  return name in AIMS;
}

/** @param delays milliseconds to the database, each way */
export function besideSqlite(one: Case, delays: readonly number[]): Case {
  const lines = (sizes: Sizes) => {
    const own = one.lines(sizes);
    const hasCosts = own.some(({ unit }) => unit === 'a second');
    const all = [...own, ...(hasCosts ? COSTS : [])];
    return delays.flatMap((delay) => all.map((line) => compared(one, line, delay)));
  };
  return { ...one, lines };
}

function compared({ name }: Case, { what, figure, unit }: Line, delay: number): Line {
  const least = AIMS[name]?.[figure]?.least;
  return {
    what: `${what}, ${delay} ms away`,
    figure: named(delay, figure),
    unit,
    // SQLite has no process of its own to be compared with.
    ...(figure === 'databaseCost' ? {} : { beside: { figure: named(SQLITE, figure), name: SQLITE } }),
    ...(least === undefined ? {} : { aim: { of: 'ratio', least } }),
  };
}

/** All figures in one: those of PostgreSQL at each distance, and those of SQLite. */
export function together(
  delays: readonly number[],
  onPostgres: readonly Figures[],
  onSqlite: Figures,
): Figures {
  const renamed = (owner: number | string, figures: Figures) =>
    Object.entries(figures).map(([figure, value]) => [named(owner, figure), value]);
  const all = delays.flatMap((delay, index) => renamed(delay, onPostgres[index] ?? {}));
  return Object.fromEntries([...all, ...renamed(SQLITE, onSqlite)]);
}

function named(owner: number | string, figure: string): string {
  return `${owner} ${figure}`;
}
