/** What keys, the mouse and changes from the server do, without a terminal. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireDelivery } from '../../../src/api/wire.ts';
import { listHeight } from '../../../src/tui/model/layout.ts';
import { selected } from '../../../src/tui/model/selection.ts';
import type { Event, State } from '../../../src/tui/model/state.ts';
import { step } from '../../../src/tui/model/step.ts';
import {
  after,
  beginning,
  FLEET,
  HOUR,
  iso,
  keys,
  MINUTE,
  NOON,
  namesShown,
  read,
  snitch,
  typed,
} from '../samples.ts';

const test = suite('the dashboard as a function');

const full = after(beginning(), read(FLEET));
const many = after(
  beginning(),
  read(Array.from({ length: 100 }, (_, index) => snitch(`job-${String(index).padStart(3, '0')}`))),
);

const selectedName = (state: State) => selected(state)?.name;
const effectsOf = (state: State, ...pressed: string[]) => {
  const before = after(state, ...keys(...pressed.slice(0, -1)));
  return step(before, { kind: 'key', key: pressed.at(-1)! }).effects;
};

test('arrows, letters and pages move the selection and scroll the window', () => {
  assert.is(selectedName(many), 'job-000');
  assert.is(selectedName(after(many, ...keys('j', 'j', 'down', 'k'))), 'job-002');
  assert.is(selectedName(after(many, ...keys('G'))), 'job-099');
  assert.is(selectedName(after(many, ...keys('G', 'up', 'g'))), 'job-000');
  const paged = after(many, ...keys('pagedown'));
  assert.is(selectedName(paged), 'job-011');
  assert.is(after(many, ...keys('G')).top, 88);
});

test('the selection stays on its snitch when the list changes around it', () => {
  const third = after(many, ...keys('j', 'j', 'j'));
  const changed = [snitch('job-050', { status: 'failed' })];
  const moved = after(third, { kind: 'changes', changed, deleted: ['token-job-000'], at: NOON });
  assert.is(selectedName(moved), 'job-003');
  const gone = after(third, { kind: 'changes', changed: [], deleted: ['token-job-003'], at: NOON });
  assert.is(selectedName(gone), 'job-004');
});

test('the filter applies while it is typed; escape undoes it, enter keeps it', () => {
  const filtering = after(full, ...keys('/'), ...typed('tag:db'));
  assert.equal(namesShown(filtering), ['nightly-backup', '日本語のジョブ']);
  assert.is(namesShown(after(filtering, ...keys('escape'))).length, FLEET.length);
  const kept = after(filtering, ...keys('enter'));
  assert.is(namesShown(kept).length, 2);
  assert.is(namesShown(after(kept, ...keys('escape'))).length, FLEET.length);
});

test('marked snitches are paused together, until when is asked', () => {
  const marked = after(full, ...keys('space', 'space'));
  assert.equal(effectsOf(marked, 'p', 'enter'), [
    { do: 'pause', tokens: ['token-nightly-backup', 'token-日本語のジョブ'], until: 'healthy' },
  ]);
  assert.equal(effectsOf(full, 'p', 'down', 'down', 'enter'), [
    { do: 'pause', tokens: ['token-nightly-backup'], until: iso(NOON + HOUR) },
  ]);
  assert.equal(effectsOf(full, 'p', ...'30m', 'enter'), [
    { do: 'pause', tokens: ['token-nightly-backup'], until: iso(NOON + 30 * MINUTE) },
  ]);
});

test('an alarm is acknowledged with or without a note; a healthy snitch cannot be', () => {
  const failed = ['token-nightly-backup'];
  assert.equal(effectsOf(full, 'a', 'enter'), [{ do: 'acknowledge', tokens: failed, note: null }]);
  const typing = after(full, ...keys('a'), ...typed('on it'), { kind: 'paste', text: '\nnow ' });
  assert.equal(step(typing, { kind: 'key', key: 'enter' }).effects, [
    { do: 'acknowledge', tokens: failed, note: 'on it now' },
  ]);
  assert.equal(effectsOf(full, 'a', 'x', 'escape'), []);
  assert.is(after(full, ...keys('a', 'escape')).overlay, null);
  const all = effectsOf(full, '*', 'a', 'enter');
  assert.equal(all, [
    { do: 'acknowledge', tokens: ['token-nightly-backup', 'token-日本語のジョブ'], note: null },
  ]);
  const well = after(beginning(), read([snitch('web-certs')]), ...keys('a'));
  assert.is(well.overlay, null);
  assert.match(well.message?.text ?? '', 'only what is failed or errored');
});

test('an acknowledgement is taken back only where there is one', () => {
  assert.equal(effectsOf(full, 'A'), []);
  assert.match(after(full, ...keys('A')).message?.text ?? '', 'Nobody has acknowledged');
  const acknowledged = { at: iso(NOON), note: null, by: 'Ann' };
  const seen = after(beginning(), read([snitch('a', { status: 'failed', acknowledged }), snitch('b')]));
  assert.equal(effectsOf(seen, '*', 'A'), [{ do: 'unacknowledge', tokens: ['token-a'] }]);
});

test('the prompt for a pause understands what the command line does, and keeps a text that it does not', () => {
  const [effect] = effectsOf(full, 'p', ...'tomorrow', 'enter');
  assert.ok(effect?.do === 'pause' && Date.parse(effect.until ?? '') > NOON);
  const asked = after(full, ...keys('p', ...'soon', 'enter'));
  assert.ok(asked.overlay?.kind === 'pause');
  assert.is(asked.overlay.other.text, 'soon');
  assert.match(asked.overlay.problem ?? '', '"soon" is not understood');
  assert.equal(effectsOf(full, 'p', ...'soon', 'enter'), []);
  const mended = after(asked, ...keys('ctrl+u', ...'15m'));
  assert.ok(mended.overlay?.kind === 'pause' && mended.overlay.problem === null);
  assert.equal(step(mended, { kind: 'key', key: 'enter' }).effects, [
    { do: 'pause', tokens: ['token-nightly-backup'], until: iso(NOON + 15 * MINUTE) },
  ]);
});

test('one key marks all snitches that the filter shows, and the same key again none', () => {
  const marked = after(full, ...keys('/'), ...typed('tag:db'), ...keys('enter', '*'));
  assert.equal([...marked.marks].sort(), ['token-nightly-backup', 'token-日本語のジョブ']);
  assert.is(after(marked, ...keys('*')).marks.size, 0);
});

test('snitches for which an action failed are marked again, as far as they still exist', () => {
  const sent = after(full, ...keys('*', 'u'));
  assert.is(sent.marks.size, 0);
  const failed = after(sent, { kind: 'unfinished', tokens: ['token-web-certs', 'token-gone'] });
  assert.equal([...failed.marks], ['token-web-certs']);
});

test('a word of the filter is looked for in names, tags and notes', () => {
  const filtered = (text: string) => namesShown(after(full, ...keys('/'), ...typed(text)));
  assert.equal(filtered('prod'), ['nightly-backup']);
  assert.equal(filtered('tokyo'), ['日本語のジョブ']);
  assert.equal(filtered('certs'), ['web-certs']);
});

test('ctrl+u goes a page up, as ctrl+d goes one down', () => {
  assert.is(selectedName(after(many, ...keys('ctrl+d', 'ctrl+d', 'ctrl+u'))), 'job-011');
});

const told = (token: string | null): Event => {
  const about = { name: 'a', notes: '', tags: [], status: 'missing', previous_status: 'healthy' };
  const snitchOf = token === null ? null : { ...about, token };
  const alert = { id: 'a1', type: 'snitch.missing', timestamp: iso(NOON), snitch: snitchOf, deliveries: [] };
  return { kind: 'alerts', alerts: [alert], deliveries: [], error: null };
};

test('enter on an alert opens its snitch, and escape leads back to the alert', () => {
  const alerts = after(full, ...keys('t'), told('token-web-certs'));
  assert.equal(effectsOf(alerts, 'enter'), [{ do: 'load-detail', token: 'token-web-certs' }]);
  const open = after(alerts, ...keys('enter'));
  assert.ok(open.screen.kind === 'detail' && open.screen.token === 'token-web-certs');
  assert.is(after(open, ...keys('escape')).screen.kind, 'alerts');
  assert.equal(effectsOf(open, 'escape'), [{ do: 'load-alerts' }], 'others may have come in meanwhile');
  assert.is(after(open, ...keys('escape', 'escape')).screen.kind, 'table');
  for (const token of ['token-gone', null]) {
    const stayed = after(full, ...keys('t'), told(token), ...keys('enter'));
    assert.is(stayed.screen.kind, 'alerts');
    assert.ok(stayed.message);
  }
});

test('what is selected among alerts stays selected, whatever comes in and however small the screen', () => {
  const listed = (...numbers: number[]): Event => {
    const alerts = numbers.map((number) => ({
      id: `a${number}`,
      type: 'snitch.missing' as const,
      timestamp: iso(NOON + number),
      snitch: null,
      deliveries: [],
    }));
    return { kind: 'alerts', alerts, deliveries: [], error: null };
  };
  const selectedAlert = ({ screen }: State) =>
    screen.kind === 'alerts' ? screen.alerts?.[screen.cursor]?.id : undefined;
  const isOnScreen = (state: State) => {
    const { screen } = state;
    return (
      screen.kind === 'alerts' &&
      screen.cursor >= screen.top &&
      screen.cursor < screen.top + listHeight(state)
    );
  };
  const open = after(full, ...keys('t'), listed(3, 2, 1), ...keys('j'));
  assert.is(selectedAlert(open), 'a2');
  assert.is(selectedAlert(after(open, listed(5, 4, 3, 2, 1))), 'a2');
  assert.is(
    selectedAlert(after(open, listed(3, 1))),
    'a1',
    'another one takes the place of one that is gone',
  );
  assert.is(selectedAlert(after(open, listed())), undefined);
  const newest = after(full, ...keys('t'), listed(1), listed(2, 1));
  assert.is(selectedAlert(newest), 'a2', 'nobody has moved');
  const long = after(full, ...keys('t'), listed(...Array.from({ length: 30 }, (_, index) => 30 - index)));
  const low = after(long, ...keys(...'jjjjjjjj'), { kind: 'resized', columns: 40, rows: 8 });
  assert.equal([selectedAlert(low), isOnScreen(low)], ['a22', true]);
  const pushed = after(low, listed(...Array.from({ length: 50 }, (_, index) => 50 - index)));
  assert.equal([selectedAlert(pushed), isOnScreen(pushed)], ['a22', true]);
});

test('what is on its way is read again until it has arrived', () => {
  const delivery = {
    id: 'd1',
    alert: 'a1',
    channel: 'webhook',
    target: 'https://example.com',
    type: 'snitch.missing',
    snitch: null,
    state: 'pending',
    sending: true,
    attempts: 1,
    last_error: null,
    next_attempt_at: iso(NOON + MINUTE),
    delivered_at: null,
  } as const;
  const listed = (changes: Partial<WireDelivery>): Event => {
    const deliveries = [{ ...delivery, ...changes }];
    const alert = { id: 'a1', type: 'snitch.missing', timestamp: iso(NOON), snitch: null, deliveries };
    return { kind: 'alerts', alerts: [alert], deliveries, error: null };
  };
  /** How often a minute of a screen reads it again. */
  const reads = (state: State) => {
    let present = state;
    let count = 0;
    for (let second = 1; second <= 60; second += 1) {
      const { state: next, effects } = step(present, { kind: 'tick', now: NOON + second * 1_000 });
      present = next;
      count += effects.length;
    }
    return count;
  };
  const open = after(full, ...keys('t'));
  assert.equal([reads(open), reads(after(open, listed({})))], [0, 12]);
  assert.is(reads(after(open, listed({ sending: false, next_attempt_at: iso(NOON) }))), 12);
  assert.is(reads(after(open, listed({ sending: false, next_attempt_at: iso(NOON + HOUR) }))), 0, 'later');
  assert.is(reads(after(open, listed({ state: 'delivered', sending: false }))), 0);
  const lost: Event = { kind: 'link', link: { state: 'lost', error: 'away', retryAt: null } };
  assert.is(reads(after(open, listed({}), lost)), 0);
  assert.is(reads(after(open, listed({}), ...keys('escape'))), 0, 'on the table');
});

test('only a dead delivery is sent again, and none where nothing may be changed', () => {
  const delivery = { id: 'd1', alert: 'a1', channel: 'email', target: 'a@b.example', attempts: 1 } as const;
  const rest = {
    last_error: null,
    next_attempt_at: null,
    delivered_at: null,
    type: 'snitch.missing',
    snitch: null,
    sending: false,
  };
  const listed = (state: 'pending' | 'delivered' | 'dead'): Event => ({
    kind: 'alerts',
    alerts: [],
    deliveries: [{ ...delivery, ...rest, state }],
    error: null,
  });
  const on = (state: State, which: 'pending' | 'delivered' | 'dead') =>
    effectsOf(after(state, ...keys('t', 'tab'), listed(which)), 'enter');
  assert.equal(on(full, 'dead'), [{ do: 'retry', delivery: 'd1' }]);
  assert.equal(on(full, 'pending'), []);
  assert.equal(on(full, 'delivered'), []);
  assert.equal(on({ ...full, readonly: true }, 'dead'), []);
});

test('tags are added and removed on all marked', () => {
  assert.equal(effectsOf(full, '#', ...'new', 'space', ...'-db', 'enter'), [
    { do: 'tag', tokens: ['token-nightly-backup'], add: ['new'], remove: ['db'] },
  ]);
});

test('deleting asks, and only y is yes', () => {
  const asking = after(full, ...keys('d'));
  assert.equal(asking.overlay, { kind: 'delete', token: 'token-nightly-backup' });
  assert.equal(effectsOf(asking, 'y'), [{ do: 'delete', token: 'token-nightly-backup' }]);
  for (const key of ['n', 'enter', 'escape', 'd']) assert.equal(effectsOf(asking, key), [], key);
});

test('the question names the snitch that it was asked about, whatever moves meanwhile', () => {
  const asking = after(full, ...keys('d'));
  const moved = after(asking, {
    kind: 'changes',
    changed: [snitch('aaa', { status: 'failed' })],
    deleted: [],
    at: NOON,
  });
  assert.equal(effectsOf(moved, 'y'), [{ do: 'delete', token: 'token-nightly-backup' }]);
});

test('what somebody types is no command to the table when others delete the snitch meanwhile', () => {
  const gone: Event = { kind: 'changes', changed: [], deleted: ['token-nightly-backup'], at: NOON };
  for (const key of ['e', 'a', '#', 'p']) {
    const left = after(full, ...keys('enter', key), gone);
    assert.equal([left.screen.kind, left.message?.text], ['table', 'The snitch was deleted.'], key);
    assert.equal(effectsOf(left, 'd', 'y'), [], key);
    assert.is(after(left, ...keys('d', 'y')).overlay?.kind, left.overlay?.kind, key);
  }
});

test('a form sends what was typed, and keeps it when the server refuses', () => {
  const form = after(full, ...keys('n'), ...typed('job'), ...keys('tab', 'ctrl+u'), ...typed('often'));
  const { state, effects } = step(form, { kind: 'key', key: 'enter' });
  assert.equal(effects, [
    {
      do: 'save',
      token: null,
      input: { name: 'job', interval: 'often', alert_type: 'basic', tags: [], alert_email: [], notes: '' },
    },
  ]);
  const validations = [{ attribute: 'interval', message: 'is not a valid interval' }];
  const refused = after(state, { kind: 'refused', error: 'invalid', validations });
  assert.ok(refused.overlay?.kind === 'form');
  assert.equal(refused.overlay.problems, { interval: 'is not a valid interval' });
  assert.is(refused.overlay.focus, 1);
  assert.is(refused.overlay.busy, false);
  assert.is(after(state, { kind: 'saved', token: 'token-web-certs' }).overlay, null);
});

test('an answer to a form that was left touches no other form, and a refusal is still told', () => {
  const sent = after(full, ...keys('n'), ...typed('first'), ...keys('enter'));
  const validations = [{ attribute: 'name', message: 'is taken' }];
  const refusal: Event = { kind: 'refused', error: 'invalid', validations };
  const left = after(sent, ...keys('escape'), refusal);
  assert.equal([left.overlay, left.message?.tone], [null, 'bad']);
  assert.is(left.message?.text, 'Not saved: name is taken');
  const next = after(sent, ...keys('escape', 'n'), ...typed('second'));
  assert.equal(after(next, { kind: 'saved', token: 'token-web-certs' }).overlay, next.overlay);
  assert.equal(after(next, refusal).overlay, next.overlay);
});

test('an edit sends only what was changed, line ends included', () => {
  const notes = 'first\nC:\\new';
  const state = after(beginning(), read([snitch('job', { notes })]));
  const form = after(state, ...keys('e'));
  assert.equal(effectsOf(form, 'enter'), []);
  assert.equal(effectsOf(form, 'ctrl+u', ...'renamed', 'enter'), [
    { do: 'save', token: 'token-job', input: { name: 'renamed' } },
  ]);
  assert.equal(effectsOf(form, 'up', '!', 'enter'), [
    { do: 'save', token: 'token-job', input: { notes: `${notes}!` } },
  ]);
});

test('read-only, no key changes anything', () => {
  const state = { ...full, readonly: true };
  for (const key of ['p', 'u', 'a', 'A', 'e', 'd', '#', 'n']) {
    const { state: next, effects } = step(state, { kind: 'key', key });
    assert.is(next.overlay, null, key);
    assert.equal(effects, [], key);
    assert.match(next.message!.text, 'read-only');
  }
  assert.is(effectsOf(state, 'y')[0]!.do, 'copy');
});

test('a click selects, a second one opens, the wheel scrolls', () => {
  const clicked = after(full, { kind: 'click', column: 5, row: 4 });
  assert.is(selectedName(clicked), '日本語のジョブ');
  assert.is(after(clicked, { kind: 'click', column: 5, row: 4 }).screen.kind, 'detail');
  assert.is(selectedName(after(full, { kind: 'wheel', by: 1 })), 'brand-new');
  assert.is(after(full, { kind: 'click', column: 5, row: 15 }).screen.kind, 'table');
});

test('a snitch that is deleted elsewhere closes its details', () => {
  const open = after(full, ...keys('enter'));
  assert.is(open.screen.kind, 'detail');
  const closed = after(open, { kind: 'changes', changed: [], deleted: ['token-nightly-backup'], at: NOON });
  assert.is(closed.screen.kind, 'table');
  assert.match(closed.message!.text, 'deleted');
});

test('a text scrolls no further than its end, and back at once', () => {
  const open = after(full, ...keys('enter', 'G', 'G', 'j', 'j'));
  assert.ok(open.screen.kind === 'detail' && open.screen.scroll < 20);
  const { scroll } = open.screen;
  const back = after(open, ...keys('k'));
  assert.ok(back.screen.kind === 'detail' && back.screen.scroll === Math.max(0, scroll - 1));
});

test('a change of the open snitch reads its details again', () => {
  const open = after(full, ...keys('enter'));
  const event = { kind: 'changes', changed: [snitch('nightly-backup')], deleted: [], at: NOON } as const;
  assert.equal(step(open, event).effects, [{ do: 'load-detail', token: 'token-nightly-backup' }]);
});

test('a check-in shows in the strip at once', () => {
  const detail = {
    deadlineAt: NOON,
    missingSince: null,
    timezone: 'UTC',
    period: { start: NOON, end: NOON + HOUR },
    checkIns: [],
    more: false,
    readAt: NOON,
    stale: false,
  };
  const known = after(full, { kind: 'row', token: 'token-web-certs', detail });
  const changed = [snitch('web-certs', { interval: 'weekly', checked_in_at: iso(NOON) })];
  const row = after(known, { kind: 'changes', changed, deleted: [], at: NOON }).rows.get('token-web-certs');
  assert.equal(row?.checkIns, [{ at: iso(NOON), outcome: 'healthy' }]);
  assert.is(row?.stale, true);
});

test('details of rows are forgotten before they fill the memory', () => {
  const detail = {
    deadlineAt: NOON,
    missingSince: null,
    timezone: 'UTC',
    period: { start: NOON, end: NOON + HOUR },
    checkIns: [],
    more: false,
    readAt: NOON,
    stale: false,
  };
  const events = Array.from(
    { length: 2_000 },
    (_, index) => ({ kind: 'row', token: `t-${index}`, detail }) as const,
  );
  assert.ok(after(full, ...events).rows.size <= 500);
});

test('a click on a title sorts by its column, and a second one the other way round', () => {
  const wide = after(beginning(100, 16), read(FLEET));
  const click = (column: number): Event => ({ kind: 'click', column, row: 2 });
  const byName = after(wide, click(14));
  assert.equal(byName.collection.arrangement, { filter: '', sort: 'name', reverse: false });
  assert.is(after(byName, click(14)).collection.arrangement.reverse, true);
  const title = 'STATUS    NAME                            INTERVAL    LAST   DUE';
  const byDue = after(byName, click(2 + title.indexOf('DUE')));
  assert.equal(byDue.collection.arrangement, { filter: '', sort: 'due', reverse: false });
  assert.equal(after(wide, click(0)), wide, 'left of the columns is no title');
  assert.equal(after(wide, click(95)), wide, 'TAGS is no order');
  assert.equal(after(wide, ...keys('?'), click(14)).collection, wide.collection);
});

test.run();
