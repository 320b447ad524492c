/** Prints what a command has to say: data on stdout in the format that was asked for, words on stderr. */
import { printable, printableJson, printableLines } from '../../text/printable.ts';
import { relativeTime, terminalTime } from '../../text/times.ts';
import { displayWidth, pad } from '../../text/width.ts';
import { jsonPieces, linePieces, print } from './pieces.ts';
import { type Paint, paint, type Style, styleOf } from './style.ts';
import { type Column, tableLines } from './table.ts';

export type { Column } from './table.ts';

export const FORMATS = ['table', 'wide', 'json', 'name'] as const;
export type Format = (typeof FORMATS)[number];

export interface OutputFlags {
  output?: Format;
  json?: boolean;
  quiet?: boolean;
}

/** How a kind of thing is shown in a list. */
export interface View<T> {
  columns: readonly Column<T>[];
  /** What `-o name` prints, which other commands accept as an argument. */
  name(item: T): string;
  /** What `-q` prints. */
  id(item: T): string;
  /** Said on stderr if there is nothing to list. */
  empty: string;
}

/** One line of a record: its label, its text as received, and the colour of the text. */
export interface Field {
  label: string;
  text: string;
  paint?: Paint | null;
}

export class Output {
  readonly format: Format;
  readonly quiet: boolean;
  readonly style: Style;

  constructor(flags: OutputFlags, now = Date.now()) {
    this.format = flags.json ? 'json' : (flags.output ?? 'table');
    this.quiet = flags.quiet ?? false;
    this.style = styleOf(process.stdout, process.env, now);
  }

  /** @param raw what JSON prints, if that is more than the items */
  list<T>(items: readonly T[], view: View<T>, raw: unknown = items): void {
    if (this.format === 'json') this.json(raw);
    else if (this.quiet) this.lines(each(items, (item) => printable(view.id(item))));
    else if (this.format === 'name') this.lines(each(items, (item) => printable(view.name(item))));
    else if (items.length === 0) say(view.empty);
    else this.lines(this.tableOf(items, view));
  }

  tableOf<T>(items: readonly T[], { columns }: Pick<View<T>, 'columns'>): Iterable<string> {
    if (this.format === 'wide') {
      return tableLines(items, columns, { ...this.style, width: Number.POSITIVE_INFINITY });
    }
    const narrow = columns.filter(({ wide }) => !wide);
    return tableLines(items, narrow, this.style);
  }

  /** One item with everything that is known about it. */
  record<T>(
    item: T,
    fields: readonly Field[],
    view: Pick<View<T>, 'name' | 'id'>,
    raw: unknown = item,
  ): void {
    if (this.format === 'json') this.json(raw);
    else if (this.quiet) this.lines([printable(view.id(item))]);
    else if (this.format === 'name') this.lines([printable(view.name(item))]);
    else this.lines(renderFields(fields, this.style));
  }

  /** Prints the API's own shape. JSON escapes control characters, and here also invisible ones. */
  json(value: unknown): void {
    print(each(jsonPieces(value), printableJson));
    print(['\n']);
  }

  /** @param lines must be safe to show on a terminal; a long text is made when its turn comes to be printed */
  lines(lines: Iterable<string>): void {
    print(linePieces(lines));
  }

  /** Relative on a terminal, ISO elsewhere. */
  time(iso: string | null, none = 'never'): string {
    return shownTime(iso, this.style, none);
  }

  /** What was done, on stderr; silent under `--quiet`. */
  done(text: string): void {
    if (!this.quiet) say(text);
  }

  /** What to do next, only for a person at a terminal. */
  hint(text: string): void {
    if (!this.quiet && process.stderr.isTTY) say(text);
  }
}

function* each<T, R>(items: Iterable<T>, make: (item: T) => R): Generator<R> {
  for (const item of items) yield make(item);
}

/** Prints one line on stderr. Everything in it is made safe to show, even line breaks. */
export function say(text: string): void {
  process.stderr.write(`${printable(text)}\n`);
}

export function shownTime(iso: string | null, style: Style, none = 'never'): string {
  if (iso === null) return none;
  return style.terminal ? relativeTime(iso, style.now) : iso;
}

/** `2026-03-01 14:05:09 +01:00 (5m ago)` on a terminal, ISO elsewhere. */
export function exactTime(iso: string | null, style: Style, none = 'never'): string {
  if (iso === null) return none;
  return style.terminal ? `${terminalTime(iso)} (${relativeTime(iso, style.now)})` : iso;
}

export function renderFields(fields: readonly Field[], style: Style): string[] {
  const width = fields.reduce((widest, { label }) => Math.max(widest, displayWidth(label)), 0) + 2;
  return fields.flatMap(({ label, text, paint: colour = null }) => {
    const [first = '', ...rest] = printableLines(text).flatMap((line) => wrapped(line, style.width - width));
    const heading = `${paint(style, 'dim', pad(`${label}:`, width))}${paint(style, colour, first || '-')}`;
    return [heading, ...rest.map((line) => `${' '.repeat(width)}${line}`)];
  });
}

/**
 * Breaks a line between words for a person at a terminal, whose `room` is finite. A word that is longer stays whole, so
 * that an address or a token can be copied.
 */
export function wrapped(line: string, room: number): string[] {
  if (displayWidth(line) <= room) return [line];
  const lines: string[] = [];
  for (const word of line.split(' ')) {
    const last = lines.at(-1);
    const joined = last === undefined ? word : `${last} ${word}`;
    if (last === undefined || (last.trim() !== '' && displayWidth(joined) > room)) lines.push(word);
    else lines[lines.length - 1] = joined;
  }
  return lines;
}

/** Pretty JSON that is safe to show on a terminal. */
export function jsonText(value: unknown): string {
  return printableJson(JSON.stringify(value, null, 2));
}
