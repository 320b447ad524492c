/** What becomes of random bodies, right ones and spoiled ones, in every validation of the core: written down. */
import { join } from 'node:path';
import { suite } from 'uvu';
import { validateAcknowledging } from '../../src/core/acknowledgement/input.ts';
import { validateNewBadge } from '../../src/core/badges/input.ts';
import { CHANNEL_KINDS } from '../../src/core/channel.ts';
import { validateNewChannel } from '../../src/core/channels/input.ts';
import { CHANNEL_SETTINGS } from '../../src/core/channels/settings.ts';
import { parseHours } from '../../src/core/hours/hours-input.ts';
import { validateImportedSnitch } from '../../src/core/imported-snitch.ts';
import { readExpectText } from '../../src/core/judgement/expect-text.ts';
import { validateRouteChanges } from '../../src/core/routes/rule-input.ts';
import { validateScheduleToCheck } from '../../src/core/schedule-fields.ts';
import { validateNewSilence } from '../../src/core/silences/input.ts';
import { readNewSnitch, readSnitchChanges } from '../../src/core/snitch-input.ts';
import { validateMembers, validatePause } from '../../src/core/validation.ts';
import { assertKept } from '../kept-text.ts';
import { Dice } from '../random.ts';

const BODIES = 700;
const KEPT = join(import.meta.dirname, 'random-input.txt');
const NOW = Date.parse('2026-10-24T20:10:00Z');
const SAID = { timezone: 'Europe/Berlin', now: NOW };

const input = suite('random input');

/** What nobody should send, but somebody does. */
const WRONG: readonly unknown[] = [
  ...[null, '', '  ', 0, -1, 1.5, true, [], {}, 'a\nb', '\ud800', 'x'.repeat(300), ['', ' '], [null], 'null'],
];

const FIELDS: Record<string, readonly unknown[]> = {
  name: ['backup', ' backup ', 'größe 🚀', 'x'.repeat(255)],
  interval: ['daily', 'hourly', '15_minute', 'monthly', 'Daily', '5 minutes'],
  type: [{ interval: 'weekly' }, { interval: '' }],
  alert_type: ['basic', 'smart', 'clever'],
  alert_email: ['ann@example.com', ['a@x.org', ' b@x.org'], 'a@x.org, b@x.org', 'nobody', ['a@x>']],
  notes: ['', 'two\nlines\t.', 'x'.repeat(10_001)],
  tags: [['web', 'db', 'web'], ['a\u0000'], 'web', Array.from({ length: 51 }, (_, index) => `t${index}`)],
  schedule: [
    { cron: '0 3 * * *' },
    { calendar: 'Mon 04:00' },
    { every: 90 },
    { cron: '0 3 * *' },
    { cron: 'x', every: 60 },
  ],
  timezone: ['Europe/Berlin', 'europe/paris', 'Mars/Olympus'],
  grace: [0, 600, 31_536_001],
  max_runtime: [60, 2_678_401],
  min_runtime: [5, 3_600],
  failures_before_alert: [1, 10, 11],
  expect: [
    [{ value: 'bytes', min: 1 }],
    [{ value: 'Bytes' }],
    [{ value: 'a', of_usual: [0.5, 3] }],
    [{ value: 'a', of_usual: [3, 1] }],
  ],
  needs: [['tag:network'], 'tok12345', ['tag:'], Array.from({ length: 11 }, (_, index) => `tag:t${index}`)],
  token: ['abcdef', 'short', 'healthz', 'with space'],
  from: ['2026-10-25T00:00:00Z', '2026-10-24', '2020-01-01T00:00:00Z', 'soon'],
  to: ['2026-10-26T00:00:00Z', '2027-01-01T00:00:00Z', '2026-10-25T00:00:30Z'],
  duration: [60, 3_600, 2_678_401],
  all: [true, false],
  tokens: [['abcdef', 'ghijkl'], 'abcdef'],
  note: ['kernel', 'a\nb', 'x'.repeat(1_001)],
  by: ['ann', 'x'.repeat(256)],
  events: [
    ['missing'],
    ['missing', 'blind'],
    ['reporting'],
    ['other'],
    ['missing', 'errored', 'reporting', 'paused'],
  ],
  after: [0, 900, 604_801],
  hours: [
    { timezone: 'UTC', days: ['mon', 'Fri'], from: '8:00', to: '18:00' },
    { timezone: 'UTC', from: '25:00', to: '1:00' },
    { from: '08:00' },
  ],
  kind: ['webhook', 'email', 'pigeon', ...CHANNEL_KINDS],
  known: [['chn_1'], 'chn_1'],
  label: ['build', '\u200b', 'x'.repeat(101)],
  tag: ['web', 'a\nb'],
  until: ['healthy', 'unpaused', '2026-10-25T00:00:00Z', '2026-10-24T20:09:59Z', 'monday'],
};

const SETTINGS = [
  'abc',
  'https://chat.example.com/hooks/x',
  'http://127.0.0.1:80',
  'ann@example.com',
  '#room',
  '-100123',
  'page',
  '***',
];

/** Most fields get a value that may be right. */
function bodyOf(dice: Dice, names: readonly string[]): Record<string, unknown> {
  const chosen = dice.someOf(names, dice.oneOf([0.3, 0.6, 0.95]));
  return Object.fromEntries(
    chosen.map((name) => [name, dice.isHit(0.15) ? dice.oneOf(WRONG) : dice.oneOf(FIELDS[name] ?? WRONG)]),
  );
}

function channelOf(dice: Dice): Record<string, unknown> {
  const kind = dice.oneOf(CHANNEL_KINDS);
  const rules = Object.keys(CHANNEL_SETTINGS[kind]);
  const given = dice
    .someOf([...rules, 'other'], 0.8)
    .map((name) => [name, dice.isHit(0.1) ? dice.oneOf(WRONG) : dice.oneOf(SETTINGS)]);
  return {
    kind,
    settings: Object.fromEntries(given),
    ...bodyOf(dice, ['name', 'events', 'tags', 'after', 'hours', 'known']),
  };
}

const SNITCH = [
  ...[
    'name',
    'name',
    'interval',
    'interval',
    'type',
    'alert_type',
    'alert_email',
    'notes',
    'tags',
    'schedule',
  ],
  ...['timezone', 'grace', 'max_runtime', 'min_runtime', 'failures_before_alert', 'expect', 'needs'],
];
const STORED = {
  interval: 'hourly',
  alertType: 'smart',
  schedule: null,
  timezone: null,
  grace: null,
} as const;
const SCHEDULED = { ...STORED, alertType: 'basic', schedule: { cron: '0 3 * * *' }, grace: 60 } as const;
const SHOWN = { kind: 'email', name: 'ann@example.com', settings: {} } as const;
const AROUND = {
  commands: ['page'],
  refusalOf: (url: string) => (url.includes('127.0.0.1') ? 'leads to this host' : null),
};

const ROUTES = ['events', 'tags', 'after', 'hours', 'name', 'kind'];
const SILENCES = ['tags', 'tokens', 'all', 'from', 'to', 'to', 'schedule', 'duration', 'timezone', 'note'];

type Told = [what: string, given: unknown, result: unknown];

function tryOne(dice: Dice): Told {
  const body = (names: readonly string[]) => (dice.isHit(0.02) ? dice.oneOf(WRONG) : bodyOf(dice, names));
  const told = (what: string, given: unknown, of: (given: unknown) => unknown): Told => [
    what,
    given,
    of(given),
  ];
  return dice.oneOf<() => Told>([
    () => told('new snitch', body(SNITCH), (given) => readNewSnitch(given, SAID)),
    () => told('changes', body(SNITCH), (given) => readSnitchChanges(given, STORED, SAID)),
    () => told('changes of a schedule', body(SNITCH), (given) => readSnitchChanges(given, SCHEDULED, SAID)),
    () => told('imported', body([...SNITCH, 'token']), (given) => validateImportedSnitch(given, SAID)),
    () => told('silence', body(SILENCES), (given) => validateNewSilence(given, SAID)),
    () => told('channel', channelOf(dice), (given) => validateNewChannel(given, AROUND)),
    () => told('route', body(ROUTES), (given) => validateRouteChanges(given, SHOWN)),
    () => told('badge', body(['token', 'tag', 'label']), validateNewBadge),
    () =>
      told('schedule', body(['schedule', 'timezone', 'grace', 'from']), (given) =>
        validateScheduleToCheck(given, 'UTC', NOW),
      ),
    () => told('pause', body(['until']), (given) => validatePause(given, NOW)),
    () => told('acknowledging', body(['note', 'by']), validateAcknowledging),
    () => told('members', dice.oneOf([...WRONG, ...(FIELDS.alert_email ?? [])]), validateMembers),
  ])();
}

const HOURS = [
  'mon-fri',
  'Sat,sun',
  'fri-mon',
  'xyz',
  '08:00-18:00',
  '9:30-24:00',
  '22:00-06:00',
  '8-18',
  'UTC',
  'Europe/Berlin',
];
const EXPECTATIONS = [
  'bytes',
  'Bytes',
  '>=',
  '<=',
  '=',
  '..',
  '1M',
  '2.5k',
  '-3',
  '1e400',
  '0.5x',
  '3x',
  ' ',
];

function lineOf(seed: number): string {
  const dice = new Dice(seed);
  if (dice.isHit(0.06)) {
    const text = dice.someOf(HOURS, 0.3).join(' ');
    return `hours ${text}: ${JSON.stringify(parseHours(text, 'Asia/Kolkata'))}`;
  }
  if (dice.isHit(0.08)) {
    const text = Array.from({ length: dice.whole(1, 5) }, () => dice.oneOf(EXPECTATIONS)).join('');
    return `expectation ${text}: ${JSON.stringify(readExpectText(text))}`;
  }
  const [what, given, result] = tryOne(dice);
  return `${what} ${shortened(given)}: ${shortened(result)}`;
}

/** Long texts and lists by their lengths. */
function shortened(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (typeof part === 'string' && part.length > 250) return `${part.length} characters`;
    return Array.isArray(part) && part.length > 8 ? `${part.length} items` : part;
  });
}

input('is taken and refused as it was', () => {
  assertKept(
    KEPT,
    Array.from({ length: BODIES }, (_, index) => lineOf(index + 1)),
  );
});

input.run();
