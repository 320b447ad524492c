/**
 * Walks over JSON without parsing it, to judge a text that might be too deep or too long to be parsed.
 *
 * @param see gets each character outside of strings, in order; the walk ends when it returns false
 * @returns whether the walk came to the end of the text
 */
export function walkStructure(text: string, see: (character: string) => boolean): boolean {
  let quoted = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index] ?? '';
    if (quoted) {
      if (character === '\\') index += 1;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (!see(character)) return false;
  }
  return true;
}
