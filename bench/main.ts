/**
 * Measures the built program and writes the figures down next to the aims.
 *
 *   npm run bench [-- --case NAME[,NAME]… --rounds N --seconds N --beside COMMIT --fast]
 *   npm run bench -- --store postgres [--delay 0,2] …
 *
 * Without `--case`, all are measured, one after the other, and docs/measurements.md is rewritten after each. A named
 * case is only printed. `--store postgres` compares the program on PostgreSQL with the one on SQLite, in the same
 * rounds. `--delay` puts the server that many milliseconds away, each way. More options:
 *
 *   --snitches N    instead of a million           --connections N  of the load that is as fast as possible
 *   --history N     check-ins of each              --rate N         of the steady load, a second
 *   --data DIR      where the data is kept         --write FILE     where the table is written to
 *   --slow-disk MS  for the case slow-disk         --profile        shows where the daemon's processor time goes
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Case } from './cases/case.ts';
import { cases } from './cases/index.ts';
import { wrkVersion } from './load/wrk.ts';
import { type Contender, type Measured, type Measuring, measure } from './measure.ts';
import { type Options, readOptions } from './options.ts';
import { besideSqlite, canBeOnPostgres, together } from './postgres/comparison.ts';
import { contendersOnPostgres } from './postgres/contenders.ts';
import { BUNDLE, buildCommit, commitHere, nameOf } from './program/beside.ts';
import { documentOf, partOnPostgres, type Run, withPartOnPostgres } from './report/document.ts';
import { describeMachine } from './report/machine.ts';
import { COLUMNS, columnsBeside, type Outcome, plainTable, rowsOf } from './report/table.ts';
import { Workplace } from './workplace.ts';

const DOCUMENT = 'docs/measurements.md';

/** The exit status with which a shell reports that a program was interrupted. */
const INTERRUPTED = 130;

/** Nothing could be measured. */
const UNUSABLE = 2;

const inTable = cases.filter(({ onlyNamed }) => !onlyNamed);

/** @throws Error in words if there is no such case, or it cannot run on PostgreSQL */
function chosen({ cases: names, delays }: Options): readonly Case[] {
  const unknown = names.filter((name) => !cases.some((one) => one.name === name));
  if (unknown.length > 0) {
    const known = cases.map(({ name }) => name).join(', ');
    throw new Error(`there is no case ${unknown.join(' and no case ')}: there are ${known}`);
  }
  const named = names.length === 0 ? inTable : cases.filter(({ name }) => names.includes(name));
  if (delays === null) return named;
  const elsewhere = named.filter((one) => !canBeOnPostgres(one));
  if (names.length > 0 && elsewhere.length > 0)
    throw new Error(`the case ${elsewhere.map(({ name }) => name).join(', ')} is about SQLite`);
  return named.filter(canBeOnPostgres).map((one) => besideSqlite(one, delays));
}

function requireTools(): string {
  const wrk = wrkVersion();
  if (wrk === null) {
    throw new Error('wrk makes the load, and is not installed: apt-get install wrk (Debian, Ubuntu)');
  }
  if (!existsSync(BUNDLE)) throw new Error('the program is not built: npm run build');
  return wrk;
}

async function runAll(
  options: Options,
  workplace: Workplace,
  run: Run,
  measuring: Measuring,
): Promise<boolean> {
  const outcomes: Outcome[] = [];
  for (const one of chosen(options)) {
    const outcome = outcomeOf(one, await measure(one, measuring), options);
    // A case that was interrupted failed only because of that.
    if (workplace.isEnding) break;
    outcomes.push(outcome);
    print([outcome], run.beside, options);
    if (options.write) writeDocument(options.write, one, { ...run, outcomes }, options);
    await workplace.clear();
  }
  if (outcomes.length > 1) print(outcomes, run.beside, options);
  return outcomes.every(({ problem }) => problem === null);
}

/** On PostgreSQL, all contenders together are one outcome. The last contender is SQLite. */
function outcomeOf(one: Case, { figures, problem }: Measured, { delays }: Options): Outcome {
  if (delays === null) return { case: one, here: figures[0] ?? [], beside: figures[1] ?? [], problem };
  const onSqlite = figures.at(-1) ?? [];
  const here = onSqlite.map((figuresOf, round) =>
    together(
      delays,
      figures.slice(0, -1).map((rounds) => rounds[round] ?? {}),
      figuresOf,
    ),
  );
  return { case: one, here, beside: [], problem };
}

/** Measuring for one of the two tables leaves the other one as it is. */
function writeDocument(file: string, one: Case, run: Run, { sizes, delays }: Options): void {
  const before = existsSync(file) ? readFileSync(file, 'utf8') : documentOf(null, inTable, sizes);
  if (delays === null) {
    const known = inTable.includes(one) ? inTable : [...inTable, one];
    writeFileSync(file, documentOf(run, known, sizes, partOnPostgres(before)));
  } else writeFileSync(file, withPartOnPostgres(before, run, sizes));
}

function print(outcomes: readonly Outcome[], beside: string | null, { sizes }: Options): void {
  const rows = outcomes.flatMap((outcome) => rowsOf(outcome, sizes, beside !== null));
  const columns = [...COLUMNS, ...(beside === null ? [] : columnsBeside(beside))];
  console.log(`\n${plainTable(columns, rows)}\n`);
}

function contendersOf({ delays }: Options, workplace: Workplace, other: string | null) {
  if (delays !== null) return contendersOnPostgres(workplace, BUNDLE, delays);
  const usual = (bundle: string, name: string): Contender => ({
    name,
    bundle,
    place: null,
    databases: new Map(),
  });
  return [usual(BUNDLE, ''), ...(other === null ? [] : [usual(other, 'the commit beside')])];
}

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2), join(import.meta.dirname, '..', DOCUMENT));
  const wrk = requireTools();
  chosen(options);
  const beside = options.beside === null ? null : nameOf(options.beside);
  const workplace = new Workplace(options.data ?? tmpdir());
  const interrupted = new Promise<'interrupted'>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve('interrupted'));
  });
  const work = async () => {
    const other = beside === null ? null : buildCommit(workplace, beside);
    const machine = describeMachine(workplace.directory, wrk);
    const date = new Date().toISOString().slice(0, 10);
    const run: Run = { date, here: commitHere(DOCUMENT), beside, machine, outcomes: [] };
    const contenders = await contendersOf(options, workplace, other);
    return runAll(options, workplace, run, { options, workplace, contenders });
  };
  try {
    const outcome = await Promise.race([work(), interrupted]);
    return outcome === 'interrupted' ? INTERRUPTED : outcome ? 0 : 1;
  } finally {
    await workplace.end();
  }
}

process.exit(
  await main().catch((error: unknown) => {
    console.error(`bench: ${error instanceof Error ? error.message : String(error)}`);
    return UNUSABLE;
  }),
);
