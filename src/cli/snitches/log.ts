/** `snitch log`: who changed what. */
import type { Client } from '../../api/client.ts';
import type { WireLogEntry } from '../../api/log.ts';
import { didInWords } from '../../core/activity/words.ts';
import { durationOf } from '../../text/durations.ts';
import { printable } from '../../text/printable.ts';
import { terminalTime } from '../../text/times.ts';
import { isDay } from '../../text/until.ts';
import { displayWidth, pad, wrapWords } from '../../text/width.ts';
import { addClientOptions, type ClientFlags, type Register, withExamples } from '../command/command.ts';
import { connect } from '../command/connection.ts';
import { resolveSnitch } from '../command/resolve.ts';
import { NotFoundError, UsageError } from '../failure/failure.ts';
import { limitOf } from '../output/count.ts';
import { Output, say } from '../output/output.ts';
import { paint, type Style } from '../output/style.ts';

interface LogFlags extends ClientFlags {
  limit?: string;
  since?: string;
  action?: string;
  admin?: boolean;
}

export const register: Register = (program) => {
  const log = program
    .command('log')
    .description('who changed what, newest last; kept for 90 days')
    .argument('[snitch]', 'only what was done to this snitch, even if it is deleted by now')
    .option('-n, --limit <count>', 'at most this many of the newest (default: 20, and with --since 1000)')
    .option('--since <time>', 'only since then: 2d, 12h, or an ISO 8601 time')
    .option('--action <action>', 'only this kind, such as snitch.paused')
    .option('--admin', 'what was done to the server and its cases, with the admin key')
    .action((name: string | undefined, flags: LogFlags) => showLog(name, flags));
  withExamples(
    addClientOptions(log),
    'snitch log',
    'snitch log nightly-backup',
    'snitch log --since 2d --action snitch.paused',
  );
};

/** The largest page that the API returns. */
const PAGE = 1_000;

interface Wanted {
  limit: number;
  /** Milliseconds since the epoch. */
  since: number;
  action?: string;
}

async function showLog(name: string | undefined, flags: LogFlags): Promise<void> {
  const { limit, since, action, admin = false } = flags;
  if (admin && name !== undefined) throw new UsageError('--admin: snitches are in the log of their case');
  const now = Date.now();
  const wanted: Wanted = {
    limit: limitOf(limit ?? (since === undefined ? '20' : String(PAGE))),
    since: since === undefined ? Number.NEGATIVE_INFINITY : sinceOf(since, now),
    ...(action === undefined ? {} : { action }),
  };
  const client = admin ? connect(flags, 'admin') : connect(flags);
  const entries = name === undefined ? await read(client, {}, wanted) : await readOf(client, name, wanted);
  const output = new Output(flags, client.now());
  if (output.format === 'json') return output.json(entries);
  if (output.quiet || output.format === 'name') return output.lines(entries.map(({ id }) => printable(id)));
  if (entries.length === 0)
    return say(since === undefined ? 'nobody changed anything' : `nobody changed anything since ${since}`);
  output.lines(linesOf(entries.toReversed(), output.style));
  if (entries.length === wanted.limit) output.hint(`there may be more: --limit ${PAGE}`);
}

/** @throws UsageError for anything that is not a time */
function sinceOf(text: string, now: number): number {
  const length = durationOf(text);
  if (length !== null && length > 0) return now - length;
  const at = /^\d{4}-\d\d-\d\d/.test(text) && isDay(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(at)) return at;
  throw new UsageError(`--since: "${text}" is no time: write 2d, 12h, 30m, or 2026-03-14T08:00:00Z`);
}

/** Newest first. @param keep which entries count */
async function read(
  client: Client,
  filter: { token?: string },
  { limit, since, action }: Wanted,
  keep: (entry: WireLogEntry) => boolean = () => true,
): Promise<WireLogEntry[]> {
  const entries: WireLogEntry[] = [];
  for (let before: string | undefined; ; ) {
    const page = await client.listLog({
      ...filter,
      ...(action === undefined ? {} : { action }),
      ...(before === undefined ? {} : { before }),
      limit: PAGE,
    });
    const recent = page.filter(({ at }) => Date.parse(at) >= since);
    entries.push(...recent.filter(keep));
    before = page.at(-1)?.id;
    if (page.length < PAGE || recent.length === 0 || entries.length >= limit) return entries.slice(0, limit);
  }
}

/** The log of a snitch by its token, or by a name that it has or had. */
async function readOf(client: Client, given: string, wanted: Wanted): Promise<WireLogEntry[]> {
  try {
    const { token } = await resolveSnitch(client, given);
    return await read(client, { token }, wanted);
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    const isMeant = ({ subject }: WireLogEntry) => subject.id === given || subject.name === given;
    const everything = { ...wanted, limit: Number.POSITIVE_INFINITY, since: Number.NEGATIVE_INFINITY };
    const { action: _, ...always } = everything;
    const tokens = new Set((await read(client, {}, always, isMeant)).map(({ subject }) => subject.id));
    if (tokens.size === 0) throw error;
    return read(client, {}, wanted, ({ subject }) => subject.id !== null && tokens.has(subject.id));
  }
}

/** `03:12 ops-key paused nightly-backup until 06:00`; on a terminal in lines of its width. */
function linesOf(entries: readonly WireLogEntry[], style: Style): string[] {
  const time = (iso: string) => (style.terminal ? shortTime(iso, style.now) : printable(iso));
  const times = entries.map(({ at }) => time(at));
  const width = times.reduce((widest, text) => Math.max(widest, displayWidth(text)), 0) + 1;
  return entries.flatMap((entry, index) => {
    const words = printable(`${entry.by.name} ${didInWords(entry, time)}`);
    const [first = '', ...rest] = wrapped(words, style.width - width);
    const heading = `${paint(style, 'dim', pad(times[index] ?? '', width))}${first}`;
    return [heading, ...rest.map((line) => `${' '.repeat(width)}${line}`)];
  });
}

function wrapped(words: string, room: number): string[] {
  return Number.isFinite(room) ? wrapWords(words, room) : [words];
}

/** `03:12` today, otherwise `11-21 03:12`, with the year if it is not this one. In the time zone of this terminal. */
function shortTime(iso: string, now: number): string {
  const [text, today] = [terminalTime(iso), terminalTime(new Date(now).toISOString())];
  if (text.length < 16) return printable(text);
  const [date, minute] = [text.slice(0, 10), text.slice(11, 16)];
  if (date === today.slice(0, 10)) return minute;
  return `${date.slice(0, 4) === today.slice(0, 4) ? date.slice(5) : date} ${minute}`;
}
