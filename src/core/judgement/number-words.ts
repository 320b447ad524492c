/** Numbers in sentences for people. */

const UNITS = [
  { size: 1e15, sign: 'P' },
  { size: 1e12, sign: 'T' },
  { size: 1e9, sign: 'G' },
  { size: 1e6, sign: 'M' },
  { size: 1e3, sign: 'k' },
] as const;

/** Beyond it, no unit makes a number easier to read. */
const LARGEST = 1e18;

/** `4.1 M`, `812 M`, `0.25`: about as exact as somebody remembers it. */
export function roundedNumber(number: number): string {
  const size = Math.abs(number);
  if (size >= LARGEST || (size > 0 && size < 1e-3)) return String(Number(number.toPrecision(2)));
  for (const unit of UNITS) {
    // A number that would round up to 1000 of a unit is written as 1 of the next.
    if (size >= unit.size * 0.9995) return `${rounded(number / unit.size)} ${unit.sign}`;
  }
  return String(rounded(number));
}

function rounded(number: number): number {
  return Number(number.toPrecision(Math.abs(number) >= 100 ? 3 : 2));
}

/** `1000000`: the number as people typed it, so they recognise it. Only huge and tiny ones have an exponent. */
export function exactNumber(number: number): string {
  return String(number);
}
