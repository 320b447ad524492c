/** `snitch silence` and `silences`: planned times without alarms. */
import type { Command } from 'commander';
import type { Client, SilenceInput } from '../../api/client.ts';
import type { WireSilence } from '../../api/wire-kept-back.ts';
import { durationOf } from '../../text/durations.ts';
import { understandEnd } from '../../text/until.ts';
import {
  addClientOptions,
  type ClientFlags,
  collect,
  type Register,
  withCrontab,
  withExamples,
} from '../command/command.ts';
import { connect } from '../command/connection.ts';
import { resolveSnitches } from '../command/resolve.ts';
import { NotFoundError, UsageError } from '../failure/failure.ts';
import { Output, say } from '../output/output.ts';
import { coverageWords, namesOf, SILENCE_VIEW, silenceFields, silencesView } from '../output/silence-view.ts';
import { secondsOf } from './due-flags.ts';
import { tellUnheard } from './unheard.ts';

export const register: Register = (program) => {
  const silence = program
    .command('silence')
    .description('raise no alarms during planned work: the jobs it covers are not expected to run')
    .argument('[what...]', 'tokens or names, then how long, such as 30m; with --end also ids of silences')
    .option('-t, --tag <tag>', 'the snitches with this tag; repeat it for several', collect)
    .option('-a, --all', 'all snitches')
    .option('--from <when>', 'when it begins: 14:30, tomorrow, monday or a time (default: now)')
    .option('-u, --until <when>', 'when it ends, in the same forms')
    .option('--to <when>', 'the same as --until')
    .option('--for <duration>', 'how long it lasts, such as 30m; with a schedule, each time')
    .option('--cron <expression>', 'a recurring one: when it begins, five fields')
    .option('--calendar <expression>', 'the same in the form of OnCalendar= in systemd')
    .option('--timezone <zone>', 'of the schedule (default: that of the case)')
    .option('-m, --note <text>', 'why')
    .option('--end', 'end silences now: by their ids, or those of the given tags or snitches')
    .action((what: string[], flags: SilenceFlags) =>
      flags.end ? endSilences(what, flags) : makeSilence(what, flags),
    );
  withExamples(
    addClientOptions(silence),
    'snitch silence --tag web1 30m -m "kernel"',
    'snitch silence --end --tag web1',
    'snitch silence nightly-backup --from 22:00 --until 04:00',
    "snitch silence --all --cron '0 3 * * 0' --for 2h",
  );
  withCrontab(silence, (snitch) => [`50 2 * * 0 ${snitch} silence -q --tag web1 45m -m update`]);
  addList(program);
};

function addList(program: Command): void {
  const silences = program
    .command('silences')
    .description('list silences: those that hold now, those to come, and recurring ones')
    .action((flags: ClientFlags) => listSilences(flags));
  withExamples(addClientOptions(silences), 'snitch silences', 'snitch silences --json');
}

interface SilenceFlags extends ClientFlags {
  tag?: string[];
  all?: boolean;
  from?: string;
  until?: string;
  to?: string;
  for?: string;
  cron?: string;
  calendar?: string;
  timezone?: string;
  note?: string;
  end?: boolean;
}

async function makeSilence(what: readonly string[], flags: SilenceFlags): Promise<void> {
  const { names, length } = namesAndLength(what, flags);
  refuseMistakenLength(names, flags);
  const covered = onlyOne(names, flags);
  const time = timeOf(flags, length);
  const client = connect(flags);
  const note = flags.note === undefined ? {} : { note: flags.note };
  const made = await client.createSilence({ ...(await coverageOf(client, covered)), ...time, ...note });
  const output = new Output(flags, client.now());
  for (const tag of made.unknown_tags ?? []) {
    if (!output.quiet)
      say(`no snitch has the tag "${tag}" now: the silence covers snitches that get it in the meantime`);
  }
  output.record(made, silenceFields(made, await namesOf(client, [made]), output.style), SILENCE_VIEW);
  if (!output.quiet) await tellUnheard(client, made);
  output.hint(`end it early: snitch silence --end ${made.id}`);
}

/** The last word is the length, if no option says when it ends. */
function namesAndLength(
  what: readonly string[],
  flags: SilenceFlags,
): { names: readonly string[]; length: string | undefined } {
  const ends = [flags.until, flags.to, flags.for].filter((end) => end !== undefined);
  if (ends.length > 1) throw new UsageError('say when it ends with only one of --until, --to and --for');
  const last = what.at(-1);
  if (ends.length > 0 || last === undefined || durationOf(last) === null) {
    return { names: what, length: flags.for };
  }
  return { names: what.slice(0, -1), length: last };
}

/** Refuses a length in a place where it would count as the name of a snitch. @throws UsageError */
function refuseMistakenLength(names: readonly string[], flags: SilenceFlags): void {
  const number = names.find((name) => /^\d+$/.test(name));
  const isOnly = names.length === 1 && !flags.tag && !flags.all;
  if (number !== undefined && !isOnly) {
    throw new UsageError(`"${number}" has no unit: write ${number}m for minutes, or ${number}h for hours`);
  }
  const length = names.find((name) => durationOf(name) !== null);
  if (length === undefined) return;
  const hasEnd = (flags.until ?? flags.to ?? flags.for) !== undefined;
  if (hasEnd) throw new UsageError(`say when it ends with ${length} or with an option, not both`);
  throw new UsageError(`say how long it lasts after the names: snitch silence NAME ${length}`);
}

interface Covered {
  names: readonly string[];
  tags: readonly string[];
  all: boolean;
}

/** @throws UsageError unless exactly one says what is covered */
function onlyOne(names: readonly string[], { tag: tags = [], all = false }: SilenceFlags): Covered {
  const count = [names.length > 0, tags.length > 0, all].filter((isGiven) => isGiven).length;
  if (count === 0) throw new UsageError('say which snitches: their names, --tag or --all');
  if (count > 1) throw new UsageError('use only one of names, --tag and --all: create a silence for each');
  return { names, tags, all };
}

async function coverageOf(client: Client, { names, tags, all }: Covered): Promise<Coverage> {
  if (all) return { all: true };
  if (tags.length > 0) return { tags };
  return { tokens: (await resolveSnitches(client, names)).map(({ token }) => token) };
}

type Time = Pick<SilenceInput, 'from' | 'to' | 'duration' | 'schedule' | 'timezone'>;

/** A length is sent as one: the clock of this host may differ from that of the server. */
function timeOf(flags: SilenceFlags, length: string | undefined): Time {
  const { cron, calendar, timezone, from } = flags;
  const until = flags.until ?? flags.to;
  const duration =
    length === undefined ? {} : { duration: secondsOf(length, flags.for ? '--for' : 'how long') };
  if (cron !== undefined && calendar !== undefined)
    throw new UsageError('use only one of --cron and --calendar');
  if (cron !== undefined || calendar !== undefined) {
    if (from !== undefined || until !== undefined) {
      throw new UsageError(
        'a recurring silence has no --from and no --until: its schedule says when it begins',
      );
    }
    if (length === undefined) throw new UsageError('say how long it lasts each time, such as --for 2h');
    const schedule = cron === undefined ? { calendar: calendar ?? '' } : { cron };
    return { schedule, ...duration, ...(timezone === undefined ? {} : { timezone }) };
  }
  if (timezone !== undefined) throw new UsageError('--timezone is only for --cron and --calendar');
  if (until === undefined && length === undefined) {
    throw new UsageError('say for how long, such as 30m, or --until 14:30: every silence needs an end');
  }
  const beginning = from === undefined ? null : instantOf(from, '--from', Date.now());
  // A time of day means the next one after the beginning.
  const after = beginning === null ? Date.now() : Date.parse(beginning);
  return {
    ...(beginning === null ? {} : { from: beginning }),
    ...(until === undefined
      ? {}
      : { to: instantOf(until, flags.until === undefined ? '--to' : '--until', after) }),
    ...duration,
  };
}

/** As the API takes it. */
function instantOf(text: string, option: string, now: number): string {
  const understood = understandEnd(text, now);
  if ('problem' in understood) throw new UsageError(`${option}: ${understood.problem}`);
  return understood.until;
}

async function listSilences(flags: ClientFlags): Promise<void> {
  const client = connect(flags);
  const silences = await client.listSilences();
  const output = new Output(flags, client.now());
  output.list(silences, silencesView(await namesOf(client, silences)));
}

type Coverage = Pick<SilenceInput, 'tags' | 'tokens' | 'all'>;

/** The most other silences to mention. */
const MOST_TOLD = 5;

const ID = /^sil_[a-z2-7]{16}$/;

/**
 * By id, any silence can be ended. By name, only one-off silences that were made for exactly these snitches: a script
 * that ends its own must not end a recurring one. A silence that has run out meanwhile is not an error.
 */
async function endSilences(what: readonly string[], flags: SilenceFlags): Promise<void> {
  const client = connect(flags);
  const output = new Output(flags, client.now());
  const ids = what.filter((word) => ID.test(word));
  const names = what.filter((word) => !ID.test(word));
  for (const id of ids) {
    await client.deleteSilence(id).catch((error: { status?: number }) => {
      if (error.status !== 404) throw error;
      throw new NotFoundError(
        `no silence has the id "${id}"\n\`snitch silences\` lists those that are not over`,
      );
    });
    output.done(`${id}: ended`);
  }
  if (ids.length > 0 && names.length === 0 && !flags.tag && !flags.all) return;
  const covered = await coverageOf(client, onlyOne(names, flags));
  const meant = (await client.listSilences()).filter((one) => isFor(one, covered));
  const [ended, recurring] = [
    meant.filter(({ schedule }) => schedule === null),
    meant.filter(({ schedule }) => schedule !== null),
  ];
  const known = await namesOf(client, ended);
  for (const one of ended) {
    await client.deleteSilence(one.id);
    output.done(`${one.id}: ended (${coverageWords(one, known)})`);
  }
  if (ended.length > 0) return;
  if (recurring.length === 0) return tellOthers(client, output, covered);
  const which = recurring.map(({ id }) => id).join(' ');
  output.done(`nothing was ended: a recurring silence is ended by its id: snitch silence --end ${which}`);
}

/** Mentions other silences that cover a part of it: whoever ends a silence wants to know what is still silenced. */
async function tellOthers(client: Client, output: Output, covered: Coverage): Promise<void> {
  const others = (await client.listSilences()).filter((one) => covers(one, covered)).slice(0, MOST_TOLD);
  if (others.length === 0) return output.done('there is no such silence, now or later');
  output.done(
    'nothing was ended: no silence is for exactly these, and the following cover only some of them or more than them',
  );
  const known = await namesOf(client, others);
  for (const one of others) {
    const state = one.active ? 'holds' : 'is to come';
    output.done(`${one.id} (${coverageWords(one, known)}) ${state}: snitch silence --end ${one.id}`);
  }
}

function covers(one: WireSilence, { tags, tokens, all }: Coverage): boolean {
  if (all || one.all) return true;
  return (
    (tags?.some((tag) => one.tags?.includes(tag)) ?? false) ||
    (tokens?.some((token) => one.tokens?.includes(token)) ?? false)
  );
}

function isFor(one: WireSilence, { tags, tokens, all }: Coverage): boolean {
  if (all) return one.all;
  return tags ? isSame(one.tags, tags) : isSame(one.tokens, tokens ?? []);
}

function isSame(one: readonly string[] | null, other: readonly string[]): boolean {
  if (one === null) return false;
  return new Set(one).symmetricDifference(new Set(other)).size === 0;
}
