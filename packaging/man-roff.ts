/** Text in the form of man(7). What is special to roff is escaped here, and nowhere else. */

/** Characters that a terminal should show as they are, and that roff takes for typography or for its own. */
const GLYPHS: Readonly<Record<string, string>> = {
  '\\': '\\(rs',
  '-': '\\-',
  "'": '\\(aq',
  '"': '\\(dq',
  '`': '\\(ga',
  '^': '\\(ha',
  '~': '\\(ti',
  // Terminals without Unicode have nothing to put in its place.
  '…': '...',
};

/** Shows as exactly this text wherever it stands, but at the beginning of a line, which is for `line` to protect. */
export function escaped(text: string): string {
  return [...text].map(glyphOf).join('');
}

function glyphOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20 || code === 0x7f) throw new Error(`a control character in: U+${code.toString(16)}`);
  const plain = code < 0x7f ? character : undefined;
  return GLYPHS[character] ?? plain ?? `\\[u${code.toString(16).toUpperCase().padStart(4, '0')}]`;
}

export function bold(text: string): string {
  return text === '' ? '' : `\\fB${escaped(text)}\\fR`;
}

export function italic(text: string): string {
  return text === '' ? '' : `\\fI${escaped(text)}\\fR`;
}

/** Running text, in which backticks make `names` bold. */
export function inline(text: string): string {
  const pieces = text.replace(/\s+/g, ' ').trim().split('`');
  if (pieces.length % 2 === 0) throw new Error(`a backtick is not closed: ${text}`);
  return pieces.map((piece, index) => (index % 2 === 1 ? bold(piece) : escaped(piece))).join('');
}

/** A line of output: a dot or a quote at its beginning is not a request. */
export function line(content: string): string {
  return /^[.']/.test(content) ? `\\&${content}\n` : `${content}\n`;
}

/** @param version stands in the footer; a date of the build would make every build another one */
export function heading(title: string, section: number, version: string, manual: string): string {
  const head = `.TH ${title} ${section} "" "Snitch ${escaped(version)}" "${manual}"\n`;
  // Neither words that are divided nor wide gaps: what is copied from here should be what was meant.
  return `${head}.nh\n.ad l\n`;
}

export function section(title: string, ...blocks: string[]): string {
  return `.SH ${escaped(title)}\n${beginning(blocks)}`;
}

export function subsection(title: string, ...blocks: string[]): string {
  return `.SS ${escaped(title)}\n${beginning(blocks)}`;
}

/** A title begins a paragraph by itself. */
function beginning(blocks: readonly string[]): string {
  return blocks.join('').replace(/^\.PP\n/, '');
}

export function paragraph(text: string): string {
  return `.PP\n${line(inline(text))}`;
}

/** A term, and beside or below it what it means; the term is roff already. */
export function entry(term: string, text: string, indent = 8): string {
  return `.TP ${indent}\n${line(term)}${line(inline(text))}`;
}

/** Entries without empty lines between them. */
export function compact(entries: readonly string[]): string {
  const [first = '', ...others] = entries;
  return others.length === 0 ? first : `${first}.PD 0\n${others.join('')}.PD\n`;
}

/** What is to be typed, or stands in a file: line by line as it is. Its end would let words be divided again. */
export function literal(lines: readonly string[]): string {
  return `.PP\n.RS 4\n.EX\n${lines.map((one) => line(escaped(one))).join('')}.EE\n.nh\n.RE\n`;
}

/** Blocks that belong to the entry before them. */
export function indented(...blocks: string[]): string {
  return `.RS 4\n${blocks.join('')}.RE\n`;
}

/** A page of the manual, as people refer to it: `name(5)`. */
export function reference(page: string): string {
  const [, name = page, number = ''] = /^(.+)(\(\d\))$/.exec(page) ?? [];
  return `${bold(name)}${number}`;
}
