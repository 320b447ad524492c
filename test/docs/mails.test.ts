/** The mails that docs/alerts.md shows are those that the program writes. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { alertMessage } from '../../src/delivery/messages/email-message.ts';
import { AT, anAlert } from '../delivery/alerts.ts';
import { readPage } from './pages.ts';

const test = suite('mails in the documents');

const CASE = { id: 'case_1', name: 'Operations', timezone: 'Europe/Berlin' };
const HOUR = 3_600_000;

const [subjects, mail] = readPage('docs/alerts.md').blocks.filter(({ language }) => language === 'text');

function messageOf(alert: ReturnType<typeof anAlert>, output: string | null = null) {
  return alertMessage(alert, CASE, 'ops@example.com', 'example.com', { output });
}

const ERROR = anAlert({
  id: 'alert_k3m9q1v8',
  type: 'snitch.errored',
  snitch: { status: 'errored', tags: ['production', 'db'], notes: 'Runbook: wiki/backup' },
  details: { deadlineAt: null, exitStatus: 1, message: 'no space left on device' },
});

test('the subjects', () => {
  const alerts = [
    anAlert(),
    anAlert({ snitch: { previous_status: 'missing' }, details: { missingSince: AT - 24 * HOUR } }),
    ERROR,
    anAlert({ type: 'snitch.reporting', snitch: { status: 'healthy', previous_status: 'missing' } }),
  ];
  const written = alerts.map((alert) => messageOf(alert).subject);
  assert.is(subjects?.text, `${written.join('\n')}\n`);
});

test('a whole mail', () => {
  const output = 'copying /srv/data\ncp: error writing: No space left on device\n';
  assert.is(mail?.text, messageOf(ERROR, output).text);
});

test.run();
