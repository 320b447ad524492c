/** What people may set: enough of everything that each rule of the store is met, and met again. */
import type { Expectation } from '../../../src/core/judgement/rules.ts';
import type { SnitchFields } from '../../../src/core/snitch.ts';
import type { Dice } from '../../random.ts';

export const TAGS = ['db', 'web', 'night', 'a, b'] as const;

export const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kathmandu'] as const;

type Due = Pick<SnitchFields, 'interval' | 'alertType' | 'schedule' | 'timezone' | 'grace'>;

const DUE: readonly Due[] = [
  { interval: 'hourly', alertType: 'basic' },
  { interval: '15_minute', alertType: 'basic' },
  { interval: '2_hour', alertType: 'smart' },
  { interval: 'hourly', alertType: 'smart', grace: 60 },
  { interval: '3_hour', alertType: 'basic', grace: 900 },
  { interval: 'daily', alertType: 'basic' },
  { interval: 'weekly', alertType: 'basic' },
  { interval: '30_minute', alertType: 'basic', schedule: { cron: '*/20 * * * *' } },
  { interval: 'daily', alertType: 'basic', schedule: { cron: '30 2 * * *' }, timezone: 'America/New_York' },
  { interval: 'weekly', alertType: 'basic', schedule: { calendar: 'Mon..Fri 09:30' }, grace: 0 },
  { interval: '2_hour', alertType: 'basic', schedule: { every: 5_400 }, grace: 60 },
];

const ROWS: Expectation = { value: 'rows', min: 10, max: 1_000, of_usual: null, required: true };
const USUAL: Expectation = { value: 'bytes', min: null, max: null, of_usual: [0.5, 2], required: false };

type Rules = Pick<SnitchFields, 'maxRuntime' | 'minRuntime' | 'failuresBeforeAlert' | 'expect'>;

const RULES: readonly Rules[] = [
  {},
  {},
  {},
  { maxRuntime: 600 },
  { minRuntime: 60, maxRuntime: 7_200 },
  { failuresBeforeAlert: 3 },
  { expect: [ROWS] },
  { expect: [USUAL, ROWS], failuresBeforeAlert: 2 },
];

export function randomDue(dice: Dice): Due {
  return dice.oneOf(DUE);
}

export function randomRules(dice: Dice): Rules {
  return dice.oneOf(RULES);
}

export function randomTags(dice: Dice): string[] {
  return dice.someOf(TAGS, 0.3);
}

/** @param others the tokens of the other snitches of the case */
export function randomNeeds(dice: Dice, others: readonly string[]): string[] {
  if (dice.isHit(0.6)) return [];
  if (others.length === 0 || dice.isHit(0.3)) return [`tag:${dice.oneOf(TAGS)}`];
  return [...new Set([dice.oneOf(others), dice.oneOf(others)])];
}

/** @param others the tokens of the other snitches of the case */
export function randomSnitch(dice: Dice, others: readonly string[]): Omit<SnitchFields, 'name'> {
  const needs = randomNeeds(dice, others);
  return {
    publicName: dice.isHit(0.2) ? 'Public' : null,
    notes: dice.isHit(0.2) ? 'see the\nrunbook' : '',
    tags: randomTags(dice),
    alertEmail: dice.isHit(0.15) ? ['own@x.org', 'Ann@X.org'] : [],
    ...randomDue(dice),
    ...randomRules(dice),
    ...(needs.length > 0 ? { needs } : {}),
  };
}

/** @param others the tokens of the other snitches of the case */
export function randomChanges(dice: Dice, others: readonly string[]): Partial<SnitchFields> {
  return dice.oneOf<Partial<SnitchFields>>([
    { name: dice.oneOf(['renamed', 'twin', 'twin']) },
    { notes: dice.oneOf(['', 'call Ann']), publicName: dice.oneOf([null, 'Shop']) },
    { alertEmail: dice.oneOf([[], ['own@x.org']]) },
    { tags: randomTags(dice) },
    { needs: randomNeeds(dice, others) },
    { grace: dice.oneOf([null, 0, 300]) },
    { timezone: dice.oneOf([null, ...ZONES]) },
    { schedule: null },
    { ...randomRules(dice) },
    { schedule: null, ...randomDue(dice) },
    {},
  ]);
}
