/**
 * Cron expressions with what they mean, made from the meaning: nothing here reads an expression, so that a test can
 * compare what a reader makes of the text with what it was made from.
 */

export interface Date5 {
  month: number;
  day: number;
  /** 0 for Sunday. */
  weekday: number;
  daysInMonth: number;
}

export interface CronCase {
  text: string;
  minutes: ReadonlySet<number>;
  hours: ReadonlySet<number>;
  runsOn(date: Date5): boolean;
}

type Random = () => number;

interface Part {
  text: string;
  matches(value: number, date: Date5): boolean;
}

const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const WEEKDAYS = 'sun mon tue wed thu fri sat'.split(' ');

const int = (next: Random, min: number, max: number) => min + Math.floor(next() * (max - min + 1));
const pick = <T>(next: Random, from: readonly T[]): T => from[Math.floor(next() * from.length)]!;

function plainPart(next: Random, min: number, max: number, name: (value: number) => string = String): Part {
  const roll = next();
  // Croner takes SUN-SUN for the whole week, so that no range is made of one value.
  if (roll < 0.45) {
    const one = int(next, min, max);
    return { text: name(one), matches: (value) => value === one };
  }
  const from = int(next, min, max - 1);
  const to = int(next, from + 1, max);
  if (roll < 0.7)
    return { text: `${name(from)}-${name(to)}`, matches: (value) => value >= from && value <= to };
  const step = int(next, 1, Math.max(1, Math.floor((max - min) / 2)));
  if (roll < 0.85) {
    return {
      text: `${name(from)}-${name(to)}/${step}`,
      matches: (value) => value >= from && value <= to && (value - from) % step === 0,
    };
  }
  return { text: `*/${step}`, matches: (value) => (value - min) % step === 0 };
}

function dayPart(next: Random): Part {
  const roll = next();
  if (roll < 0.12) return { text: 'L', matches: (day, { daysInMonth }) => day === daysInMonth };
  return plainPart(next, 1, 31);
}

function weekdayPart(next: Random): Part {
  const roll = next();
  const one = int(next, 0, 6);
  const shown = next() < 0.5 ? WEEKDAYS[one]! : String(one);
  if (roll < 0.12) {
    const nth = int(next, 1, 5);
    return { text: `${shown}#${nth}`, matches: (w, { day }) => w === one && Math.ceil(day / 7) === nth };
  }
  if (roll < 0.22) {
    return { text: `${shown}L`, matches: (w, { day, daysInMonth }) => w === one && day + 7 > daysInMonth };
  }
  if (roll < 0.3) {
    const from = int(next, 1, 6);
    return { text: `${from}-7`, matches: (w) => w === 0 || w >= from };
  }
  return plainPart(next, 0, 6, next() < 0.4 ? (value) => WEEKDAYS[value]! : String);
}

/** A list of parts, or a star. */
function field(next: Random, star: number, part: () => Part): Part {
  if (next() < star) return { text: next() < 0.9 ? '*' : '?', matches: () => true };
  const count = pick(next, [1, 1, 1, 2, 3]);
  const parts = Array.from({ length: count }, part);
  return {
    text: parts.map(({ text }) => text).join(','),
    matches: (value, date) => parts.some((one) => one.matches(value, date)),
  };
}

const NO_DATE: Date5 = { month: 0, day: 0, weekday: 0, daysInMonth: 0 };

function valuesOf({ matches }: Part, max: number): Set<number> {
  return new Set(
    Array.from({ length: max + 1 }, (_, value) => value).filter((value) => matches(value, NO_DATE)),
  );
}

export function cronCase(next: Random): CronCase {
  const minute = field(next, 0.1, () => plainPart(next, 0, 59));
  // Small hours more often, because clocks are changed then.
  const hour = field(next, 0.2, () => plainPart(next, 0, next() < 0.5 ? 4 : 23));
  const day = field(next, 0.55, () => dayPart(next));
  const month = field(next, 0.7, () =>
    plainPart(next, 1, 12, next() < 0.3 ? (value) => MONTHS[value - 1]! : String),
  );
  const weekday = field(next, 0.55, () => weekdayPart(next));
  const hasStar = [day, weekday].some(({ text }) => /^[*?]/.test(text));
  const gap = pick(next, [' ', ' ', '  ', '\t']);
  return {
    text: [minute, hour, day, month, weekday].map(({ text }) => text).join(gap),
    minutes: valuesOf(minute, 59),
    hours: valuesOf(hour, 23),
    runsOn: (date) => {
      const [byDate, byWeekday] = [day.matches(date.day, date), weekday.matches(date.weekday, date)];
      return month.matches(date.month, date) && (hasStar ? byDate && byWeekday : byDate || byWeekday);
    },
  };
}
