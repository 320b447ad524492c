/** The text as one word of a shell command, quoted if a shell would read it as more than a word. */
export function shellWord(text: string): string {
  return /^[\w%+,./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
