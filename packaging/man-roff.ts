/** Writes text in the format of man(7). This is the only place that escapes what is special to roff. */

/** Characters that roff would interpret or replace, while a terminal should show them as they are. */
const GLYPHS: Readonly<Record<string, string>> = {
  '\\': '\\(rs',
  '-': '\\-',
  "'": '\\(aq',
  '"': '\\(dq',
  '`': '\\(ga',
  '^': '\\(ha',
  '~': '\\(ti',
  // A terminal without Unicode could not show it.
  '…': '...',
};

/** Escapes text so that it is shown exactly. The beginning of a line is protected by `line`. */
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

/** A line of output. A dot or a quote at its beginning must not become a request of roff. */
export function line(content: string): string {
  return /^[.']/.test(content) ? `\\&${content}\n` : `${content}\n`;
}

/** @param version is shown in the footer, where a build date would make every build different */
export function heading(title: string, section: number, version: string, manual: string): string {
  const head = `.TH ${title} ${section} "" "Snitch ${escaped(version)}" "${manual}"\n`;
  // No hyphenation and no wide gaps, so that what is copied from the page is what was meant.
  return `${head}.nh\n.ad l\n`;
}

export function section(title: string, ...blocks: string[]): string {
  return `.SH ${escaped(title)}\n${beginning(blocks)}`;
}

export function subsection(title: string, ...blocks: string[]): string {
  return `.SS ${escaped(title)}\n${beginning(blocks)}`;
}

/** A title already begins a paragraph. */
function beginning(blocks: readonly string[]): string {
  return blocks.join('').replace(/^\.PP\n/, '');
}

export function paragraph(text: string): string {
  return `.PP\n${line(inline(text))}`;
}

/** A term, which is roff already, with its meaning beside or below it. */
export function entry(term: string, text: string, indent = 8): string {
  return `.TP ${indent}\n${line(term)}${line(inline(text))}`;
}

/** Entries without empty lines between them. */
export function compact(entries: readonly string[]): string {
  const [first = '', ...others] = entries;
  return others.length === 0 ? first : `${first}.PD 0\n${others.join('')}.PD\n`;
}

/** Shows input or the content of a file line by line. `.EE` would turn hyphenation on again, so `.nh` follows. */
export function literal(lines: readonly string[]): string {
  return `.PP\n.RS 4\n.EX\n${lines.map((one) => line(escaped(one))).join('')}.EE\n.nh\n.RE\n`;
}

/** Blocks that belong to the entry before them. */
export function indented(...blocks: string[]): string {
  return `.RS 4\n${blocks.join('')}.RE\n`;
}

/** A reference to a page of the manual, such as `name(5)`. */
export function reference(page: string): string {
  const [, name = page, number = ''] = /^(.+)(\(\d\))$/.exec(page) ?? [];
  return `${bold(name)}${number}`;
}
