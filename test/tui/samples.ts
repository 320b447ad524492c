/** Snitches and a moment in time for the tests of the dashboard. */
import type { WireSnitch } from '../../src/api/wire.ts';
import type { WireSilence } from '../../src/api/wire-kept-back.ts';
import type { Event, State } from '../../src/tui/model/state.ts';
import { initialState } from '../../src/tui/model/state.ts';
import { step } from '../../src/tui/model/step.ts';

/** Saturday, 2026-03-14, 12:00 UTC. */
export const NOON = Date.UTC(2026, 2, 14, 12);

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export function iso(at: number): string {
  return new Date(at).toISOString();
}

/** A healthy hourly snitch that checked in ten minutes ago, unless told otherwise. */
export function snitch(name: string, changes: Partial<WireSnitch> = {}): WireSnitch {
  const token = changes.token ?? `token-${name}`;
  const interval = changes.interval ?? 'hourly';
  return {
    token,
    href: `/v1/snitches/${token}`,
    name,
    tags: [],
    notes: '',
    status: 'healthy',
    checked_in_at: iso(NOON - 10 * MINUTE),
    check_in_url: `https://snitch.example/c/${token}`,
    interval,
    type: { interval },
    alert_type: 'basic',
    alert_email: [],
    created_at: iso(NOON - 30 * DAY),
    ...changes,
  };
}

/** The case of the frame tests: one snitch of each status, with awkward names among them. */
export const FLEET: readonly WireSnitch[] = [
  snitch('web-certs', {
    interval: 'weekly',
    tags: ['web'],
    checked_in_at: iso(NOON - 3 * DAY),
    deadline: iso(NOON + 8.5 * DAY),
    missing_since: null,
  }),
  snitch('nightly-backup', {
    status: 'failed',
    interval: 'daily',
    tags: ['db', 'prod'],
    checked_in_at: iso(NOON - 2 * DAY),
    deadline: null,
    missing_since: iso(NOON - 12 * HOUR),
  }),
  snitch('日本語のジョブ', {
    status: 'errored',
    interval: '15_minute',
    tags: ['db'],
    notes: 'ask the Tokyo team',
    deadline: iso(NOON + 90_000),
    missing_since: null,
    last_report: {
      at: iso(NOON - 5 * MINUTE),
      outcome: 'error',
      exit_status: 2,
      message: 'disk\u001b[2J full',
    },
  }),
  snitch('evil\u001b[31m\u202ename', { token: 'token-evil', status: 'paused' }),
  snitch('brand-new', { status: 'pending', interval: '2_hour', checked_in_at: null }),
];

export function beginning(columns = 100, rows = 16): State {
  return initialState({
    now: NOON,
    size: { columns, rows },
    server: 'http://127.0.0.1:7676',
    readonly: false,
  });
}

/** The state after all these events. */
export function after(state: State, ...events: Event[]): State {
  return events.reduce((present, event) => step(present, event).state, state);
}

export function keys(...names: string[]): Event[] {
  return names.map((key) => ({ kind: 'key', key }));
}

export function typed(text: string): Event[] {
  return keys(...text);
}

export function read(snitches: readonly WireSnitch[]): Event {
  return { kind: 'all', snitches, at: NOON };
}

export function namesShown(state: State): string[] {
  return state.collection.shown.map(({ name }) => name);
}

/** A silence that holds from an hour before noon to an hour after it. */
export function silence(changes: Partial<WireSilence> = {}): WireSilence {
  const stretch = { from: iso(NOON - HOUR), to: iso(NOON + HOUR) };
  return {
    id: 'sil_a',
    tags: null,
    tokens: null,
    all: false,
    ...stretch,
    schedule: null,
    duration: null,
    timezone: null,
    note: '',
    by: 'ops',
    created_at: stretch.from,
    active: true,
    current: stretch,
    next: null,
    ended_at: null,
    ...changes,
  };
}
