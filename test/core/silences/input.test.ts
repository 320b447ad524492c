import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { validateNewSilence, validateSilenceChanges } from '../../../src/core/silences/input.ts';

const test = suite('what may be said of a silence');

const NOW = Date.parse('2026-03-01T10:00:00Z');
const AROUND = { timezone: 'Europe/Berlin', now: NOW };
const HOUR = 3_600_000;

function read(body: unknown) {
  return validateNewSilence(body, AROUND);
}

/** What is wrong, as `attribute message`. */
function faults(body: unknown): string[] {
  return (read(body).validations ?? []).map(({ attribute, message }) => `${attribute} ${message}`);
}

test('once: from now on, or from a time, until a time or for so long', () => {
  const time = (body: object) => read({ all: true, ...body }).value?.time;
  const once = (from: number, to: number) => ({ kind: 'once', from, to });
  assert.equal(time({ to: '2026-03-01T12:00:00+01:00' }), once(NOW, NOW + HOUR));
  assert.equal(time({ duration: 1800 }), once(NOW, NOW + HOUR / 2));
  assert.equal(time({ from: '2026-03-01T11:00:00Z', duration: 1800 }), once(NOW + HOUR, NOW + 1.5 * HOUR));
  assert.equal(time({ from: '2026-03-01T09:00:00Z', to: '2026-03-01T11:00:00Z' }), once(NOW, NOW + HOUR));
  assert.equal(time({ duration: 60, schedule: null, timezone: null }), once(NOW, NOW + 60_000));
});

test('recurring: a schedule, a duration and perhaps a zone', () => {
  const { value } = read({
    tags: ['db', 'db'],
    schedule: { cron: '0  3 * * 0' },
    duration: 7200,
    timezone: 'utc',
    note: 'x',
  });
  assert.equal(value, {
    scope: { kind: 'tags', tags: ['db'] },
    time: { kind: 'recurring', schedule: { cron: '0 3 * * 0' }, duration: 2 * HOUR, timezone: 'UTC' },
    note: 'x',
  });
});

test('every fault is told at once, in words that say what to do', () => {
  const rows: [unknown, RegExp[]][] = [
    [[], [/^body must be a JSON object/]],
    [{}, [/^tags are missing: .*"tokens"/, /^to can't be blank: .*"duration"/]],
    [{ all: false, to: 'x' }, [/^tags are missing/, /^to must be an ISO 8601 time/]],
    [{ all: 'yes', duration: 60 }, [/^all must be true/]],
    [{ tags: ['a'], tokens: ['b'], all: true, duration: 60 }, [/^tags exclude tokens and all/]],
    [{ tags: [], duration: 60 }, [/^tags can't be blank/]],
    [{ tags: [7], duration: 60 }, [/^tags /]],
    [{ tags: Array.from({ length: 51 }, (_, index) => `t${index}`), duration: 60 }, [/^tags /]],
    [{ tokens: 'a', duration: 60 }, [/^tokens must be a list/]],
    [{ tokens: ['a', 7], duration: 60 }, [/^tokens must be a list/]],
    [{ tokens: ['a', ''], duration: 60 }, [/^tokens must be a list/]],
    [
      { tokens: Array.from({ length: 501 }, (_, index) => `t${index}`), duration: 60 },
      [/^tokens are too many: 500/],
    ],
    [{ all: true, duration: 59 }, [/^duration must be a whole number of seconds from 60/]],
    [{ all: true, duration: 60.5 }, [/^duration must be a whole number/]],
    [{ all: true, duration: 31 * 86_400 + 1 }, [/^duration must be .*31 days/]],
    [{ all: true, duration: 60, to: '2026-03-02' }, [/^duration excludes "to"/]],
    [{ all: true, to: '2026-03-01T10:00:00Z' }, [/^to must be in the future/]],
    [
      { all: true, from: '2026-03-01T12:00:00Z', to: '2026-03-01T11:00:00Z' },
      [/^to must be later than "from"/],
    ],
    [{ all: true, to: '2026-04-01T10:00:01Z' }, [/^to is more than 31 days/]],
    [{ all: true, from: '2027-03-03', duration: 60 }, [/^from must be within 366 days/]],
    [
      { all: true, from: 'soon', to: 7, note: 'x'.repeat(1_001) },
      [/^from /, /^to /, /^note is too long .*1000/],
    ],
    [{ all: true, duration: 60, note: {} }, [/^note must be a string/]],
    [{ all: true, schedule: { cron: '0 3 * * *' } }, [/^duration can't be blank: .*each silence/]],
    [
      { all: true, schedule: { cron: '0 3 * * *' }, duration: 86_400 },
      [/^duration must be shorter than the 1 day/],
    ],
    [
      { all: true, schedule: { cron: '*/30 * * * *' }, duration: 60 },
      [/^schedule must not begin more than once an hour/],
    ],
    [{ all: true, schedule: { every: 7200 }, duration: 60 }, [/^schedule "every" counts from check-ins/]],
    [{ all: true, schedule: { cron: '0 3 30 2 *' }, duration: 60 }, [/^schedule would never be due/]],
    [
      { all: true, schedule: { cron: 'x' }, duration: 0, timezone: 'Mars', to: 'x' },
      [/^timezone /, /^schedule /, /^duration /, /^to is nothing for/],
    ],
  ];
  for (const [body, expected] of rows) {
    const found = faults(body);
    assert.is(found.length, expected.length, `${JSON.stringify(body)}: ${found.join('; ')}`);
    for (const [index, pattern] of expected.entries()) assert.match(found[index] ?? '', pattern);
  }
});

test('the end of one that holds once may change, and the note of any', () => {
  const once = { time: { kind: 'once', from: NOW - HOUR, to: NOW + HOUR } } as const;
  const again = {
    time: { kind: 'recurring', schedule: { cron: '0 3 * * *' }, duration: HOUR, timezone: null },
  } as const;
  const words = (given: unknown, stored: typeof once | typeof again) =>
    validateSilenceChanges(given, stored, NOW).validations?.map(({ attribute }) => attribute);
  assert.equal(
    validateSilenceChanges({ to: '2026-03-01T13:00:00Z', note: 'y', tags: ['z'] }, once, NOW).value,
    {
      to: NOW + 3 * HOUR,
      note: 'y',
    },
  );
  const local = { to: '2026-03-01T13:00', timezone: 'Europe/Berlin' };
  assert.equal(validateSilenceChanges(local, once, NOW).value, { to: NOW + 2 * HOUR });
  assert.equal(words({ ...local, timezone: 'Mars/Olympus' }, once), ['timezone']);
  assert.equal(words({ to: '2026-03-01T09:30:00Z' }, once), ['to']);
  assert.equal(words({ to: '2026-03-01T13:00:00Z', note: 7 }, again), ['note', 'to']);
  assert.equal(words({ tags: ['z'] }, once), ['body']);
  assert.equal(validateSilenceChanges({}, again, NOW).value, {});
});

test.run();
