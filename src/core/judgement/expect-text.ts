/** Expectations as people type and read them: `bytes>=1M`, `rows=10..20`, `bytes=0.5x..3x`, `errors?<=3`. */
import { exactNumber } from './number-words.ts';
import type { Expectation } from './rules.ts';
import { isValueName, numberIn, VALUE_NAME_RULE } from './values.ts';

/** The accepted forms, for whoever wrote something else. */
export const EXPECT_FORMS = `bytes>=1M, errors<=3, rows=10..20, bytes=0.5x..3x (of the usual), or bytes alone`;

const FORM = /^([^\s?<>=]*)\s*(\??)\s*(?:(>=|<=|=)\s*(.*))?$/s;
const UNITS: Record<string, number> = {
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

/** One expectation, or what is wrong with the text, in words. */
export function readExpectText(text: string): Expectation | string {
  const [, value = '', optional, sign, limits = ''] = FORM.exec(text.trim()) ?? [];
  if (/[<>](?!=)|[≤≥]/.test(text))
    return `limits belong to what is allowed: write >= or <=, such as bytes>=1`;
  if (!isValueName(value)) return `it begins with the name of a value: ${VALUE_NAME_RULE}`;
  const nothing: Expectation = { value, min: null, max: null, of_usual: null, required: optional === '' };
  if (sign === undefined) {
    return optional === '' ? nothing : 'it expects nothing: give a limit, such as bytes?>=1';
  }
  const read = sign === '=' ? readRange(limits) : readLimit(sign, limits);
  return typeof read === 'string' ? read : { ...nothing, ...read };
}

type Limits = Partial<Pick<Expectation, 'min' | 'max' | 'of_usual'>>;

function readLimit(sign: string, text: string): Limits | string {
  const factor = factorIn(text);
  if (factor !== null) return { of_usual: sign === '>=' ? [factor, null] : [null, factor] };
  const number = sizeIn(text);
  if (number === null) return notANumber(text);
  return sign === '>=' ? { min: number } : { max: number };
}

/** `10..20`, `10..`, `..20`, the same with factors, or a single number, which is both limits. */
function readRange(text: string): Limits | string {
  const ends = text.split('..').map((end) => end.trim());
  const [low = '', high = ends.length === 1 ? low : ''] = ends;
  if (ends.length > 2 || (low === '' && high === ''))
    return `"${text}" is no range: write 10..20, 10.. or ..20`;
  if (isFactor(low) || isFactor(high)) return factorsIn(low, high);
  const [min, max] = [low, high].map((end) => (end === '' ? null : (sizeIn(end) ?? Number.NaN)));
  if (Number.isNaN(min)) return notANumber(low);
  if (Number.isNaN(max)) return notANumber(high);
  return { min: min ?? null, max: max ?? null };
}

function factorsIn(low: string, high: string): Limits | string {
  for (const end of [low, high]) {
    if (end !== '' && factorIn(end) === null) return `"${end}" is no factor of the usual: write 0.5x..3x`;
  }
  return { of_usual: [low === '' ? null : factorIn(low), high === '' ? null : factorIn(high)] };
}

function isFactor(text: string): boolean {
  return /x$/i.test(text);
}

function factorIn(text: string): number | null {
  const factor = isFactor(text.trim()) ? numberIn(text.trim().slice(0, -1)) : null;
  return factor !== null && factor >= 0 ? factor : null;
}

/** A number with one of the everyday units of size. */
function sizeIn(text: string): number | null {
  const [, digits = '', unit = ''] =
    /^\s*([^a-zA-Z]*(?:[eE][+-]?\d+)?)\s*([kMGT]i?|Ki)?\s*$/.exec(text) ?? [];
  const number = numberIn(digits);
  const size = unit === '' ? 1 : UNITS[unit === 'ki' ? 'Ki' : unit];
  return number === null || size === undefined ? null : number * size;
}

function notANumber(text: string): string {
  return `"${text.trim()}" is no number: write 1000000, 1.5 or 10M`;
}

/** The expectation as texts that `readExpectText` understands: two if it has limits of both kinds. */
export function expectTexts({ value, min, max, of_usual: ofUsual, required }: Expectation): string[] {
  const name = required ? value : `${value}?`;
  const [low, high] = ofUsual ?? [null, null];
  const texts = [
    limitsText(name, min, max, exactNumber),
    limitsText(name, low, high, (factor) => `${exactNumber(factor)}x`),
  ].filter((text) => text !== null);
  return texts.length === 0 ? [name] : texts;
}

function limitsText(
  name: string,
  low: number | null,
  high: number | null,
  show: (number: number) => string,
): string | null {
  if (low !== null && high !== null)
    return `${name}=${low === high ? show(low) : `${show(low)}..${show(high)}`}`;
  if (low !== null) return `${name}>=${show(low)}`;
  return high === null ? null : `${name}<=${show(high)}`;
}

/** Joins the limits of each value, which are given one by one. If two contradict each other, the later counts. */
export function mergedExpectations(given: readonly Expectation[]): Expectation[] {
  const merged = new Map<string, Expectation>();
  for (const one of given) {
    const known = merged.get(one.value);
    merged.set(one.value, {
      value: one.value,
      min: one.min ?? known?.min ?? null,
      max: one.max ?? known?.max ?? null,
      of_usual: bothFactors(known?.of_usual ?? null, one.of_usual),
      required: one.required || (known?.required ?? false),
    });
  }
  return [...merged.values()];
}

function bothFactors(known: Expectation['of_usual'], more: Expectation['of_usual']): Expectation['of_usual'] {
  if (known === null || more === null) return more ?? known;
  return [more[0] ?? known[0], more[1] ?? known[1]];
}
