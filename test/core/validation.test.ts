/** What a client may say of a snitch, a pause, tags and members, and what each refusal says. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readNewSnitch } from '../../src/core/snitch-input.ts';
import {
  type Checked,
  isEmailAddress,
  parseTimestamp,
  tooManyTags,
  validateMembers,
  validateNewSnitch,
  validatePause,
  validateSnitchChanges,
  validateTags,
} from '../../src/core/validation.ts';

const test = suite('validation');

/** `attribute message`, one for each refusal. */
function refusals({ validations = [] }: Checked<unknown>): string[] {
  return validations.map(({ attribute, message }) => `${attribute} ${message}`);
}

const LEAST = { name: 'nightly', interval: 'daily' };
const NOT_AN_OBJECT = ['body must be a JSON object'];
const addresses = (count: number) => Array.from({ length: count }, (_, index) => `a${index}@example.com`);
const words = (count: number) => Array.from({ length: count }, (_, index) => `tag-${index}`);

test('a new snitch needs a name and an interval, and has the rest by default', () => {
  assert.equal(validateNewSnitch(LEAST), {
    value: { ...LEAST, alertType: 'basic', notes: '', tags: [], alertEmail: [] },
  });
  const missing = ["name can't be blank", "interval can't be blank"];
  for (const body of [undefined, {}, { name: ' ', interval: '' }, { name: null, interval: null }]) {
    assert.equal(refusals(validateNewSnitch(body)), missing, JSON.stringify(body));
  }
  for (const body of [null, [], 'text', 7]) assert.equal(refusals(validateNewSnitch(body)), NOT_AN_OBJECT);
});

test('the interval may stand in a type, as older clients send it', () => {
  const intervalOf = (body: object) => validateNewSnitch({ name: 'n', ...body }).value?.interval;
  assert.is(intervalOf({ type: { interval: 'hourly' } }), 'hourly');
  assert.is(intervalOf({ interval: 'daily', type: { interval: 'hourly' } }), 'daily');
  assert.is(intervalOf({ interval: ' ', type: { interval: 'hourly' } }), 'hourly');
  assert.is(intervalOf({ interval: 'daily', type: 'hourly' }), 'daily');
  const refused = (body: object) => refusals(validateNewSnitch({ name: 'n', ...body }));
  assert.equal(refused({ interval: '', type: { interval: '' } }), ["interval can't be blank"]);
  assert.equal(refused({ interval: 'weekend' }), ['interval is not a valid interval']);
  assert.equal(refused({ interval: 5 }), ['interval is not a valid interval']);
  assert.equal(validateSnitchChanges({ type: { interval: 'hourly' } }), { value: { interval: 'hourly' } });
  assert.equal(refusals(validateSnitchChanges({ interval: null })), ["interval can't be blank"]);
});

test('a change has what is given, and nothing else', () => {
  assert.equal(validateSnitchChanges(), { value: {} });
  const body: unknown = JSON.parse('{"name":"n","owner":"x","__proto__":{"notes":"y"}}');
  assert.equal(validateSnitchChanges(body), { value: { name: 'n' } });
  assert.equal(refusals(validateSnitchChanges([])), NOT_AN_OBJECT);
});

test('a blank public name is none, and another one a line of its own', () => {
  const publicName = (given: unknown) => validateSnitchChanges({ public_name: given }).value?.publicName;
  assert.equal([publicName(''), publicName('  '), publicName(null)], [null, null, null]);
  assert.is(publicName('Backup'), 'Backup');
  assert.is(refusals(validateSnitchChanges({ public_name: 'x\ny' })).length, 1);
  assert.is(refusals(validateSnitchChanges({ public_name: 5 })).length, 1);
});

test('smart needs an interval of an hour or more, by what is given and what is stored', () => {
  const refused = ['alert_type smart is not available for minute intervals'];
  const smart = { alert_type: 'smart' };
  assert.equal(refusals(validateNewSnitch({ ...LEAST, ...smart, interval: '15_minute' })), refused);
  assert.equal(refusals(validateNewSnitch({ ...LEAST, ...smart, interval: 'hourly' })), []);
  assert.equal(
    refusals(validateSnitchChanges(smart, { interval: '15_minute', alertType: 'basic' })),
    refused,
  );
  assert.equal(refusals(validateSnitchChanges({ interval: '5_minute' }, { alertType: 'smart' })), refused);
  assert.equal(
    refusals(validateSnitchChanges({ ...smart, interval: 'daily' }, { interval: '15_minute' })),
    [],
  );
  assert.equal(refusals(validateSnitchChanges(smart)), [], 'where nothing is stored, nothing is known');
  assert.equal(refusals(validateNewSnitch({ ...LEAST, alert_type: 'clever' })), [
    'alert_type must be basic or smart',
  ]);
  assert.is(validateNewSnitch({ ...LEAST, alert_type: '' }).value?.alertType, 'basic');
  // One refusal of the interval is enough.
  assert.equal(refusals(validateSnitchChanges({ ...smart, interval: 'x' }, { interval: '5_minute' })), [
    'interval is not a valid interval',
  ]);
  assert.equal(
    refusals(validateSnitchChanges({ alert_type: 'x' }, { interval: '5_minute', alertType: 'smart' })),
    ['alert_type must be basic or smart'],
  );
});

test('smart is refused with a schedule, and said once', () => {
  const said = { timezone: 'UTC', now: 0 };
  const body = { ...LEAST, schedule: { cron: '0 3 * * *' }, alert_type: 'smart' };
  const refused = refusals(readNewSnitch(body, said));
  assert.is(refused.length, 1);
  assert.match(refused[0] ?? '', /^alert_type .*schedule/);
});

test('a name is one line of well-formed text, by its characters at most 255', () => {
  const refused = (name: unknown) => refusals(validateNewSnitch({ ...LEAST, name }));
  assert.equal(refused('🚨'.repeat(255)), []);
  assert.equal(refused('🚨'.repeat(256)), ['name is too long (maximum is 255 characters)']);
  assert.equal(refused('a\nb'), ['name must not contain control characters']);
  assert.equal(refused('\ud800'), ['name must be well-formed Unicode']);
  assert.equal(refused(7), ['name must be a string']);
});

test('notes may have lines, and at most 10,000 characters', () => {
  const notes = (given: unknown) => validateNewSnitch({ ...LEAST, notes: given });
  assert.is(notes('a\r\n\tb').value?.notes, 'a\r\n\tb');
  assert.is(notes(null).value?.notes, '');
  assert.is(notes('x'.repeat(10_000)).value?.notes.length, 10_000);
  assert.equal(refusals(notes('x'.repeat(10_001))), ['notes is too long (maximum is 10000 characters)']);
  assert.equal(refusals(notes('\u0007')), [
    'notes must not contain control characters other than newlines and tabs',
  ]);
  assert.equal(refusals(notes('\ud800')), ['notes must be well-formed Unicode']);
  assert.equal(refusals(notes(7)), ['notes must be a string']);
});

test('tags keep their order, and blank ones and repetitions are dropped', () => {
  const tags = (given: unknown) => validateNewSnitch({ ...LEAST, tags: given });
  assert.equal(tags(['b', '', 'a', ' ', 'b']).value?.tags, ['b', 'a']);
  assert.equal(tags(null).value?.tags, []);
  assert.equal(refusals(tags('a')), ['tags must be an array of strings']);
  assert.equal(refusals(tags([7])), ['tags must be a string']);
  assert.equal(refusals(tags(['x'.repeat(100)])), []);
  assert.equal(refusals(tags(['x'.repeat(101)])), ['tags is too long (maximum is 100 characters)']);
  assert.equal(refusals(tags([...words(50), 'tag-0'])), []);
  assert.equal(refusals(tags(words(51))), ['tags has too many tags (maximum is 50)']);
});

test('tags that are added are one or more, and a snitch has at most 50', () => {
  assert.equal(validateTags(['a', 'a']), { value: ['a'] });
  assert.equal(refusals(validateTags([])), ["tags can't be blank"]);
  assert.equal(refusals(validateTags(undefined)), ['tags must be an array of strings']);
  assert.is(tooManyTags(words(50)), null);
  assert.equal(tooManyTags(words(51)), {
    attribute: 'tags',
    message: 'has too many tags (maximum is 50)',
  });
});

test('addresses may be a list or a text with commas, each once and at most 50', () => {
  const emails = (given: unknown) => validateNewSnitch({ ...LEAST, alert_email: given });
  const refused = (given: unknown) => refusals(emails(given));
  assert.equal(emails(' a@x.org,b@x.org , a@x.org,').value?.alertEmail, ['a@x.org', 'b@x.org']);
  assert.equal(emails([' a@x.org ', '']).value?.alertEmail, ['a@x.org']);
  assert.equal(emails(null).value?.alertEmail, []);
  assert.equal(refused(7), ['alert_email must be an array of addresses or a comma-separated string']);
  assert.equal(refused([7]), ['alert_email must be an array of addresses']);
  assert.equal(refused('no\u202ebody'), ['alert_email "nobody" is not an email address']);
  assert.equal(refused('x'.repeat(200)), [`alert_email "${'x'.repeat(80)}" is not an email address`]);
  assert.equal(refused([...addresses(50), 'a0@example.com']), []);
  assert.equal(refused(addresses(51)), ['alert_email has too many addresses (maximum is 50)']);
});

test('a case may have 200 members', () => {
  assert.equal(validateMembers(addresses(2)), { value: addresses(2) });
  assert.equal(refusals(validateMembers(addresses(200))), []);
  assert.equal(refusals(validateMembers(addresses(201))), [
    'members has too many addresses (maximum is 200)',
  ]);
});

test('an address is a plain one, of a length that mail allows', () => {
  const host = `${'h'.repeat(63)}.${'h'.repeat(63)}.${'h'.repeat(61)}`;
  const longest = `${'l'.repeat(64)}@${host}`;
  assert.is(longest.length, 254);
  for (const good of ['a@b', 'a.b+c@d-e.example', longest]) assert.ok(isEmailAddress(good), good);
  const bad = [
    '',
    'a',
    '@b',
    'a@',
    'a@b@c',
    'a b@c',
    'a@-b',
    'a@b-',
    'a@b..c',
    '.a@b',
    'a.@b',
    '"a"@b',
    'a@b\n',
  ];
  for (const text of [...bad, `l${longest}`, `${longest}h`, `${'l'.repeat(65)}@b`, `a@${'h'.repeat(64)}`]) {
    assert.not(isEmailAddress(text), text);
  }
});

test('a pause ends at the next healthy check-in, by hand, or at a time in the future', () => {
  const now = Date.parse('2026-03-10T10:00:00Z');
  const until = (given: unknown) => validatePause({ until: given }, now);
  for (const body of [undefined, null, {}, { until: null }, { until: ' ' }, { until: 'healthy' }]) {
    assert.equal(validatePause(body, now), { value: { kind: 'healthy' } }, JSON.stringify(body));
  }
  assert.equal(until('unpaused'), { value: { kind: 'unpaused' } });
  assert.equal(until('2026-03-10T10:00:00.001Z'), { value: { kind: 'time', at: now + 1 } });
  assert.equal(refusals(until('2026-03-10T10:00:00Z')), ['until must be in the future']);
  const unknown = ['until must be healthy, unpaused or an ISO 8601 time in the future'];
  for (const given of ['soon', 7, {}]) assert.equal(refusals(until(given)), unknown);
  for (const body of ['text', [], 7]) assert.equal(refusals(validatePause(body, now)), NOT_AN_OBJECT);
});

test('a time may leave out what is UTC or zero', () => {
  const at = Date.parse('2026-03-10T10:20:00Z');
  const same = [
    '2026-03-10T10:20',
    ' 2026-03-10 10:20:00 ',
    '2026-03-10t10:20:00z',
    '2026-03-10T11:20+01',
    '2026-03-10T11:20:00,000+01:00',
    '2026-03-10T08:20:00-0200',
    '20260310T102000Z',
    '20260310T112000.000+0100',
  ];
  for (const text of same) assert.is(parseTimestamp(text), at, text);
  assert.is(parseTimestamp('2026-03-10'), Date.parse('2026-03-10T00:00:00Z'));
  assert.is(parseTimestamp('2026-03-10T10:20:00.123456789Z'), at + 123);
  for (const text of ['', '2026', '2026-13-01', '2026-02-30', '2026-03-10T25:00', '10:20', '2026-03-10T10']) {
    assert.is(parseTimestamp(text), null, text);
  }
});

test.run();
