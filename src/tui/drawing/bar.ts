/** Small drawings made of characters. */
import type { Color, Glyphs } from './glyphs.ts';

/** A bar of `width` columns, filled up to `fraction`. The rest is drawn too, so that an empty bar is visible. */
export function bar(fraction: number, width: number, glyphs: Glyphs): { filled: string; rest: string } {
  const steps = glyphs.bar.length;
  const bounded = Math.min(1, Math.max(0, fraction));
  const filledSteps = Math.round(bounded * width * steps);
  const whole = Math.floor(filledSteps / steps);
  const part = filledSteps % steps;
  const filled = (glyphs.bar.at(-1) ?? '#').repeat(whole) + (part > 0 ? (glyphs.bar[part - 1] ?? '') : '');
  return { filled, rest: glyphs.barRest.repeat(width - whole - (part > 0 ? 1 : 0)) };
}

/** The colour for the share of time that is left. The length of the bar says the same without colour. */
export function urgency(fraction: number): Color {
  if (fraction > 0.5) return 'green';
  return fraction > 0.2 ? 'yellow' : 'red';
}

/** One column per value, scaled from zero to the largest. Null is a gap. */
export function sparkline(values: readonly (number | null)[], glyphs: Glyphs): string {
  const most = Math.max(0, ...values.filter((value) => value !== null));
  const top = glyphs.spark.length - 1;
  return values
    .map((value) => {
      if (value === null) return ' ';
      return glyphs.spark[most === 0 ? 0 : Math.round((value / most) * top)] ?? ' ';
    })
    .join('');
}
