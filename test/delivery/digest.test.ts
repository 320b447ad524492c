import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { digestEntry, digestMessage } from '../../src/delivery/digest.ts';
import { messageId } from '../../src/delivery/email-message.ts';
import { AT, aNotice, anAlert } from './alerts.ts';

const CASE = { id: 'case_1', name: 'Operations', timezone: 'Europe/Berlin' };

const digestOf = (alerts: Parameters<typeof digestEntry>[0][]) =>
  digestMessage(alerts.map(digestEntry), CASE, 'ann@example.com', 'example.com');

test('alerts are grouped by type, sorted by name, with their tags', () => {
  const { subject, text, html, date } = digestOf([
    anAlert({ id: 'a1', snitch: { name: 'web-10' } }),
    anAlert({ id: 'a2', snitch: { name: 'web-9', tags: ['eu', 'prod'] } }),
    anAlert({ id: 'a3', type: 'snitch.errored', snitch: { name: 'copy' }, details: { exitStatus: 3 } }),
    anAlert({ id: 'a4', type: 'snitch.reporting', snitch: { name: 'mail' } }),
    anAlert({ id: 'a5', at: AT + 2_000, snitch: { name: 'api' } }),
    anAlert({ id: 'a6', type: 'snitch.paused', snitch: { name: 'old\u202e' } }),
    aNotice({ id: 'a7' }),
  ]);
  assert.is(
    subject,
    '[Digest] 7 alerts of Operations: 3 missing, 1 with errors, 1 reporting, 1 paused, 1 blind',
  );
  const order = [
    'Missing (3)',
    'api',
    'web-9 [eu, prod]',
    'web-10',
    'Reported an error (1)',
    'copy, exit status 3',
  ];
  for (const part of [text, html]) {
    const places = [...order, 'Reporting again (1)', 'mail', 'Paused (1)', 'old\\u202e'].map((item) =>
      part.indexOf(item),
    );
    assert.ok(
      places.every((place) => place > 0),
      part,
    );
    assert.equal(
      places,
      [...places].sort((a, b) => a - b),
    );
  }
  assert.is(date.getTime(), AT + 2_000);
});

test('the body is bounded: the rest is counted', () => {
  const alerts = Array.from({ length: 5_000 }, (_, index) =>
    anAlert({
      id: `a${index}`,
      snitch: { name: `${index} ${'n'.repeat(240)}`, tags: ['t'.repeat(100), 'u'.repeat(100)] },
    }),
  );
  const { subject, text, html, references } = digestOf(alerts);
  assert.match(subject, '5000 alerts of Operations: 5000 missing');
  assert.match(text, 'and 4900 more');
  assert.ok(text.length < 100_000 && html.length < 100_000);
  assert.ok(references.length <= 50);
});

test('the message id does not depend on the order, and a digest of recoveries joins that of the alarms', () => {
  const alarms = Array.from({ length: 8 }, (_, index) => anAlert({ id: `alarm_${index}` }));
  const recoveries = alarms.map(({ id }) =>
    anAlert({ id: `recovery_${id}`, type: 'snitch.reporting', details: { threadId: id } }),
  );
  const first = digestOf(alarms);
  assert.is(digestOf([...alarms].reverse()).messageId, first.messageId);
  assert.is.not(digestOf(alarms.slice(1)).messageId, first.messageId);
  assert.equal(digestOf(recoveries).references, first.references);
  assert.ok(first.references.includes(messageId('alarm_3', 'ann@example.com', 'example.com')));
});

test.run();
