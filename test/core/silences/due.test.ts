import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Calendar } from '../../../src/core/interval.ts';
import { NOTHING_LEARNED } from '../../../src/core/late-runs.ts';
import { concernedFrom, dueThrough } from '../../../src/core/silences/due.ts';
import { newSnitchState, type SnitchState } from '../../../src/core/snitch.ts';

const test = suite('deadlines and silences');

const at = (time: string): number => Date.parse(`2026-03-04T${time}:00Z`);
const RULES = { timezone: 'UTC', reminders: 'period', errorNotices: true } as const;
const CONTEXT = { calendar: new Calendar(), rules: RULES, ...NOTHING_LEARNED, now: at('12:00') };

/** Hourly, last heard at 10:20, so it is expected at 11:20 and due at 12:00. */
function hourly(changes: Partial<SnitchState> = {}): SnitchState {
  return {
    ...newSnitchState('hourly', 'basic'),
    status: 'healthy',
    checkedInAt: at('10:20'),
    lastCheckInAt: at('10:20'),
    dueAt: at('12:00'),
    ...changes,
  };
}

const window = (from: string, to: string) => ({ start: at(from), end: at(to) });

test('while one holds, deadlines and reminders wait, and pauses do not', () => {
  const silences = { ended: [], until: at('13:00') };
  const waits = { do: 'wait', until: at('13:00') };
  assert.equal(dueThrough(hourly(), silences, CONTEXT), waits);
  assert.equal(dueThrough(hourly({ status: 'errored' }), silences, CONTEXT), waits);
  assert.equal(dueThrough(hourly({ status: 'failed' }), silences, CONTEXT), waits);
  const pause = {
    until: { kind: 'time', at: at('12:00') },
    remembered: 'healthy',
    since: at('11:00'),
  } as const;
  const paused = hourly({ status: 'paused', pause });
  assert.equal(dueThrough(paused, silences, CONTEXT), { do: 'apply', snitch: paused });
});

test('those that ended move the deadline as blind windows would', () => {
  const rows: [string, { start: number; end: number }[], string][] = [
    ['the run was expected in it', [window('11:10', '11:30')], '13:00'],
    ['the deadline lies in it', [window('11:40', '12:20')], '12:40'],
    ['it was over before the period', [window('10:00', '11:00')], '12:00'],
    ['it held between the run and the deadline', [window('11:40', '11:50')], '12:00'],
    ['two, one after the other', [window('11:10', '11:30'), window('12:10', '12:30')], '14:00'],
  ];
  for (const [name, ended, due] of rows) {
    const through = dueThrough(hourly(), { ended, until: null }, CONTEXT);
    assert.is(through.do, 'apply', name);
    const { snitch } = through as Extract<typeof through, { do: 'apply' }>;
    assert.is(snitch.dueAt, at(due), name);
    assert.is(snitch.postponed, 0, name);
  }
});

test('a schedule goes on with its next run', () => {
  const snitch = hourly({ schedule: { cron: '0 3 * * *' }, grace: 600, dueAt: at('03:10') });
  const through = dueThrough(snitch, { ended: [window('02:30', '03:30')], until: null }, CONTEXT);
  assert.is(through.do === 'apply' && through.snitch.dueAt, at('03:10') + 24 * 3_600_000);
});

test('a run that takes too long is decided in a silence, and looked at when it does', () => {
  const run = (from: string) => ({ id: null, startedAt: at(from), from: at(from) });
  const running = (from: string) =>
    hourly({ maxRuntime: 1_800, dueAt: at('12:00'), runs: { dueAt: at('12:00'), open: [run(from)] } });
  const silences = { ended: [], until: at('13:00') };
  assert.is(dueThrough(running('11:29'), silences, CONTEXT).do, 'apply');
  assert.equal(dueThrough(running('11:50'), silences, CONTEXT), { do: 'wait', until: at('12:20') });
  const moved = dueThrough(running('11:50'), { ended: [window('11:10', '11:30')], until: null }, CONTEXT);
  assert.equal(moved.do === 'apply' && moved.snitch.runs, { dueAt: at('13:00'), open: [run('11:50')] });
});

test('only what is awaited is concerned, from the beginning of its period on', () => {
  assert.is(concernedFrom(hourly(), CONTEXT), at('11:00'));
  assert.is(concernedFrom(hourly({ status: 'failed' }), CONTEXT), null);
  assert.is(concernedFrom(hourly({ dueAt: null }), CONTEXT), null);
});

test.run();
