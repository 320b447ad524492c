/** The text as one word of a shell command, quoted where a shell would take it for more than a word. */
export function shellWord(text: string): string {
  return /^[\w%+,./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
