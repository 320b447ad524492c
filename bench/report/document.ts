/** docs/measurements.md: the table of the last run, and what it was measured on. Pure. */
import { type Case, counted, type Sizes } from '../cases/case.ts';
import { FAILOVER } from './failover.ts';
import type { Machine } from './machine.ts';
import { COLUMNS, columnsBeside, formatted, markdownTable, type Outcome, rowsOf } from './table.ts';

export interface Run {
  /** Such as `2026-11-21`. */
  date: string;
  /** The commit in the work tree, or null if that is not known. */
  here: { commit: string; changed: boolean } | null;
  /** The commit that was measured beside it; null if none was named. */
  beside: string | null;
  machine: Machine;
  outcomes: readonly Outcome[];
}

/** @param cases all that belong in the table; those without an outcome are shown with only their aims */
export function documentOf(
  run: Run | null,
  cases: readonly Case[],
  sizes: Sizes,
  onPostgres = partOf(null, sizes),
): string {
  const columns = [...COLUMNS, ...(run?.beside ? columnsBeside(run.beside) : [])];
  const rows = cases.flatMap((one) => {
    const measured = run?.outcomes.find((outcome) => outcome.case.name === one.name);
    const outcome = measured ?? { case: one, here: [], beside: [], problem: null };
    return rowsOf(outcome, sizes, run?.beside != null);
  });
  return `${HEAD}\n${run ? describe(run) : NOTHING_YET}\n\n${markdownTable(columns, rows)}\n\n${ON_POSTGRES}\n\n${onPostgres}\n${how(sizes)}\n${FAILOVER}`;
}

const ON_POSTGRES = '## On PostgreSQL';

/** The start and end of the text between the heading of this part and the explanation; null if there is none. */
function between(document: string): [number, number] | null {
  const [from, to] = [document.indexOf(ON_POSTGRES), document.indexOf(EXPLAINED)];
  return from < 0 || to < from ? null : [from + ON_POSTGRES.length + 2, to - 1];
}

/** The part about PostgreSQL of an earlier document, which is kept; undefined if it has none. */
export function partOnPostgres(document: string): string | undefined {
  const place = between(document);
  return place ? document.slice(...place) : undefined;
}

/** The same document with the results of a run on PostgreSQL. */
export function withPartOnPostgres(document: string, run: Run, sizes: Sizes): string {
  const [from, to] = between(document) ?? [document.length, document.length];
  return `${document.slice(0, from)}${partOf(run, sizes)}${document.slice(to)}`;
}

function partOf(run: Run | null, sizes: Sizes): string {
  if (run === null) return 'Not measured yet.\n';
  const rows = run.outcomes.flatMap((outcome) => rowsOf(outcome, sizes, false));
  return `${describe(run)}\nSQLite is measured in the same rounds, and each ratio is to it.\n\n${markdownTable(COLUMNS, rows)}\n`;
}

const EXPLAINED = 'A cell with –';

const HEAD = `# How fast is it, and how much does it need at a million snitches?

The tables below say what the last run measured, and which aims it met. \`npm run bench\` writes this page.

- [The last run](#the-last-run)
- [On PostgreSQL](#on-postgresql)
- [How it is measured](#how-it-is-measured)
- [What a failover costs](#what-a-failover-costs)

## The last run
`;

const NOTHING_YET = 'No run on a quiet machine has been written down yet: the table has the aims alone.';

function describe({ date, here, beside, machine, outcomes }: Run): string {
  const commit = here ? `commit ${here.commit}${here.changed ? ' with changes' : ''}` : 'an unknown commit';
  const problems = outcomes.flatMap(({ case: { name }, problem }) =>
    problem === null ? [] : [`\`${name}\` did not come to its end.`],
  );
  const { cores, processor, memory, kernel, fileSystem, sync, node, wrk } = machine;
  return [
    `${date}, ${commit}${beside ? ` beside ${beside}` : ''}. ${cores} cores (${processor}), ${(memory / 1e9).toFixed(0)} GB of memory, ${kernel}, the data on ${fileSystem},`,
    `a quiet \`fdatasync\` of ${formatted(sync, 'ms')}, Node ${node}, ${wrk}.`,
    ...problems,
  ].join('\n');
}

function how({ million, history, connections, rate }: Sizes): string {
  return `${EXPLAINED} was not measured. An aim is for a quiet machine.

## How it is measured

The figures are medians of alternating rounds, with the smallest and the largest round, and ratios of these medians. The load comes
from \`wrk\`, because a load generator as slow as the server would flatter it. Server and load share the machine.

- ${counted(million)} daily snitches of one case with ${history} check-ins each. All check in between 00:00 and 06:00.
- Check-ins come as fast as they are answered, over ${connections} connections. A bare \`node:http\` server with the same
  answer is measured with the same load. First check-ins of their periods use each token once, in random order.
- During a storm and at midnight, check-ins come at a steady ${rate} a second. If one could not be sent in time, because the
  answer before it was late, its time counts from when it should have been sent. Idle is the same load before that.
- In a storm each alert goes to two webhooks and two recipients.
- Midnight is the worst case: the sweep may have to look at every snitch, and the daemon was started just before.
- Before the measured start the daemon was killed under load. It was away while two thirds of the jobs should have checked in.
- The list is read over HTTP while a GET of one snitch is sent every 5 ms.
- For PostgreSQL, the same program is measured with a PostgreSQL server on the same machine, and with SQLite, in turn. To put the server
  some milliseconds away, a process in between delays everything by that much, each way. Processor time is that of the daemon, and that
  of all processes of the server; other work on the machine affects it least.
- 64 connections that each wait for their answer make at most 64 check-ins in the time that one takes. With the server 2 ms away, each
  way, a check-in written without a read first takes 4 ms, and the first one of its period, which must be read, takes 8 ms. That
  allows no more than 16,000 and 8,000 a second, however fast everything else is.

\`npm run bench -- --case hot --rounds 5 --seconds 5\` measures one case and does not change this page. \`npm run bench -- --beside COMMIT\`
measures an earlier commit in turn with this one, and \`npm run bench -- --fast\` only shows that everything works. The full run takes
about twelve minutes. \`npm run bench -- --store postgres\` writes only the part on PostgreSQL. Debian has packages for what it needs,
\`wrk\` and \`postgresql\`. \`bench/main.ts\` names its other options.
`;
}
