/** The log: one JSON object per line, or lines for people. It contains no secrets and nothing unprintable. */
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

/** Where lines go. Each is written whole and at once, so the last one before an exit is not lost. */
export interface LogDestination {
  write(line: string): unknown;
  /** Whether it is the journal, where each line begins with its priority. */
  isJournal?: boolean;
}

/** @param destination standard output when absent, which is the only one that may have colours */
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

/** If the log's disk is full, this many bytes of lines are kept in memory, and more are dropped. */
const MOST_UNWRITTEN = 256 * 1024;

/**
 * Writes at once, because `process.stdout` would buffer lines for a pipe and lose them at exit. A log that cannot be
 * written is no reason to stop, since check-ins are stored and alerts sent without it.
 */
function standardOutput(): LogDestination {
  const stream = pino.destination({ dest: 1, sync: true, maxLength: MOST_UNWRITTEN });
  stream.on('error', () => {});
  return { write: (line) => stream.write(line), isJournal: isJournal(1, process.env) };
}

/** The level is always the first field of a line. */
function levelOf(line: string): Level {
  const word = /^\{"level":"(\w+)"/.exec(line)?.[1];
  return LOG_LEVELS.find((level) => level === word) ?? 'info';
}

/** In characters. Longer lines are cut, because everything else waits while a line is searched for secrets. */
const LONGEST_LINE = 64 * 1024;
const LONGEST_TEXT = 4 * 1024;

/** Bounds the length of a line: its texts are cut, and if that does not help, only the message stays. */
export function shortened(line: string): string {
  if (line.length <= LONGEST_LINE) return line;
  const fields = JSON.parse(line, (_, value: unknown) => (typeof value === 'string' ? cut(value) : value));
  const whole = JSON.stringify(fields);
  if (whole.length <= LONGEST_LINE) return `${whole}\n`;
  const { level, time, msg } = fields as { level: unknown; time: unknown; msg: unknown };
  return `${JSON.stringify({ level, time, msg, left_out: line.length })}\n`;
}

/** Half a token or key would not be recognised as a secret, so a word is never cut in two but left out. */
function cut(text: string): string {
  if (text.length <= LONGEST_TEXT) return text;
  let end = LONGEST_TEXT;
  while (end > 0 && /[\w+/=-]/.test(text[end - 1] ?? '')) end -= 1;
  return `${text.slice(0, end || LONGEST_TEXT / 2)}… (${text.length} characters)`.toWellFormed();
}

/** Names of fields whose values are secrets, at any depth. */
const SECRET_FIELD =
  '[\\w-]{0,40}(?:password|passwd|passphrase|secret|authorization|api_?-?key|admin_?key)|pass|key|auth|credentials|(?:set-)?cookie';
const STRING = '"(?:[^"\\\\]|\\\\.)*"';
const SECRET_FIELDS = new RegExp(`"(?:${SECRET_FIELD})":`, 'gi');
const NUMBER = /-?\d[\d.eE+-]*/y;
/** A string in JSON that is itself quoted in a message, so every backslash is doubled. */
const QUOTED = /(?:[^"\\]|\\\\\\.|\\\\[^"\\]|\\[^"\\])*/.source;
const QUOTED_SECRET_FIELDS = new RegExp(`(\\\\"(?:${SECRET_FIELD})\\\\": ?)\\\\"${QUOTED}\\\\"`, 'gi');
/** A character of a URL. An escape of JSON is one too, unless it stands for white space. */
const IN_URL = '(?:[^\\s"\\\\]|\\\\[^nrt])';
const SCHEME = '[a-z][a-z0-9+.-]{0,20}';
const URL_CREDENTIALS = new RegExp(`(${SCHEME}://)(?:(?![/?#])${IN_URL})*@`, 'gi');
/** A URL that is broken by a slash in its password, or cut off before its @: no port follows the colon. */
const BROKEN_URL = new RegExp(
  `(${SCHEME}://)[^\\s/?#:@"\\\\[]*:(?!\\d{1,5}(?:[/?#"\\s]|$))${IN_URL}{0,1000}([@…])`,
  'gi',
);
/** The beginning of a word. An escape may come before it, whose last letter or digit is not part of the word. */
const START = '(?:\\b|(?<=\\\\(?:[bfnrt]|u[0-9a-f]{4})))';
const API_KEYS = /snk_[0-9A-Za-z]{8,}/g;
const SIGNING_SECRETS = /whsec_[0-9A-Za-z+/=]{8,}/g;
/** Base64 contains a digit, a sign or an inner capital letter, unlike `Basic access`. */
const AUTHORIZATION = /((?i:basic|bearer)) +(?=[A-Za-z+/_.-]*[0-9=]|.[a-z+/_.-]*[A-Z])[A-Za-z0-9+/_.=-]{8,}/g;
/** Whoever has a token can check in. In a field it says which snitch is meant, so its beginning is kept. */
const TOKEN_FIELDS = new RegExp(`("token":)(${STRING})`, 'g');
const TOKENS = new RegExp(`${START}([a-z2-7]{6})[a-z2-7]{20}\\b`, 'g');

/**
 * Works on the finished line, so secrets are found wherever they come from: a field at any depth, the context of a
 * child logger, or the message or stack of an error.
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

/**
 * Reads every value only once. A regular expression would read a value without an end again and again, from each place
 * where it could begin.
 */
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

/**
 * The end of the JSON value that begins at `start`: `start` itself for a word such as `null`, and the end of the line
 * for a value that was cut off.
 */
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

/** The position after the quotation mark that has an even number of backslashes before it. */
function endOfString(line: string, start: number): number {
  for (let at = line.indexOf('"', start); at >= 0; at = line.indexOf('"', at + 1)) {
    let first = at;
    while (first > start && line[first - 1] === '\\') first -= 1;
    if ((at - first) % 2 === 0) return at + 1;
  }
  return line.length;
}

/** Enough of a token to find it in a list, but not enough to guess the rest. */
function beginningOf(token: string): string {
  return token.includes('\\') ? '…' : `${token.slice(0, Math.min(6, token.length / 4))}…`;
}

/** Among the escapes, line breaks of a stack are special: they are shown, because a stack in one line helps nobody. */
const JSON_ESCAPE = /\\(?:u[0-9a-fA-F]{4}|n {4}at |ncaused by: |.)/g;
const SHOWN_AS_IT_IS = /^\\(?:["\\/]|n {4}at |ncaused by: )/;

/** Reading the line turns its escapes back into characters, so those that must not be shown are escaped twice. */
function keepEscapes(line: string): string {
  return line.replace(JSON_ESCAPE, (found) => (SHOWN_AS_IT_IS.test(found) ? found : `\\${found}`));
}

function prettify(colorize: boolean): (line: string) => string {
  const format = prettyFactory({ colorize, translateTime: 'SYS:yyyy-mm-dd HH:MM:ss.l' });
  return (line) => format(keepEscapes(line));
}
