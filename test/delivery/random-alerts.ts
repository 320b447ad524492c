/** Random alerts of all kinds, with names and messages that services might take for markup. */
import type { Alert, AlertDetails, AlertKind, PayloadStatus } from '../../src/core/alert.ts';
import type { Reason } from '../../src/core/reason.ts';
import type { Dice } from '../random.ts';
import { AT, aNotice, anAlert } from './alerts.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const NAMES = [
  'nightly-backup',
  'a*b_c <b>&"x"',
  'größe 🚀',
  '@channel #1',
  'x'.repeat(200),
  'two\u202ewords',
  '[l](http://x)',
];
const MESSAGES = [null, null, 'disk full', '<!channel> & `code`', `${'long '.repeat(80)}end`, 'one\ttwo'];

const STATUS: Record<AlertKind, PayloadStatus> = {
  'snitch.missing': 'missing',
  'snitch.errored': 'errored',
  'snitch.reporting': 'healthy',
  'snitch.paused': 'paused',
};

function reasonFor(dice: Dice, type: AlertKind): Reason {
  const held = dice.isHit(0.2) ? { held: { by: 'db', since: AT - HOUR, until: AT - MINUTE } } : {};
  const reasons: Record<AlertKind, Reason[]> = {
    'snitch.missing': [
      { kind: 'noCheckIn', by: AT, ...held },
      { kind: 'noCheckIn', by: AT, startedAt: AT - HOUR },
      { kind: 'overran', startedAt: AT - 2 * HOUR, ...held },
      { kind: 'overran', startedAt: AT - 2 * HOUR, endedAt: AT - HOUR },
    ],
    'snitch.errored': [
      { kind: 'exitStatus', status: dice.whole(1, 255) },
      { kind: 'error' },
      { kind: 'judged', what: 'bytes 120 is below 1000000' },
    ],
    'snitch.reporting': [
      { kind: 'checkedIn' },
      { kind: 'checkedIn', tookMs: 754_000 },
      { kind: 'checkedIn', first: true },
    ],
    'snitch.paused': [
      { kind: 'paused', until: 'healthy' },
      { kind: 'paused', until: 'unpaused' },
      { kind: 'paused', until: AT + DAY },
    ],
  };
  return dice.oneOf(reasons[type]);
}

function detailsOf(dice: Dice, type: AlertKind): Partial<AlertDetails> {
  const isMissing = type === 'snitch.missing';
  const schedule = { rule: dice.oneOf([{ cron: '0 3 * * *' }, { every: 5_400 }]), timezone: 'Europe/Berlin' };
  const flapping = {
    phase: dice.oneOf(['begun', 'goes on', 'over'] as const),
    changes: dice.whole(12, 90),
    since: AT - HOUR,
    changedAt: AT - MINUTE,
  };
  return {
    interval: dice.oneOf(['15_minute', 'hourly', 'daily', 'weekly'] as const),
    ...(dice.isHit(0.2) ? { checkedInAt: null } : {}),
    ...(dice.isHit(0.1) ? { checkedInAt: null, lastCheckInAt: null } : {}),
    ...(isMissing ? {} : { deadlineAt: null }),
    ...(dice.isHit(0.1) ? { nextDueAt: null } : {}),
    ...(isMissing ? {} : { message: dice.oneOf(MESSAGES) }),
    ...(type === 'snitch.errored' && dice.isHit(0.6) ? { exitStatus: dice.whole(1, 255) } : {}),
    ...(dice.isHit(0.1) ? { ranAt: AT - 3 * HOUR } : {}),
    ...(dice.isHit(0.1) ? { silencedSince: AT - 4 * HOUR } : {}),
    ...(isMissing && dice.isHit(0.4) ? { missingSince: AT - 2 * DAY } : {}),
    ...(dice.isHit(0.8) ? { reason: reasonFor(dice, type) } : {}),
    ...(isMissing && dice.isHit(0.2) ? { startedAt: AT - HOUR } : {}),
    ...(type === 'snitch.paused'
      ? { pausedUntil: dice.oneOf(['healthy', 'unpaused', 'time'] as const) }
      : {}),
    ...(dice.isHit(0.3) ? { schedule } : {}),
    ...(dice.isHit(0.2) ? { grace: dice.oneOf([MINUTE, 90 * MINUTE]) } : {}),
    ...(dice.isHit(0.1) ? { flapping } : {}),
    ...(dice.isHit(0.5) ? { threadId: 'alert_0' } : {}),
  };
}

/** About one snitch. @param changes what is not left to chance */
export function randomAlert(dice: Dice, changes: { id?: string; token?: string; name?: string } = {}): Alert {
  const type = dice.oneOf(['snitch.missing', 'snitch.errored', 'snitch.reporting', 'snitch.paused'] as const);
  const before = dice.oneOf<PayloadStatus>(['pending', 'healthy', 'missing', 'errored', 'paused']);
  const { id = 'alert_1', token = 'c2354d53d3', name = dice.oneOf(NAMES) } = changes;
  return anAlert({
    id,
    at: AT + dice.whole(0, 90) * MINUTE,
    type,
    snitch: {
      ...{ token, name, status: STATUS[type], previous_status: before },
      tags: dice.someOf(['web', 'eu <1>'], 0.3),
      notes: dice.oneOf(['', '', 'see https://wiki.example.com/x', `two\nlines ${'y'.repeat(600)}`]),
    },
    details: detailsOf(dice, type),
  });
}

export function randomNotice(dice: Dice): Alert {
  const many = Array.from({ length: 100 }, (_, index) => `job ${index}`);
  const snitches = ['one', 'two'].map((name) => ({
    token: name,
    name,
    deadlineAt: dice.oneOf([null, AT + HOUR]),
  }));
  return aNotice({
    postponed: dice.oneOf([[], ['one', 'two'], many]),
    postponedCount: dice.oneOf([0, 2, 1_234]),
    ...(dice.isHit(0.5) ? { snitches } : {}),
  });
}
