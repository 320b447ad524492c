/** The length of a text in code points: an emoji is one, where `length` counts two. */
export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
