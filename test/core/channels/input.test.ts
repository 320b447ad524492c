/** Which settings a channel accepts, and how each refusal is worded. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type CaseChannel, CHANNEL_KINDS, type ChannelKind } from '../../../src/core/channel.ts';
import { validateChannelChanges, validateNewChannel } from '../../../src/core/channels/input.ts';
import { CHANNEL_SETTINGS, shownSettings } from '../../../src/core/channels/settings.ts';

const test = suite('input of channels');
const around = { commands: ['page'], refusalOf: () => null };

/** Settings that each kind takes. */
const GOOD: Record<ChannelKind, Record<string, unknown>> = {
  ntfy: { server: 'https://ntfy.example.com/', topic: 'ops', token: 'tk_abcdefgh' },
  gotify: { server: 'https://gotify.example.com/sub', token: 'AbCdEf' },
  pushover: { token: 'a'.repeat(30), user: 'u'.repeat(30) },
  slack: { url: 'https://hooks.slack.com/services/T0/B0/abcdefghijk' },
  mattermost: { url: 'https://chat.example.com/hooks/abcdefghijk' },
  discord: { url: 'https://discord.com/api/webhooks/123/abc-DEF_1' },
  teams: {
    url: 'https://x.environment.api.powerplatform.com:443/powerautomate/automations/direct/workflows/1/triggers/manual/paths/invoke?api-version=1&sp=%2Ftriggers&sv=1.0&sig=abc',
  },
  google_chat: { url: 'https://chat.googleapis.com/v1/spaces/A/messages?key=k&token=t' },
  rocketchat: { url: 'https://chat.example.com/hooks/1/abcdefghijk' },
  zulip: {
    site: 'https://x.zulipchat.com',
    email: 'bot@x.zulipchat.com',
    key: 'k'.repeat(32),
    channel: 'ops',
  },
  telegram: { token: '123456:abcdefghijklmnop', chat: -1001234567890, thread: 4 },
  matrix: { server: 'https://matrix.example.com', token: 'syt_x', room: '!abc:example.com' },
  pagerduty: { routing_key: 'r'.repeat(32) },
  opsgenie: { server: 'https://api.eu.opsgenie.com', key: 'k-1' },
  splunk_oncall: { url: 'https://alert.victorops.com/integrations/generic/20131114/alert/key/ops' },
  alertmanager: { url: 'http://user:pass@127.0.0.1:9093/am/api/v2/alerts' },
  apprise: { url: 'http://apprise.example.com:8000/notify/ops' },
  command: { command: 'page' },
};

const channel = (kind: ChannelKind): CaseChannel => {
  const { value } = validateNewChannel({ kind, settings: GOOD[kind] }, around);
  assert.ok(value, kind);
  return { id: 'chan_1', caseId: 'c', name: 'n', kind, ...value.fields, refused: null, createdAt: 0 };
};

const problemsOf = (body: unknown) =>
  (validateNewChannel(body, around).validations ?? []).map(
    ({ attribute, message }) => `${attribute} ${message}`,
  );

for (const kind of CHANNEL_KINDS) {
  test(`${kind}: what it needs is taken, and what is missing is named`, () => {
    const { settings } = channel(kind);
    assert.equal(Object.keys(settings).sort(), Object.keys(GOOD[kind]).sort());
    const required = Object.entries(CHANNEL_SETTINGS[kind]).filter(([, { optional }]) => !optional);
    assert.equal(
      problemsOf({ kind }),
      required.map(([name]) => `settings.${name} can't be blank`),
    );
    assert.match(
      problemsOf({ kind, settings: { ...GOOD[kind], colour: 'red' } })[0] ?? '',
      'has no "colour"',
    );
  });

  test(`${kind}: no secret is shown, and what is shown may come back`, () => {
    const stored = channel(kind);
    const shown = shownSettings(kind, stored.settings);
    const secrets = Object.entries(CHANNEL_SETTINGS[kind]).filter(([, { secret }]) => secret);
    for (const [name] of secrets) if (name in shown) assert.is(shown[name], '***');
    assert.not.match(JSON.stringify(shown), /pass|abcdefghij|syt_x|sig=/);
    const { value } = validateChannelChanges({ kind, settings: shown }, stored, around);
    assert.equal(value?.settings, stored.settings);
  });
}

test('a base address is kept without slashes and paths of the service', () => {
  assert.is(channel('ntfy').settings.server, 'https://ntfy.example.com');
  assert.is(channel('alertmanager').settings.url, 'http://user:pass@127.0.0.1:9093/am');
  assert.equal(shownSettings('alertmanager', channel('alertmanager').settings), {
    url: 'http://user:***@127.0.0.1:9093/am',
  });
});

test('the query of an address is kept byte for byte', () => {
  assert.is(channel('teams').settings.url, GOOD.teams.url);
});

const REFUSED: [ChannelKind, Record<string, unknown>, RegExp][] = [
  ['slack', { url: 'https://hooks.slack.com/triggers/T0/1/x' }, /starts a workflow/],
  ['slack', { url: 'https://hooks.slack.com/workflows/T0/1/x' }, /starts a workflow/],
  ['slack', { url: 'https://discord.com/api/webhooks/1/x' }, /is an address of discord/],
  ['discord', { url: 'https://discord.com/api/webhooks/1/x/slack' }, /leave off/],
  ['discord', { url: 'https://discord.com/channels/1/2' }, /is no webhook/],
  ['teams', { url: 'https://acme.webhook.office.com/webhookb2/x' }, /Office 365 connector/],
  ['teams', { url: 'https://prod-01.westeurope.logic.azure.com/workflows/x?sig=1' }, /former kind/],
  ['teams', { url: 'https://x.api.powerplatform.com/workflows/1' }, /lacks its signature/],
  ['google_chat', { url: 'https://chat.googleapis.com/v1/spaces/A/messages?key=k' }, /lacks key or token/],
  [
    'splunk_oncall',
    { url: 'https://alert.victorops.com/integrations/generic/1/alert/k/$routing_key' },
    /routing key/,
  ],
  ['apprise', { url: 'http://apprise.example.com:8000/' }, /must end with \/notify\//],
  ['ntfy', { topic: 'docs' }, /keeps for itself/],
  ['ntfy', { topic: 'a/b' }, /at most 64/],
  ['ntfy', { topic: 'x', token: 'two words' }, /ASCII without spaces/],
  ['ntfy', { topic: 'x', token: 'tk\r\nX-Evil: 1' }, /ASCII without spaces/],
  ['ntfy', { topic: 'x', server: 'ftp://x' }, /http/],
  ['ntfy', { topic: 'x', server: 'https://x/?a=1' }, /query/],
  ['telegram', { token: '123456:abcdefghijklmnop', chat: '../../x' }, /number of a chat/],
  ['telegram', { token: '1/../2:abcdefghijkl', chat: 1 }, /BotFather/],
  ['matrix', { server: 'https://m', token: 't', room: '#ops:m' }, /is an alias/],
  ['command', { command: 'rm' }, /is not under commands.*known: page/],
  ['pagerduty', { routing_key: 'short' }, /32 letters/],
  ['pagerduty', { routing_key: '***' }, /only how a secret is shown/],
];

for (const [kind, settings, words] of REFUSED) {
  test(`${kind} is not made with ${JSON.stringify(settings).slice(0, 70)}`, () => {
    const problems = problemsOf({ kind, settings });
    assert.is(problems.length, 1, problems.join('\n'));
    assert.match(problems[0] ?? '', words);
  });
}

test('the times of a route are checked, and null means the default', () => {
  const body = { kind: 'command', settings: GOOD.command };
  const office = { timezone: 'Europe/Berlin', days: ['mon'], from: '8:00', to: '18:00' };
  assert.equal(problemsOf({ ...body, after: null, hours: null, tags: null }), []);
  assert.equal(problemsOf({ ...body, after: 604_800, hours: office }), []);
  assert.match(problemsOf({ ...body, hours: { from: '08:00' } })[0] ?? '', /^hours needs a timezone/);
  for (const after of ['0', false, -1, 0.5, 604_801, Number.NaN]) {
    assert.match(problemsOf({ ...body, after })[0] ?? '', /^after must be a whole number of seconds/);
  }
});

test('events must be known, and make sense for the kind of channel', () => {
  const ask = (kind: ChannelKind, events: unknown) => problemsOf({ kind, settings: GOOD[kind], events });
  assert.equal(ask('slack', ['blind', 'missing', 'missing']), []);
  for (const events of [[], ['failed'], 'missing', {}, [1]]) assert.is(ask('slack', events).length, 1);
  assert.match(ask('pagerduty', ['missing', 'blind'])[0] ?? '', /open for ever/);
  assert.match(ask('pagerduty', ['reporting'])[0] ?? '', /needs missing or errored/);
});

test('an unknown kind, or one that is created elsewhere, is refused with a hint', () => {
  assert.equal(problemsOf({}), [`kind can't be blank`]);
  assert.match(problemsOf({ kind: 'icq' })[0] ?? '', /must be one of ntfy,/);
  assert.match(problemsOf({ kind: 'constructor' })[0] ?? '', /must be one of ntfy,/);
  assert.match(problemsOf({ kind: 'webhook' })[0] ?? '', /POST \/v1\/webhooks/);
  assert.match(problemsOf({ kind: 'email' })[0] ?? '', /PATCH \/v1\/case/);
  assert.match(problemsOf([])[0] ?? '', /^body/);
  assert.is(problemsOf({ kind: 'ntfy', settings: 5 }).length, 1);
  assert.is(problemsOf({ kind: 'ntfy', settings: { topic: { a: 1 } } }).length, 1);
});

test('a stored secret is never sent to another server', () => {
  const stored = channel('gotify');
  const change = (settings: unknown) => validateChannelChanges({ settings }, stored, around);
  const evil = { server: 'https://evil.example.com' };
  for (const settings of [evil, { ...evil, token: '***' }]) {
    assert.equal(change(settings).validations, [
      { attribute: 'settings.token', message: 'must be given again, because it would go to another server' },
    ]);
  }
  assert.is(change({ ...evil, token: 'new' }).value?.settings?.token, 'new');
  assert.is(change({ token: 'new' }).value?.settings?.server, stored.settings.server);
  const open = { ...channel('ntfy') };
  const moved = validateChannelChanges({ settings: { server: null } }, open, around);
  assert.is(moved.validations?.[0]?.attribute, 'settings.token', 'the default server is another one too');
});

test('settings that are left out stay, and null removes an optional one', () => {
  const stored = channel('ntfy');
  assert.equal(validateChannelChanges({ name: 'night' }, stored, around).value, { name: 'night' });
  const { value } = validateChannelChanges({ settings: { token: null } }, stored, around);
  assert.equal(value?.settings, { server: 'https://ntfy.example.com', topic: 'ops' });
  assert.is(validateChannelChanges({ kind: 'slack' }, stored, around).validations?.[0]?.attribute, 'kind');
});

test.run();
