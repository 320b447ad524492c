/** The message that all chats are sent, before each gets it in its own form. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { SnitchAlert } from '../../src/delivery/messages/alert-words.ts';
import { digestEntry } from '../../src/delivery/messages/digest-entry.ts';
import {
  alertServiceMessage,
  bodyText,
  digestServiceMessage,
  wholeText,
} from '../../src/delivery/messages/service-message.ts';
import { AT, aNotice, anAlert } from './alerts.ts';

const test = suite('messages of services');

const CASE = { id: 'case_1', name: 'Operations', timezone: 'Europe/Berlin' };
const LINK = { url: 'https://snitch.example.com/a/1.sig', words: 'Acknowledge' };

test('an alarm says what, since when, why and what to do, with a link', () => {
  const message = alertServiceMessage(anAlert(), CASE, () => LINK);
  assert.equal(message, {
    purpose: 'alarm',
    tone: 'bad',
    title: '[Missing] nightly-backup did not check in since 2026-11-20 03:04 (Europe/Berlin)',
    lines: [
      'Status: missing (before: healthy)',
      'Last check-in: 2026-11-20 03:04:03 (Europe/Berlin, UTC+01:00), 1 day 3 h before this alert',
      'Deadline: 2026-11-21 06:04:03 (Europe/Berlin, UTC+01:00), at the time of this alert',
      'Next reminder: 2026-11-22 06:04:03 (Europe/Berlin, UTC+01:00)',
      'Interval: every day',
      'Case: Operations',
      'See: snitch show nightly-backup',
    ],
    link: LINK,
  });
  const body = [...message.lines, `Acknowledge: ${LINK.url}`].join('\n');
  assert.is(bodyText(message), body);
  assert.is(wholeText(message), `${message.title}\n${body}`);
});

test('a notice explains itself, and lists what it concerns', () => {
  assert.equal(
    alertServiceMessage(aNotice(), CASE, () => null),
    {
      purpose: 'note',
      tone: 'plain',
      title: '[Blind] The service received no check-ins for 1 h 29 min from 2026-11-21 04:34 (Europe/Berlin)',
      lines: [
        'Jobs that were expected to check in during that time may have tried in vain, so no alarm is raised for them now. Any that does not check in by its new deadline is reported then.',
        'From: 2026-11-21 04:34:03 (Europe/Berlin, UTC+01:00)',
        'To: 2026-11-21 06:04:02 (Europe/Berlin, UTC+01:00)',
        'Length: 1 h 29 min',
        'Case: Operations',
        'The deadlines of 2 snitches were postponed:',
        'nightly-backup',
        'mail-queue',
        'See: snitch list',
      ],
      link: null,
    },
  );
});

test('a digest looks as bad as the last states in it, and not as the alarms that are over', async () => {
  const entriesOf = (type: SnitchAlert['type'], minute: number) =>
    ['one', 'two', 'three'].map((token, index) =>
      digestEntry(
        anAlert({
          id: `${token}${minute}`,
          type,
          at: AT + minute * 60_000,
          snitch: { token },
        }) as SnitchAlert,
        10 * minute + index,
      ),
    );
  const toneOf = async (entries: readonly ReturnType<typeof digestEntry>[]) => {
    const { title, tone } = await digestServiceMessage({ entries, case: CASE });
    return `${title.replace(/^.*: /, '')}: ${tone}`;
  };
  const missing = entriesOf('snitch.missing', 0);
  const recovered = entriesOf('snitch.reporting', 1);
  const paused = entriesOf('snitch.paused', 2);
  assert.is(await toneOf(missing), '3 newly missing: bad');
  assert.is(await toneOf([...missing, ...recovered]), '3 reporting again: good');
  assert.is(await toneOf([...missing, ...recovered.slice(1)]), '1 newly missing, 2 reporting again: bad');
  assert.is(await toneOf([...recovered, ...paused.slice(1)]), '1 reporting again, 2 paused: good');
  assert.is(await toneOf([...missing, ...paused]), '3 paused: plain');
});

test.run();
