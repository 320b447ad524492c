/** The log: one JSON object a line, or lines for people. Nothing secret and nothing unprintable gets into it. */
import { type Logger, pino, stdTimeFunctions } from 'pino';
import { prettyFactory } from 'pino-pretty';
import { printableJson } from '../text/printable.ts';
import { isJournal, type Level, withPriority } from './journal.ts';

export type { Logger } from 'pino';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;

export interface LogSettings {
  readonly level: (typeof LOG_LEVELS)[number];
  /** `json` for machines, `pretty` for people. */
  readonly format: 'json' | 'pretty';
}

/** Where lines go. A line is handed over whole and at once, so that the last one before an exit is not lost. */
export interface LogDestination {
  write(line: string): unknown;
  /** Whether it is the journal, which wants to be told the priority of each line. */
  isJournal?: boolean;
}

/** @param destination standard output when absent; only that is ever coloured */
export function createLogger(settings: LogSettings, destination?: LogDestination): Logger {
  const out = destination ?? standardOutput();
  const colorize = !destination && process.stdout.isTTY === true && !process.env.NO_COLOR;
  const show = settings.format === 'pretty' ? prettify(colorize) : (line: string) => line;
  return pino(
    {
      level: settings.level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (word) => ({ level: word }) },
    },
    {
      write: (line) => {
        const shown = show(printableJson(redact(shortened(line))));
        out.write(out.isJournal ? withPriority(shown, levelOf(line)) : shown);
      },
    },
  );
}

/** What cannot be written, because the disk of the log is full, is kept up to so many bytes, and then dropped. */
const MOST_UNWRITTEN = 256 * 1024;

/**
 * Writes at once, where `process.stdout` would keep lines for a pipe in memory and lose them at an exit. A log that
 * cannot be written is no reason to end: check-ins are stored and alerts sent without it.
 */
function standardOutput(): LogDestination {
  const stream = pino.destination({ dest: 1, sync: true, maxLength: MOST_UNWRITTEN });
  stream.on('error', () => {});
  return { write: (line) => stream.write(line), isJournal: isJournal(1, process.env) };
}

/** The level comes first in a line, and no field can come before it. */
function levelOf(line: string): Level {
  const word = /^\{"level":"(\w+)"/.exec(line)?.[1];
  return LOG_LEVELS.find((level) => level === word) ?? 'info';
}

/** In characters: what is longer is cut, because every line is looked through for secrets while all else waits. */
const LONGEST_LINE = 64 * 1024;
const LONGEST_TEXT = 4 * 1024;

/** A line of bounded length: texts are cut, and where that does not help, only the message stays. */
export function shortened(line: string): string {
  if (line.length <= LONGEST_LINE) return line;
  const fields = JSON.parse(line, (_, value: unknown) => (typeof value === 'string' ? cut(value) : value));
  const whole = JSON.stringify(fields);
  if (whole.length <= LONGEST_LINE) return `${whole}\n`;
  const { level, time, msg } = fields as { level: unknown; time: unknown; msg: unknown };
  return `${JSON.stringify({ level, time, msg, left_out: line.length })}\n`;
}

/** Half a token or half a key would not be known for one: what the cut goes through is left out. */
function cut(text: string): string {
  if (text.length <= LONGEST_TEXT) return text;
  let end = LONGEST_TEXT;
  while (end > 0 && /[\w+/=-]/.test(text[end - 1] ?? '')) end -= 1;
  return `${text.slice(0, end || LONGEST_TEXT / 2)}… (${text.length} characters)`.toWellFormed();
}

/** Names of fields whose value is a secret, whatever depth they are found at. */
const SECRET_FIELD =
  '[\\w-]{0,40}(?:password|passwd|passphrase|secret|authorization|api_?-?key|admin_?key)|pass|key|auth|credentials|(?:set-)?cookie';
const STRING = '"(?:[^"\\\\]|\\\\.)*"';
const SECRET_FIELDS = new RegExp(`"(?:${SECRET_FIELD})":`, 'gi');
const NUMBER = /-?\d[\d.eE+-]*/y;
/** The same in JSON that stands as text inside a message, where every backslash is two. */
const QUOTED = /(?:[^"\\]|\\\\\\.|\\\\[^"\\]|\\[^"\\])*/.source;
const QUOTED_SECRET_FIELDS = new RegExp(`(\\\\"(?:${SECRET_FIELD})\\\\": ?)\\\\"${QUOTED}\\\\"`, 'gi');
/** A backslash begins an escape of JSON: of these the first is a character of the URL, and the others end it. */
const IN_URL = '(?:[^\\s"\\\\]|\\\\[^nrt])';
const SCHEME = '[a-z][a-z0-9+.-]{0,20}';
const URL_CREDENTIALS = new RegExp(`(${SCHEME}://)(?:(?![/?#])${IN_URL})*@`, 'gi');
/** What is no URL for a slash in its password, or was cut before its @: what follows the colon is not a port. */
const BROKEN_URL = new RegExp(
  `(${SCHEME}://)[^\\s/?#:@"\\\\[]*:(?!\\d{1,5}(?:[/?#"\\s]|$))${IN_URL}{0,1000}([@…])`,
  'gi',
);
/** The escape of a control character ends in a letter or a digit, which is not part of what comes after it. */
const START = '(?:\\b|(?<=\\\\(?:[bfnrt]|u[0-9a-f]{4})))';
const API_KEYS = /snk_[0-9A-Za-z]{8,}/g;
const SIGNING_SECRETS = /whsec_[0-9A-Za-z+/=]{8,}/g;
/** Base64 has a digit, a sign or a capital inside; `Basic access` has not. */
const AUTHORIZATION = /((?i:basic|bearer)) +(?=[A-Za-z+/_.-]*[0-9=]|.[a-z+/_.-]*[A-Z])[A-Za-z0-9+/_.=-]{8,}/g;
/** Whoever has a token can check in. Where a field has it, it says which snitch is meant, and is only cut short. */
const TOKEN_FIELDS = new RegExp(`("token":)(${STRING})`, 'g');
const TOKENS = new RegExp(`${START}([a-z2-7]{6})[a-z2-7]{20}\\b`, 'g');

/**
 * Works on the finished line, where a secret is found wherever it came from: a field at any depth, the context of a
 * child logger, an error's text or its stack.
 */
export function redact(line: string): string {
  return redactFields(line)
    .replace(QUOTED_SECRET_FIELDS, '$1\\"[redacted]\\"')
    .replace(BROKEN_URL, '$1[redacted]$2')
    .replace(URL_CREDENTIALS, '$1[redacted]@')
    .replace(API_KEYS, 'snk_[redacted]')
    .replace(SIGNING_SECRETS, 'whsec_[redacted]')
    .replace(AUTHORIZATION, '$1 [redacted]')
    .replace(TOKEN_FIELDS, (_, name, token) => `${name}"${beginningOf(token.slice(1, -1))}"`)
    .replace(TOKENS, '$1…');
}

/** Reads every value once, where a regular expression would read what never ends from each of its beginnings again. */
function redactFields(line: string): string {
  let redacted = '';
  let done = 0;
  SECRET_FIELDS.lastIndex = 0;
  while (SECRET_FIELDS.test(line)) {
    const start = SECRET_FIELDS.lastIndex;
    const end = endOfValue(line, start);
    if (end === start) continue;
    redacted += `${line.slice(done, start)}"[redacted]"`;
    done = end;
    SECRET_FIELDS.lastIndex = end;
  }
  return redacted + line.slice(done);
}

/** Where the JSON value ends that begins at `start`; there, where it is a word. What has no end is all the rest. */
function endOfValue(line: string, start: number): number {
  const first = line[start];
  if (first === '"') return endOfString(line, start + 1);
  if (first !== '[' && first !== '{') return endOfNumber(line, start);
  let depth = 0;
  for (let at = start; at < line.length; at += 1) {
    const character = line[at];
    if (character === '"') at = endOfString(line, at + 1) - 1;
    else if (character === '[' || character === '{') depth += 1;
    else if ((character === ']' || character === '}') && --depth === 0) return at + 1;
  }
  return line.length;
}

function endOfNumber(line: string, start: number): number {
  NUMBER.lastIndex = start;
  return NUMBER.test(line) ? NUMBER.lastIndex : start;
}

/** Behind the quotation mark that has an even number of backslashes before it. */
function endOfString(line: string, start: number): number {
  for (let at = line.indexOf('"', start); at >= 0; at = line.indexOf('"', at + 1)) {
    let first = at;
    while (first > start && line[first - 1] === '\\') first -= 1;
    if ((at - first) % 2 === 0) return at + 1;
  }
  return line.length;
}

/** Enough of a token to find it in a list, and not enough to guess the rest. */
function beginningOf(token: string): string {
  return token.includes('\\') ? '…' : `${token.slice(0, Math.min(6, token.length / 4))}…`;
}

/** The line breaks of a stack stay, because a stack in one line helps nobody. */
const JSON_ESCAPE = /\\(?:u[0-9a-fA-F]{4}|n {4}at |ncaused by: |.)/g;
const SHOWN_AS_IT_IS = /^\\(?:["\\/]|n {4}at |ncaused by: )/;

/** Reading the line turns its escapes into the characters again: those that must not show are escaped once more. */
function keepEscapes(line: string): string {
  return line.replace(JSON_ESCAPE, (found) => (SHOWN_AS_IT_IS.test(found) ? found : `\\${found}`));
}

function prettify(colorize: boolean): (line: string) => string {
  const format = prettyFactory({ colorize, translateTime: 'SYS:yyyy-mm-dd HH:MM:ss.l' });
  return (line) => format(keepEscapes(line));
}
