/** The log: one JSON object a line, or lines for people. Nothing secret and nothing unprintable gets into it. */
import { type Logger, pino, stdTimeFunctions } from 'pino';
import { prettyFactory } from 'pino-pretty';
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
        const shown = show(escapeUnprintable(redact(line)));
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

/** Names of fields whose value is a secret, whatever depth they are found at. */
const SECRET_FIELD =
  '[\\w-]{0,40}(?:password|passwd|passphrase|secret|authorization|api_?-?key|admin_?key)|pass|key|auth|credentials|(?:set-)?cookie';
const STRING = '"(?:[^"\\\\]|\\\\.)*"';
const VALUE = `${STRING}|\\[(?:[^\\]"]|${STRING})*\\]|\\{(?:[^{}"]|${STRING})*\\}|-?\\d[\\d.eE+-]*`;
const SECRET_FIELDS = new RegExp(`("(?:${SECRET_FIELD})":)(?:${VALUE})`, 'gi');
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
  return line
    .replace(SECRET_FIELDS, '$1"[redacted]"')
    .replace(QUOTED_SECRET_FIELDS, '$1\\"[redacted]\\"')
    .replace(BROKEN_URL, '$1[redacted]$2')
    .replace(URL_CREDENTIALS, '$1[redacted]@')
    .replace(API_KEYS, 'snk_[redacted]')
    .replace(SIGNING_SECRETS, 'whsec_[redacted]')
    .replace(AUTHORIZATION, '$1 [redacted]')
    .replace(TOKEN_FIELDS, (_, name, token) => `${name}"${beginningOf(token.slice(1, -1))}"`)
    .replace(TOKENS, '$1…');
}

/** Enough of a token to find it in a list, and not enough to guess the rest. */
function beginningOf(token: string): string {
  return token.includes('\\') ? '…' : `${token.slice(0, Math.min(6, token.length / 4))}…`;
}

/** JSON leaves these as they are, but they can steer a terminal or make a line read as another one. */
const UNPRINTABLE = /(?!\n)[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** Writes what JSON left unescaped as JSON's own escape, so that the value of the line stays the same. */
export function escapeUnprintable(json: string): string {
  return json.replace(UNPRINTABLE, (character) =>
    Array.from({ length: character.length }, (_, i) => escapeUnit(character.charCodeAt(i))).join(''),
  );
}

function escapeUnit(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`;
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
