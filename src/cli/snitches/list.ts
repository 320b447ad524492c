/** `snitch list`: the snitches there are, once or again and again. */
import { type Client, Unreachable } from '../../api/client.ts';
import type { WireSnitch, WireStatus } from '../../api/wire.ts';
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
import { Output, say } from '../output/output.ts';
import { SNITCH_VIEW, STATUSES } from '../output/snitch-view.ts';
import type { Column } from '../output/table.ts';

interface ListFlags extends ClientFlags {
  tag?: string[];
  status?: string[];
  watch?: string | true;
}

const WATCH_EVERY = '2s';

export const register: Register = (program) => {
  const list = program
    .command('list')
    .description('list the snitches, by name')
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
    .option('-w, --watch [every]', 'show it again whenever it changed, asking every 2s')
    .action((flags: ListFlags) => listSnitches(flags));
  addClientOptions(list);
  withExamples(
    list,
    'snitch list',
    'snitch list --status failed --tag production',
    'snitch list -q --status paused | xargs -r snitch unpause',
    'snitch list --watch',
  );
};

async function listSnitches(flags: ListFlags): Promise<void> {
  const wanted = statusesOf(flags.status ?? []);
  const client = connect(flags);
  const read = async () => selected(await client.listSnitches(flags.tag ?? []), wanted);
  if (flags.watch === undefined) {
    const output = new Output(flags);
    const snitches = await read();
    output.list(snitches, viewFor(flags.tag ?? [], wanted));
    return;
  }
  const every = parseDuration(flags.watch === true ? WATCH_EVERY : flags.watch, '--watch');
  await watch(read, flags, every, viewFor(flags.tag ?? [], wanted));
}

/** Somebody who asked for certain snitches and gets none may still have others. */
function viewFor(tags: readonly string[], statuses: readonly WireStatus[]): typeof SNITCH_VIEW {
  const asked = [
    tags.length > 0 ? `has the tag ${tags.map((tag) => `"${tag}"`).join(' and ')}` : '',
    statuses.length > 0 ? `is ${statuses.join(' or ')}` : '',
  ].filter((part) => part !== '');
  const columns = SNITCH_VIEW.columns.map(sortedByName);
  if (asked.length === 0) return { ...SNITCH_VIEW, columns };
  return {
    ...SNITCH_VIEW,
    columns,
    empty: `no snitch ${asked.join(' and ')}: \`snitch list\` shows all there are`,
  };
}

function sortedByName(column: Column<WireSnitch>): Column<WireSnitch> {
  return column.header === 'NAME' ? { ...column, ascending: true } : column;
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

function selected(all: readonly WireSnitch[], wanted: readonly WireStatus[]): WireSnitch[] {
  const chosen = wanted.length === 0 ? [...all] : all.filter(({ status }) => wanted.includes(status));
  return chosen.sort(
    (one, other) => compareNames(one.name, other.name) || compareNames(one.token, other.token),
  );
}

/** Numbers in names count as numbers. `Intl.Collator` would take a quarter of the command's time for the same. */
function compareNames(one: string, other: string): number {
  const [ours, theirs] = [partsOf(one), partsOf(other)];
  for (const [index, part] of ours.entries()) {
    const counterpart = theirs[index];
    if (counterpart === undefined) return 1;
    const difference = /^\d/.test(part) && /^\d/.test(counterpart) ? Number(part) - Number(counterpart) : 0;
    if (difference !== 0) return difference;
    if (part !== counterpart) return part < counterpart ? -1 : 1;
  }
  return ours.length - theirs.length;
}

function partsOf(name: string): string[] {
  return name.toLowerCase().match(/\d+|\D+/g) ?? [];
}

const CLEAR_SCREEN = '\u001b[H\u001b[2J\u001b[3J';

/** Goes on until the process is ended. If the server goes away in between, it is waited for. */
async function watch(
  read: () => ReturnType<Client['listSnitches']>,
  flags: ListFlags,
  every: number,
  view: typeof SNITCH_VIEW,
): Promise<never> {
  let shown = '';
  for (;;) {
    const output = new Output(flags);
    try {
      const snitches = await read();
      const state = JSON.stringify(snitches);
      // On a terminal the relative times advance even if nothing else changed.
      if (state !== shown || output.style.terminal) {
        if (output.style.terminal) process.stdout.write(CLEAR_SCREEN);
        output.list(snitches, view);
      }
      shown = state;
    } catch (error) {
      if (!(error instanceof Unreachable) || shown === '') throw error;
      say(`${error.message}; trying again`);
    }
    await new Promise((resolve) => setTimeout(resolve, every));
  }
}
