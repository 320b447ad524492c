/** `snitch list`: the snitches there are, once or again and again. */
import { Option } from 'commander';
import { ApiError, Unreachable } from '../../api/client.ts';
import type { WireSnitch, WireStatus } from '../../api/wire.ts';
import { delay } from '../../system/delay.ts';
import { didYouMean } from '../../text/similar.ts';
import {
  addClientOptions,
  type ClientFlags,
  collect,
  type Register,
  withExamples,
} from '../command/command.ts';
import { connect } from '../command/connection.ts';
import { parseDuration } from '../command/duration.ts';
import { UsageError } from '../failure/failure.ts';
import { type Column, Output, say, type View } from '../output/output.ts';
import { print, printed } from '../output/pieces.ts';
import { DUE, EXACTLY_DUE, SNITCH_VIEW, STATUSES } from '../output/snitch-view.ts';
import type { Style } from '../output/style.ts';
import { inOrder, SORT_KEYS, SORTED_COLUMN, type SortKey } from './list-order.ts';

interface ListFlags extends ClientFlags {
  tag?: string[];
  status?: string[];
  sort?: SortKey;
  watch?: string | true;
}

const WATCH_EVERY = '2s';

export const register: Register = (program) => {
  const list = program
    .command('list')
    .description('list the snitches: what is failing first, then what is due next')
    .option(
      '-t, --tag <tag>',
      'only those with this tag; repeat it for several, all of which must be there',
      collect,
    )
    .option(
      '-s, --status <status>',
      `only those that are ${STATUSES.join(', ')}; repeat it for several`,
      collect,
    )
    .addOption(
      new Option(
        '--sort <key>',
        'by due (the default), name (that of -q, json and name), or another',
      ).choices(SORT_KEYS),
    )
    .option('-w, --watch [every]', 'show it again whenever it changes, checking every 2s')
    .action((flags: ListFlags) => listSnitches(flags));
  addClientOptions(list);
  withExamples(
    list,
    'snitch list',
    'snitch list --status failed --tag production',
    'snitch list --sort name',
    'snitch list -q --status paused | xargs -r snitch unpause',
    'snitch list --watch',
  );
};

async function listSnitches(flags: ListFlags): Promise<void> {
  const wanted = statusesOf(flags.status ?? []);
  const { format, quiet } = new Output(flags);
  // Programs get what they always got: the order of the names.
  const sort = flags.sort ?? (quiet || format === 'json' || format === 'name' ? 'name' : 'due');
  const client = connect(flags);
  const keep = ({ status }: WireSnitch) => wanted.length === 0 || wanted.includes(status);
  const read = async () => inOrder(await client.listSnitches(flags.tag ?? [], undefined, { keep }), sort);
  const show = (snitches: readonly WireSnitch[]) => {
    const output = new Output(flags, client.now());
    output.list(snitches, viewFor(snitches, { tags: flags.tag ?? [], statuses: wanted, sort }, output.style));
    return printed();
  };
  if (flags.watch === undefined) return show(await read());
  const every = parseDuration(flags.watch === true ? WATCH_EVERY : flags.watch, '--watch');
  await watch(read, show, every);
}

interface Asked {
  tags: readonly string[];
  statuses: readonly WireStatus[];
  sort: SortKey;
}

function viewFor(snitches: readonly WireSnitch[], asked: Asked, style: Style): View<WireSnitch> {
  const columns = columnsFor(snitches, style).map((column) =>
    column.header === SORTED_COLUMN[asked.sort] ? { ...column, ascending: true } : column,
  );
  return { ...SNITCH_VIEW, columns, empty: emptyFor(asked) };
}

/**
 * People see at once when each is due. For programs this comes after the columns that they know already, and is the
 * exact time.
 */
function columnsFor(snitches: readonly WireSnitch[], { terminal }: Style): Column<WireSnitch>[] {
  const { columns } = SNITCH_VIEW;
  // An older server does not report deadlines.
  if (snitches.every(({ deadline }) => deadline === undefined)) return [...columns];
  if (!terminal) return [...columns, DUE];
  const place = columns.findIndex(({ header }) => header === 'STATUS') + 1;
  return columns.toSpliced(place, 0, DUE, EXACTLY_DUE);
}

/** Somebody who asked for certain snitches and gets none may still have others, so this says what was asked for. */
function emptyFor({ tags, statuses }: Asked): string {
  const asked = [
    tags.length > 0 ? `has the tag ${tags.map((tag) => `"${tag}"`).join(' and ')}` : '',
    statuses.length > 0 ? `is ${statuses.join(' or ')}` : '',
  ].filter((part) => part !== '');
  if (asked.length === 0) return SNITCH_VIEW.empty;
  return `no snitch ${asked.join(' and ')}: \`snitch list\` shows all there are`;
}

function statusesOf(given: readonly string[]): WireStatus[] {
  const words = given.flatMap((text) => text.split(',')).map((word) => word.trim().toLowerCase());
  for (const word of words) {
    if (!(STATUSES as readonly string[]).includes(word)) {
      throw new UsageError(
        `--status: "${word}" is none of ${STATUSES.join(', ')}.${didYouMean(word, STATUSES)}`,
      );
    }
  }
  return words as WireStatus[];
}

const CLEAR_SCREEN = '\u001b[H\u001b[2J\u001b[3J';

/** Goes on until the process is ended. If the server goes away in between, it is waited for. */
async function watch(
  read: () => Promise<readonly WireSnitch[]>,
  show: (snitches: readonly WireSnitch[]) => Promise<void>,
  every: number,
): Promise<never> {
  const isTerminal = process.stdout.isTTY === true;
  let shown = '';
  for (;;) {
    try {
      const snitches = await read();
      const state = JSON.stringify(snitches);
      // On a terminal the relative times advance even if nothing else changed.
      if (state !== shown || isTerminal) {
        if (isTerminal) print([CLEAR_SCREEN]);
        await show(snitches);
      }
      shown = state;
    } catch (error) {
      if (!isAway(error) || shown === '') throw error;
      say(`${error.message}; trying again`);
    }
    await delay(every);
  }
}

/** With which a proxy says that its server does not answer, or a server that it cannot work now. */
const UNAVAILABLE = [502, 503, 504];

function isAway(error: unknown): error is Error {
  return error instanceof Unreachable || (error instanceof ApiError && UNAVAILABLE.includes(error.status));
}
