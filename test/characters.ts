import fc from 'fast-check';

/** How many code units are half a character (a surrogate), and the first of them. */
const [SURROGATES, FIRST_SURROGATE] = [0x800, 0xd800];

function toCharacter(index: number): string {
  return String.fromCodePoint(index < FIRST_SURROGATE ? index : index + SURROGATES);
}

function toIndex(character: unknown): number {
  const point = typeof character === 'string' ? character.codePointAt(0) : undefined;
  if (point === undefined || String.fromCodePoint(point) !== character) throw new Error('not one character');
  return point < FIRST_SURROGATE ? point : point - SURROGATES;
}

/**
 * Any character but half a surrogate, as a `unit` of fast-check's strings. Its own unit `binary` is the same; but to look
 * whether names such as `toString` can be made of it, it puts each of its million characters into a map first, which
 * takes more than a second.
 */
export const anyCharacter = fc.nat({ max: 0x10_ffff - SURROGATES }).map(toCharacter, toIndex);
