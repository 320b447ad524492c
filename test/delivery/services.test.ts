/** Each kind of service: what is sent to it, that names are only ever text, and what its answers mean. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Alert } from '../../src/core/alert.ts';
import type { ChannelKind } from '../../src/core/channel.ts';
import { snitchFields } from '../../src/delivery/channels/incident-words.ts';
import type { Post, Service } from '../../src/delivery/channels/service.ts';
import { SERVICES } from '../../src/delivery/channels/services.ts';
import type { Answer } from '../../src/delivery/http/http-sender.ts';
import type { SnitchAlert } from '../../src/delivery/messages/alert-words.ts';
import { digestEntry } from '../../src/delivery/messages/digest-entry.ts';
import { alertServiceMessage, digestServiceMessage } from '../../src/delivery/messages/service-message.ts';
import { AT, aNotice, anAlert } from './alerts.ts';
import { SETTINGS } from './service-settings.ts';

const test = suite('services');

const CASE = { id: 'case_1', name: 'Operations', timezone: 'Europe/Berlin' };
const LINK = { url: 'https://snitch.example.com/a/1.sig', words: 'Acknowledge' };

function postOf(kind: ChannelKind, alert: Alert, changes: Partial<Post> = {}): Post {
  return {
    settings: SETTINGS[kind],
    message: alertServiceMessage(alert, CASE, () => LINK),
    alert,
    incident: { key: 'alert_1', name: alert.snitch?.name ?? '', since: AT, reference: null },
    id: 'snitch_alert_1_7',
    isTest: false,
    now: AT + 60_000,
    ...changes,
  };
}

// biome-ignore lint/suspicious/noExplicitAny: the JSON of each service has another shape.
type Body = any;

const service = (kind: ChannelKind): Service => {
  const found = SERVICES.find((one) => one.kind === kind);
  assert.ok(found, kind);
  return found;
};

function answer(status: number, body: unknown = '', headers: Record<string, string> = {}): Answer {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { status, statusLine: `${status} Word`, headers, text };
}

/** All strings in a request, wherever they are. */
function stringsIn(request: { url: string; body: string; headers?: Record<string, string> }): string[] {
  const isForm = request.headers?.['content-type'] === 'application/x-www-form-urlencoded';
  const value: unknown = isForm
    ? Object.fromEntries(new URLSearchParams(request.body))
    : JSON.parse(request.body);
  const found: string[] = [];
  const walk = (one: unknown): void => {
    if (typeof one === 'string') found.push(one);
    else if (Array.isArray(one)) one.forEach(walk);
    else if (typeof one === 'object' && one !== null) Object.values(one).forEach(walk);
  };
  walk(value);
  return found;
}

const HOSTILE: Record<string, string> = {
  'a mention of everybody': '@everyone @here @channel @all @room',
  'a mention of Slack and Google': '<!channel> <!here|x> <@U123> <users/all> <https://evil.example|click>',
  'a mention of Zulip and Discord': '@**all** @_**everyone** <@&1> <#2> <t:0:R>',
  markdown: '# *b* _i_ ~s~ `c` [x](https://evil.example) > q | t ![i](https://e/x.png) ```\nfence\n```',
  HTML: '<b>x</b><a href="https://evil.example">y</a><script>alert(1)</script>&amp;&lt;"\'',
  'right-to-left marks': 'a\u202egnp.exe\u202c \u2066b\u2069 \u200fc \u200b',
  'control characters': 'a\u0000b\u001b[31mred\u0007\r\nX-Evil: 1',
  'lone surrogates': 'a\ud800b\udfff',
  '10,000 characters': 'x'.repeat(10_000),
  '10,000 signs of four bytes': '😀'.repeat(10_000),
  '10,000 marks': '*_<&"\\'.repeat(1_700),
};

/** What each service would read as markup or as a mention, in the texts that it shows. */
const LIVE: Partial<Record<ChannelKind, RegExp>> = {
  slack: /<(?!https:\/\/snitch\.example)|&(?!amp;|lt;|gt;)|(?<!\u200b)[*~`]|[*~`_](?!\u200b)/,
  mattermost: /@(?!\u200b)|<(?!\u200b)|(?<!\\)[*_~`#>|!]/,
  discord: /(?<!\\)[*_~`|>#[\]()<@]/,
  teams: /(?<!\\)[*_[\]()#`~]/,
  google_chat: /<(?!\u200b|https:\/\/snitch\.example)|[*_~`](?!\u200b)/,
  rocketchat: /@(?!\u200b)|(?<!\\)[*_~`[\]()#>!]/,
  zulip: /@(?!\u200b)/,
  telegram: /<(?!\/?b>)|&(?!amp;|lt;|gt;|quot;)|@(?!\u200b)/,
};

/** The parts of a request that the service shows as text with markup. */
function shownTexts(
  kind: ChannelKind,
  request: { url: string; body: string; headers?: Record<string, string> },
) {
  if (kind === 'zulip') return [new URLSearchParams(request.body).get('content') ?? ''];
  const body = JSON.parse(request.body);
  switch (kind) {
    case 'slack':
      return [body.text, body.attachments[0].text, body.attachments[0].fallback];
    case 'mattermost':
      return [body.text, body.attachments[0].text.replace(/\[Acknowledge\]\(https:\S+\)$/, '')];
    case 'discord':
      return [body.content, body.embeds[0].description];
    case 'teams':
      return body.attachments[0].content.body.map(({ text }: { text: string }) => text);
    case 'rocketchat':
      return [body.text, body.attachments[0].text];
    default:
      return [body.text];
  }
}

/** Without escaped characters: each backslash removes the next character too. */
const unescaped = (kind: ChannelKind, text: string) =>
  ['mattermost', 'discord', 'teams', 'rocketchat'].includes(kind) ? text.replace(/\\[\s\S]/gu, '') : text;

for (const { kind } of SERVICES) {
  for (const [what, name] of Object.entries(HOSTILE)) {
    test(`${kind}: ${what} in names, notes and messages is shown as text`, () => {
      const alert = anAlert({
        type: 'snitch.errored',
        snitch: { name, notes: name, tags: [name], status: 'errored' },
        details: { message: name, exitStatus: 1 },
      });
      for (const request of service(kind).requests(postOf(kind, alert))) {
        assert.ok(Buffer.byteLength(request.body) <= 200_000);
        const texts = stringsIn(request);
        for (const text of texts) {
          assert.ok(text.isWellFormed());
          // This breaks mentions for some services, so that they show them as plain text.
          assert.not.match(text.replaceAll('\u200b', ''), /(?!\n)[\p{Cc}\p{Cf}]/u);
        }
        for (const value of Object.values(request.headers ?? {})) assert.not.match(value, /[\r\n]/);
        const live = LIVE[kind];
        if (live) for (const text of shownTexts(kind, request)) assert.not.match(unescaped(kind, text), live);
      }
    });
  }

  test(`${kind}: an alarm, a recovery, a pause, a notice, a digest and a test can be sent`, () => {
    const { requests, chat } = service(kind);
    const recovery = anAlert({
      type: 'snitch.reporting',
      snitch: { status: 'healthy', previous_status: 'missing' },
    });
    const paused = anAlert({
      type: 'snitch.paused',
      snitch: { status: 'paused', previous_status: 'missing' },
    });
    for (const alert of [anAlert(), recovery, paused]) assert.is(requests(postOf(kind, alert)).length, 1);
    assert.is(requests(postOf(kind, aNotice())).length, chat ? 1 : 0);
    const trial = postOf(kind, recovery, { isTest: true });
    assert.is(requests(trial).length, chat ? 1 : 2);
  });

  test(`${kind}: what keeps an alert for now is tried again, and what never works is dead`, () => {
    const { meaning } = service(kind);
    const post = postOf(kind, anAlert());
    for (const status of [408, 425, 429, 500, 502, 503, 504])
      assert.is(meaning(answer(status), post).kind, 'retry', `${status}`);
    for (const status of [301, 302, 307, 400, 401, 403, 404, 405, 413]) {
      assert.is(meaning(answer(status), post).kind, 'dead', `${status}`);
    }
    const waiting = meaning(answer(429, '', { 'retry-after': '120' }), post);
    if (kind !== 'pushover' && kind !== 'opsgenie')
      assert.is('retryAfter' in waiting && waiting.retryAfter, 120_000);
    assert.is(meaning(answer(302, '', { location: 'https://evil.example/?s3cr3t' }), post).kind, 'dead');
  });
}

for (const { kind } of SERVICES.filter(({ chat }) => chat !== null)) {
  test(`${kind}: a digest of 5,000 says how many there are, how many are not named, and where all are`, async () => {
    const entries = Array.from({ length: 5_000 }, (_, index) =>
      digestEntry(
        anAlert({ id: `a${index}`, snitch: { token: `t${index}`, name: `job ${index}` } }) as SnitchAlert,
        index,
      ),
    );
    const room = service(kind).chat?.digestRoom;
    const message = await digestServiceMessage({ entries, case: CASE }, room);
    const [request] = service(kind).requests(postOf(kind, anAlert(), { alert: null, message }));
    const text = stringsIn(request!)
      .join('\n')
      .replace(/[\\\u200b]/g, '');
    assert.match(text, /5000 newly missing/);
    assert.match(text, /All of them: snitch list, snitch alerts/);
    const named = new Set([...text.matchAll(/• (job \d+), missing/g)].map(([, name]) => name)).size;
    assert.is(Number(/and (\d+) more/.exec(text)?.[1]), 5_000 - named, 'nothing is cut behind the last name');
  });
}

const OK: Record<string, [number, unknown]> = {
  ntfy: [200, { id: 'x' }],
  gotify: [200, { id: 1 }],
  pushover: [200, { status: 1 }],
  slack: [200, 'ok'],
  mattermost: [200, 'ok'],
  discord: [200, { id: '1' }],
  teams: [202, ''],
  google_chat: [200, { name: 'spaces/A/messages/1' }],
  rocketchat: [200, { success: true }],
  zulip: [200, { result: 'success', id: 42 }],
  telegram: [200, { ok: true, result: { message_id: 17, text: 'x' } }],
  matrix: [200, { event_id: '$e' }],
  pagerduty: [202, { status: 'success' }],
  opsgenie: [202, { result: 'Request will be processed' }],
  splunk_oncall: [200, { result: 'success' }],
  alertmanager: [200, ''],
  apprise: [200, ''],
};

test('discord: an alarm is red, and its end green', () => {
  const partsOf = (alert: Alert) => {
    const [request] = service('discord').requests(postOf('discord', alert));
    const { color } = JSON.parse(request?.body ?? '').embeds[0];
    return [color >> 16, (color >> 8) & 255, color & 255];
  };
  const [red = 0, ...others] = partsOf(anAlert({ type: 'snitch.missing' }));
  assert.ok(red > Math.max(...others), 'mostly red');
  const [noRed = 0, green = 0, noBlue = 0] = partsOf(anAlert({ type: 'snitch.reporting' }));
  assert.ok(green > Math.max(noRed, noBlue), 'mostly green');
});

test('the answer with which each service accepts a message', () => {
  for (const { kind, meaning } of SERVICES) {
    const [status, body] = OK[kind] ?? [0, ''];
    const outcome = meaning(answer(status, body), postOf(kind, anAlert()));
    assert.is(outcome.kind, 'delivered', kind);
    const references: Partial<Record<ChannelKind, string>> = { zulip: '42', telegram: '17', matrix: '$e' };
    assert.is('reference' in outcome ? outcome.reference : undefined, references[kind], kind);
  }
});

test('answers that look like success but report a failure, for each service', () => {
  const cases: [ChannelKind, Answer, string][] = [
    ['slack', answer(200, 'invalid_token'), 'dead'],
    ['slack', answer(400, 'rollup_error'), 'retry'],
    ['slack', answer(410, 'channel_is_archived'), 'dead'],
    ['mattermost', answer(501, { id: 'web.incoming_webhook.disabled.app_error' }), 'dead'],
    ['mattermost', answer(500, { id: 'web.incoming_webhook.invalid.app_error' }), 'dead'],
    ['rocketchat', answer(200, { success: false, error: 'x' }), 'dead'],
    ['rocketchat', answer(500, 'Invalid integration id or token provided.'), 'dead'],
    ['zulip', answer(200, { result: 'error' }), 'dead'],
    ['telegram', answer(200, { ok: false }), 'dead'],
    ['splunk_oncall', answer(200, { result: 'failure' }), 'dead'],
    ['pushover', answer(200, { status: 0, user: 'invalid' }), 'dead'],
    ['apprise', answer(204), 'dead'],
    ['apprise', answer(424), 'retry'],
    ['apprise', answer(431), 'dead'],
    ['discord', answer(204), 'delivered'],
    ['gotify', answer(204), 'dead'],
    ['pagerduty', answer(200), 'dead'],
  ];
  for (const [kind, given, expected] of cases) {
    assert.is(
      service(kind).meaning(given, postOf(kind, anAlert())).kind,
      expected,
      `${kind} ${given.status} ${given.text}`,
    );
  }
});

test('each service has its own way to ask for a wait', () => {
  const now = AT + 60_000;
  const waits: [ChannelKind, Answer, number][] = [
    ['discord', answer(429, { retry_after: 1.5 }), 1_500],
    ['telegram', answer(429, { parameters: { retry_after: 33 } }), 33_000],
    ['matrix', answer(429, { retry_after_ms: 2_000 }), 2_000],
    ['zulip', answer(429, { 'retry-after': 28.7 }), 28_700],
    ['opsgenie', answer(429, '', { 'x-ratelimit-period-in-sec': '60' }), 60_000],
    ['pushover', answer(429, '', { 'x-limit-app-reset': String(now / 1_000 + 900) }), 900_000],
    ['pushover', answer(500), 5_000],
    ['apprise', answer(424), 300_000],
    ['rocketchat', answer(429, { error: 'You must wait 12 seconds before' }), 12_000],
    ['ntfy', answer(429, { code: 42908 }), 86_400_000 - (now % 86_400_000)],
  ];
  for (const [kind, given, expected] of waits) {
    const outcome = service(kind).meaning(given, postOf(kind, anAlert()));
    assert.ok(
      outcome.kind === 'retry' && Math.abs((outcome.retryAfter ?? 0) - expected) < 2,
      `${kind} ${JSON.stringify(outcome)}`,
    );
  }
});

test('a wait until an instant that is none is the usual one', () => {
  for (const value of ['0', '-5', 'Infinity', 'soon', '']) {
    const given = answer(429, '', { 'x-limit-app-reset': value });
    const outcome = service('pushover').meaning(given, postOf('pushover', anAlert()));
    const without = service('pushover').meaning(answer(429, ''), postOf('pushover', anAlert()));
    assert.equal(outcome, without, value);
  }
});

test('alarm and recovery share one key, and a reply refers to the message of the alarm', () => {
  const recovery = anAlert({ id: 'alert_2', type: 'snitch.reporting', details: { threadId: 'alert_1' } });
  const both = (kind: ChannelKind, reference: string | null = null) =>
    [anAlert(), recovery].map((alert) => {
      const { key, name, since } = postOf(kind, alert).incident;
      const [request] = service(kind).requests(
        postOf(kind, alert, { incident: { key, name, since, reference } }),
      );
      return request as NonNullable<typeof request>;
    });
  const bodies = (kind: ChannelKind, reference?: string) =>
    both(kind, reference).map(({ body }) => JSON.parse(body));
  const keys: [ChannelKind, (body: Body) => unknown][] = [
    ['ntfy', ({ sequence_id }) => sequence_id],
    ['google_chat', ({ thread }) => thread.threadKey],
    ['pagerduty', ({ dedup_key }) => dedup_key],
    ['splunk_oncall', ({ entity_id }) => entity_id],
    ['alertmanager', ([{ labels }]) => JSON.stringify(labels)],
  ];
  for (const [kind, read] of keys) {
    const [alarm, end] = bodies(kind).map(read);
    assert.ok(alarm);
    assert.is(alarm, end, kind);
  }
  assert.equal(
    bodies('pagerduty').map(({ event_action }) => event_action),
    ['trigger', 'resolve'],
  );
  assert.equal(
    bodies('splunk_oncall').map(({ message_type }) => message_type),
    ['CRITICAL', 'RECOVERY'],
  );
  assert.match(both('opsgenie')[1]?.url ?? '', /\/v2\/alerts\/snitch-alert_1\/close\?identifierType=alias$/);
  assert.equal(bodies('telegram', '17')[1].reply_parameters, {
    message_id: 17,
    allow_sending_without_reply: true,
  });
  assert.is(bodies('matrix', '$root')[1]['m.relates_to'].event_id, '$root');
});

test('a recovery is sent even if its thread is gone', () => {
  const incident = { key: 'alert_1', name: 'x', since: AT, reference: '$gone' };
  const post = postOf('matrix', anAlert(), { incident });
  const other = service('matrix').instead?.(answer(404, { errcode: 'M_NOT_FOUND' }), post);
  assert.not('m.relates_to' in JSON.parse(other?.requests[0]?.body ?? '{}'));
  assert.is(service('matrix').instead?.(answer(403), post), null);
});

test('a Telegram group that was migrated is found again, and a refused button is left out', () => {
  const post = postOf('telegram', anAlert());
  const { instead } = service('telegram');
  const moved = instead?.(answer(400, { ok: false, parameters: { migrate_to_chat_id: -1009 } }), post);
  assert.is(moved?.settings?.chat, '-1009');
  assert.is(JSON.parse(moved?.requests[0]?.body ?? '{}').chat_id, -1009);
  for (const why of [
    'BUTTON_URL_INVALID',
    'inline keyboard button URL is invalid',
    `inline keyboard button URL '${LINK.url}' is invalid: Wrong HTTP URL`,
    `inline keyboard button URL '${LINK.url}' is invalid: Wrong port number specified in the URL`,
  ]) {
    const plain = instead?.(answer(400, { ok: false, description: `Bad Request: ${why}` }), post);
    const body = JSON.parse(plain?.requests[0]?.body ?? '{}');
    assert.is(body.reply_markup, undefined, why);
    assert.match(body.text ?? '', LINK.url, why);
  }
  assert.is(instead?.(answer(400, { ok: false, description: 'chat not found' }), post), null);
});

test('what Discord refuses for another reason than its link is not sent twice', () => {
  const { instead } = service('discord');
  const invalid = {
    code: 50035,
    errors: { embeds: { 0: { url: { _errors: [{ code: 'URL_TYPE_INVALID_URL' }] } } } },
  };
  const long = 'x'.repeat(4_000);
  const post = postOf('discord', anAlert({ snitch: { notes: long }, details: { message: long } }));
  const other = instead?.(answer(400, invalid), post)?.requests[0];
  const [{ description, url, title }] = JSON.parse(other?.body ?? '{}').embeds;
  assert.equal([url, title], [undefined, undefined]);
  assert.ok(description.endsWith(LINK.url) && description.length <= 4_096, 'the link is not cut');
  assert.is(instead?.(answer(404, { code: 10015, embeds: [] }), post), null);
  assert.is(instead?.(answer(400, { code: 50006 }), post), null);
  const message = { ...post.message, link: null };
  assert.is(instead?.(answer(400, invalid), { ...post, message }), null);
});

test('an alert of Opsgenie has the tags of the snitch, the first twenty of them', () => {
  const tags = Array.from({ length: 21 }, (_, index) => `tag-${index}`);
  const of = (some: string[]) =>
    JSON.parse(
      service('opsgenie').requests(postOf('opsgenie', anAlert({ snitch: { tags: some } })))[0]?.body ?? '{}',
    );
  assert.equal(of(['database', 'nightly']).tags, ['database', 'nightly']);
  assert.equal(of(tags).tags, tags.slice(0, 20));
});

test('the same delivery has the same name at each attempt, where a service drops repeats', () => {
  const urls = () =>
    ['matrix', 'google_chat'].map(
      (kind) => service(kind as ChannelKind).requests(postOf(kind as ChannelKind, anAlert()))[0]?.url,
    );
  assert.equal(urls(), urls());
  assert.match(urls()[0] ?? '', /\/rooms\/!room%3Aexample\.com\/send\/m\.room\.message\/snitch_alert_1_7$/);
  assert.match(urls()[1] ?? '', /requestId=snitch_alert_1_7/);
});

test('the words of a link are cut before they push out the message', () => {
  const alert = anAlert();
  const message = alertServiceMessage(alert, CASE, () => ({ ...LINK, words: 'w'.repeat(300) }));
  const of = (kind: ChannelKind) => service(kind).requests(postOf(kind, alert, { message }))[0]?.body ?? '';
  for (const kind of ['slack', 'mattermost', 'discord', 'google_chat'] as const) {
    const [shown = ''] = /w{20,}/.exec(of(kind)) ?? [];
    assert.ok(shown.length >= 90 && shown.length <= 100, `${kind}: ${shown.length}`);
  }
  assert.is(new URLSearchParams(of('pushover')).get('url_title')?.length, 100);
});

test('a service that keeps incidents gets the name cut to 255 characters, however much of it is spelled out', () => {
  const fields = snitchFields(anAlert({ snitch: { name: 'n'.repeat(300) } }));
  assert.is(fields.name?.length, 255);
});

test('limits of length hold, counted as each service counts', () => {
  const long = anAlert({
    snitch: { name: '😀"\\*<'.repeat(2_000), notes: 'é'.repeat(10_000), tags: ['ü'.repeat(2_000)] },
  });
  const of = (kind: ChannelKind) => service(kind).requests(postOf(kind, long))[0]?.body ?? '';
  const body = (kind: ChannelKind) => JSON.parse(of(kind));
  assert.ok(Buffer.byteLength(body('ntfy').message) <= 4_096 && Buffer.byteLength(of('ntfy')) <= 8_192);
  const title = Buffer.byteLength(JSON.stringify(body('ntfy').title));
  assert.ok(title > 380 && title <= 402, `${title} bytes and its quotes`);
  const form = new URLSearchParams(of('pushover'));
  assert.ok([...(form.get('message') ?? '')].length <= 1_024 && [...(form.get('title') ?? '')].length <= 250);
  assert.ok(body('discord').content.length <= 2_000 && body('discord').embeds[0].description.length <= 4_096);
  assert.ok(Buffer.byteLength(of('teams')) <= 28_000);
  assert.ok(Buffer.byteLength(body('google_chat').text) <= 4_096);
  assert.ok(body('telegram').text.length <= 4_096 * 5);
  assert.ok([...body('pagerduty').payload.summary].length <= 1_024);
  assert.ok([...body('opsgenie').message].length <= 130);
  assert.ok([...(new URLSearchParams(of('zulip')).get('topic') ?? '')].length <= 60);
  assert.ok(Buffer.byteLength(of('matrix')) <= 60_000);
  assert.ok(body('slack').text.length <= 4_000);
});

test.run();
