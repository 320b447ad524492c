import * as assert from 'uvu/assert';
import type { AlertKind, PayloadStatus } from '../../src/core/alert.ts';
import type { Case } from '../../src/core/case.ts';
import type { PauseUntil, RememberedStatus, Status } from '../../src/core/snitch.ts';
import type { Store } from './acting.ts';
import { checkIn, contract, HOUR, MINUTE, NOW, newCase, newSnitch, snitchOf, sweep, utc } from './fixture.ts';

/** All snitches are hourly. Where they checked in, it was at NOW, and their deadline is DUE. */
const DUE = utc('2025-07-09T12:00:00');
const PAUSED = NOW + 20 * MINUTE;
const LATER = NOW + 30 * MINUTE;
const UNTIL_TIME: PauseUntil = { kind: 'time', at: NOW + 3 * HOUR };
const KINDS: PauseUntil[] = [{ kind: 'healthy' }, { kind: 'unpaused' }, UNTIL_TIME];

type From = 'pending' | RememberedStatus | { paused: PauseUntil; from: RememberedStatus };

interface Row {
  from: From;
  trigger: (store: Store, owner: Case, token: string) => Promise<unknown>;
  to: Status;
  /** Type and previous status as the webhook's reader would be told, or null where nobody is. */
  alert: [AlertKind, PayloadStatus] | null;
  remembered?: RememberedStatus;
}

const healthy: Row['trigger'] = (store, _, token) => checkIn(store, token, LATER);
const error: Row['trigger'] = (store, _, token) => checkIn(store, token, LATER, { outcome: 'error' });
const deadline: Row['trigger'] = (store) => sweep(store, DUE);
const unpause: Row['trigger'] = (store, { id }, token) => store.unpauseSnitch(id, token, LATER);
const pauseUntil =
  (until: PauseUntil): Row['trigger'] =>
  (store, { id }, token) =>
    store.pauseSnitch(id, token, until, LATER);
const timeComes: Row['trigger'] = (store) => sweep(store, NOW + 3 * HOUR);

const paused = (until: PauseUntil, from: RememberedStatus = 'healthy') => ({ paused: until, from });

/** The table of the specification, row by row. */
const TABLE: Row[] = [
  { from: 'pending', trigger: healthy, to: 'healthy', alert: ['snitch.reporting', 'pending'] },
  { from: 'failed', trigger: healthy, to: 'healthy', alert: ['snitch.reporting', 'missing'] },
  { from: 'errored', trigger: healthy, to: 'healthy', alert: ['snitch.reporting', 'errored'] },
  { from: 'healthy', trigger: healthy, to: 'healthy', alert: null },
  { from: 'pending', trigger: error, to: 'errored', alert: ['snitch.errored', 'pending'] },
  { from: 'healthy', trigger: error, to: 'errored', alert: ['snitch.errored', 'healthy'] },
  { from: 'failed', trigger: error, to: 'errored', alert: ['snitch.errored', 'missing'] },
  { from: 'errored', trigger: error, to: 'errored', alert: null },
  { from: 'healthy', trigger: deadline, to: 'failed', alert: ['snitch.missing', 'healthy'] },
  { from: 'errored', trigger: deadline, to: 'failed', alert: ['snitch.missing', 'errored'] },
  {
    from: 'failed',
    trigger: (store) => sweep(store, DUE + HOUR),
    to: 'failed',
    alert: ['snitch.missing', 'missing'],
  },
  { from: 'pending', trigger: deadline, to: 'pending', alert: null },
  ...KINDS.flatMap((until): Row[] => {
    const trigger = pauseUntil(until);
    return [
      { from: 'healthy', trigger, to: 'paused', alert: ['snitch.paused', 'healthy'], remembered: 'healthy' },
      { from: 'failed', trigger, to: 'paused', alert: ['snitch.paused', 'missing'], remembered: 'failed' },
      { from: 'errored', trigger, to: 'paused', alert: ['snitch.paused', 'errored'], remembered: 'errored' },
    ];
  }),
  {
    from: paused({ kind: 'healthy' }),
    trigger: healthy,
    to: 'healthy',
    alert: ['snitch.reporting', 'paused'],
  },
  ...[{ kind: 'unpaused' } as const, UNTIL_TIME].flatMap((until): Row[] => [
    { from: paused(until, 'failed'), trigger: healthy, to: 'paused', alert: null, remembered: 'healthy' },
    { from: paused(until), trigger: error, to: 'paused', alert: null, remembered: 'errored' },
  ]),
  { from: paused({ kind: 'healthy' }), trigger: error, to: 'paused', alert: null, remembered: 'errored' },
  ...KINDS.flatMap((until): Row[] => [
    { from: paused(until), trigger: unpause, to: 'healthy', alert: null },
    { from: paused(until, 'failed'), trigger: unpause, to: 'failed', alert: null },
    { from: paused(until, 'errored'), trigger: unpause, to: 'errored', alert: null },
    { from: paused(until), trigger: deadline, to: 'paused', alert: null, remembered: 'healthy' },
  ]),
  { from: paused(UNTIL_TIME), trigger: timeComes, to: 'healthy', alert: null },
  { from: paused(UNTIL_TIME, 'failed'), trigger: timeComes, to: 'failed', alert: null },
  { from: paused(UNTIL_TIME, 'errored'), trigger: timeComes, to: 'errored', alert: null },
  { from: 'healthy', trigger: unpause, to: 'healthy', alert: null },
  { from: 'pending', trigger: unpause, to: 'pending', alert: null },
  { from: 'failed', trigger: unpause, to: 'failed', alert: null },
];

/** Brings a new snitch to `from`, only with what a client and the sweep can do. */
async function bring(store: Store, owner: Case, from: From): Promise<string> {
  if (typeof from === 'object') {
    const token = await bring(store, owner, from.from);
    await store.pauseSnitch(owner.id, token, from.paused, PAUSED);
    return token;
  }
  const { token } = await newSnitch(store, owner);
  if (from === 'healthy') await checkIn(store, token, NOW);
  if (from === 'errored') await checkIn(store, token, NOW, { outcome: 'error' });
  if (from === 'failed') {
    await checkIn(store, token, NOW - 2 * HOUR);
    await sweep(store, NOW);
  }
  return token;
}

const nameOf = ({ from, trigger, to }: Row, index: number) => {
  const start = typeof from === 'object' ? `paused (${from.paused.kind}, from ${from.from})` : from;
  return `row ${index + 1}: ${start} to ${to} by ${trigger.name || 'pause'}`;
};

contract('transitions', (test) => {
  for (const [index, row] of TABLE.entries()) {
    test(nameOf(row, index), async ({ store }) => {
      const owner = await newCase(store, { members: ['ann@example.com'] });
      const token = await bring(store, owner, row.from);
      const decided = await store.listAlerts(owner.id, token, { limit: 10, before: null });
      await row.trigger(store, owner, token);
      const { state } = await snitchOf(store, owner, token);
      assert.is(state.status, row.to);
      assert.is(state.pause?.remembered, row.remembered);
      const alerts = await store.listAlerts(owner.id, token, { limit: 10, before: null });
      const fresh = alerts.slice(0, alerts.length - decided.length);
      assert.equal(
        fresh.map(({ alert, deliveries }) => [
          alert.type,
          alert.snitch?.previous_status,
          alert.snitch?.status,
          deliveries.map(({ target }) => target),
        ]),
        row.alert ? [[...row.alert, row.to === 'failed' ? 'missing' : row.to, ['ann@example.com']]] : [],
      );
    });
  }
});
