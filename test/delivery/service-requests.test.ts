/** Where each kind of service is asked, and how it is told who asks: as its documentation wants it. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ChannelKind, ChannelSettings } from '../../src/core/channel.ts';
import { SERVICES } from '../../src/delivery/channels/services.ts';
import { alertServiceMessage } from '../../src/delivery/messages/service-message.ts';
import { AT, anAlert } from './alerts.ts';
import { SETTINGS } from './service-settings.ts';

const test = suite('requests of services');

const CASE = { id: 'case_1', name: 'Operations', timezone: 'Europe/Berlin' };

/** The requests that report an alarm, without their bodies. */
function asked(kind: ChannelKind, settings: ChannelSettings): string[] {
  const alert = anAlert();
  const incident = { key: 'alert_1', name: 'nightly-backup', since: AT, reference: null };
  const message = alertServiceMessage(alert, CASE, () => null);
  const found = SERVICES.find((one) => one.kind === kind);
  const post = { settings, message, alert, incident, id: 'snitch_alert_1_7', isTest: false, now: AT };
  return (found?.requests(post) ?? []).map(({ method = 'POST', url, headers = {} }) => {
    const shown = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    return [`${method} ${url}`, ...shown].join('\n');
  });
}

const JSON_TYPE = 'content-type: application/json';
const FORM_TYPE = 'content-type: application/x-www-form-urlencoded';
const BASE = 'https://service.example.com';

const EXPECTED: [ChannelKind, string, ...string[]][] = [
  ['ntfy', `POST ${BASE}/`, JSON_TYPE, 'authorization: Bearer tk_s3cr3t'],
  ['gotify', `POST ${BASE}/message`, JSON_TYPE, 'x-gotify-key: s3cr3t-token'],
  ['pushover', `POST ${BASE}/1/messages.json`, FORM_TYPE],
  ['slack', `POST ${BASE}/services/T0/B0/s3cr3ts3cr3t`, JSON_TYPE],
  ['mattermost', `POST ${BASE}/hooks/s3cr3ts3cr3t`, JSON_TYPE],
  ['discord', `POST ${BASE}/api/webhooks/1/s3cr3ts3cr3t?wait=true`, JSON_TYPE],
  ['teams', `POST ${BASE}/workflows/s3cr3ts3cr3t/invoke?sig=s3cr3t-sig`, JSON_TYPE],
  ['rocketchat', `POST ${BASE}/hooks/1/s3cr3ts3cr3t`, JSON_TYPE],
  [
    'zulip',
    `POST ${BASE}/api/v1/messages`,
    FORM_TYPE,
    `authorization: Basic ${Buffer.from('bot@example.com:s3cr3t-key').toString('base64')}`,
  ],
  ['telegram', `POST ${BASE}/bot123456:s3cr3ts3cr3t/sendMessage`, JSON_TYPE],
  [
    'matrix',
    `PUT ${BASE}/_matrix/client/v3/rooms/!room%3Aexample.com/send/m.room.message/snitch_alert_1_7`,
    JSON_TYPE,
    'authorization: Bearer s3cr3t-token',
  ],
  ['pagerduty', `POST ${BASE}/v2/enqueue`, JSON_TYPE],
  ['opsgenie', `POST ${BASE}/v2/alerts`, JSON_TYPE, 'authorization: GenieKey s3cr3t-key'],
  ['splunk_oncall', `POST ${BASE}/alert/s3cr3ts3cr3t/ops`, JSON_TYPE],
  ['alertmanager', `POST ${BASE}/api/v2/alerts`, JSON_TYPE],
  ['apprise', `POST ${BASE}/notify/s3cr3t-key`, JSON_TYPE, 'accept: application/json'],
];

test('each service is asked at its address, with its credentials where it looks for them', () => {
  for (const [kind, ...lines] of EXPECTED)
    assert.equal(asked(kind, SETTINGS[kind]), [lines.join('\n')], kind);
});

test('the address of a room in Google Chat keeps its key, and names the thread and the message', () => {
  const [request = ''] = asked('google_chat', SETTINGS.google_chat);
  const [, address = ''] = /^POST (\S+)/.exec(request) ?? [];
  assert.equal(Object.fromEntries(new URL(address).searchParams), {
    key: 's3cr3t-key',
    token: 's3cr3t-token',
    messageReplyOption: 'REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD',
    requestId: 'snitch_alert_1_7',
  });
});

test('without a server of its own a service is asked at its public address, and without a token openly', () => {
  const places: [ChannelKind, string][] = [
    ['ntfy', `POST https://ntfy.sh/\n${JSON_TYPE}`],
    ['pushover', `POST https://api.pushover.net/1/messages.json\n${FORM_TYPE}`],
    ['telegram', `POST https://api.telegram.org/bot123456:s3cr3ts3cr3t/sendMessage\n${JSON_TYPE}`],
    ['pagerduty', `POST https://events.pagerduty.com/v2/enqueue\n${JSON_TYPE}`],
    ['opsgenie', `POST https://api.opsgenie.com/v2/alerts\n${JSON_TYPE}\nauthorization: GenieKey s3cr3t-key`],
  ];
  for (const [kind, expected] of places) {
    const left = kind === 'ntfy' ? ['server', 'token'] : ['server'];
    const settings = Object.entries(SETTINGS[kind]).filter(([name]) => !left.includes(name));
    assert.equal(asked(kind, Object.fromEntries(settings)), [expected], kind);
  }
});

test.run();
