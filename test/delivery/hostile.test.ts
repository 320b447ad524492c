/**
 * Names, tags, notes and messages that somebody made to be read as markup, as a mention of everybody, or as more than one
 * line: every way out shows them as the text that they are. One row of the table for each kind.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Alert } from '../../src/core/alert.ts';
import { CHANNEL_KINDS, type ChannelKind } from '../../src/core/channel.ts';
import { COMMAND_LIMITS, commandChannel } from '../../src/delivery/channels/command.ts';
import type { ServiceRequest } from '../../src/delivery/channels/service.ts';
import { SERVICES } from '../../src/delivery/channels/services.ts';
import { alertMessage } from '../../src/delivery/messages/email-message.ts';
import { alertServiceMessage } from '../../src/delivery/messages/service-message.ts';
import { printable, printableLines } from '../../src/text/printable.ts';
import { AT, anAlert } from './alerts.ts';
import { SETTINGS } from './service-settings.ts';

const test = suite('hostile text');

const HOSTILE: Record<string, string> = {
  'mentions by an at sign': '@everyone @here @channel @all @room @user:example.com',
  'mentions in angle brackets': '<!channel> <!here> <!here|x> <@U123> <@&1> <#2> <users/all> <!subteam^S1>',
  'mentions of Zulip': '@**all** @_**everyone** @*group* #**stream>topic**',
  'links of markdown':
    '[click](https://evil.example) ![x](https://evil.example/x.png) <https://evil.example|x>',
  'code fences': '``` \u0060\u0060\u0060\u0060 `x` ~~~ end',
  emphasis: '# *b* _i_ ~s~ **b** __u__ > q | t - l + l 1. x',
  HTML: '<b>x</b><a href="https://evil.example">y</a><script>alert(1)</script>&amp;&lt;"\'',
  'escapes already': '\\* \\@here \\\\ &amp; &#64;here',
  'right-to-left marks': 'a\u202egnp.exe\u202c \u2066b\u2069 \u200fc',
  'zero-width marks': '@\u200beveryone \u2060x\ufeffy',
  'escape sequences': 'a\u001b[31mred\u001b]8;;https://evil.example\u0007b\u0000\u0008',
  'a header': 'x\r\nBcc: victim@example.com\r\n\r\nbody\u2028line',
  'lone surrogates': 'a\ud800b\udfffc',
};

/** Long enough for every limit to cut, with characters of one, two and four bytes and all that need escaping. */
const LONG: Record<string, string> = {
  'ten thousand letters': 'x'.repeat(10_000),
  'ten thousand pictures': '😀'.repeat(10_000),
  'ten thousand marks': '*_<&"\\@`é😀'.repeat(1_000),
};

// biome-ignore lint/suspicious/noExplicitAny: the JSON of each service has another shape.
type Body = any;

interface Rule {
  /** What a person reads first, and the rest, exactly as in the request. */
  texts(body: Body): [title: string, text: string];
  /** The text as the service shows it, with our escapes undone. */
  shown?: (text: string) => string;
  /** What the service would read as markup, none of which may come from a name. */
  live?: RegExp;
  /** Checks whatever else the request must or must not contain, limits of length included. */
  holds(body: Body, request: ServiceRequest): boolean;
}

const withoutGaps = (text: string) => text.replaceAll('\u200b', '');
const withoutBackslashes = (text: string) => withoutGaps(text.replace(/\\([\s\S])/gu, '$1'));
const withoutEntities = (text: string) =>
  withoutGaps(text)
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
const count = (text: string) => [...text].length;
const bytes = (text: string) => Buffer.byteLength(text);
/** Removes each backslash with the character after it, so only characters that act as markup are left. */
const bare = (text: string) => text.replace(/\\[\s\S]/gu, '');

const RULES: Record<Exclude<ChannelKind, 'command'>, Rule> = {
  ntfy: {
    texts: ({ title, message }) => [title, message],
    holds: (body) =>
      !('markdown' in body) && bytes(body.message) <= 4_096 && bytes(JSON.stringify(body)) <= 8_192,
  },
  gotify: {
    texts: ({ title, message }) => [title, message],
    holds: ({ extras = {}, message }) => !('client::display' in extras) && bytes(message) <= 16_000,
  },
  pushover: {
    texts: ({ title, message }) => [title, message],
    holds: ({ html, title, message }) => html === undefined && count(title) <= 250 && count(message) <= 1_024,
  },
  slack: {
    texts: ({ text, attachments: [{ text: rest }] }) => [text, rest],
    shown: withoutEntities,
    live: /[<>]|&(?!amp;|lt;|gt;)|(?<!\u200b)[*~`]|[*~`_](?!\u200b)/,
    holds: (body) => !('link_names' in body || 'parse' in body) && count(body.text) <= 40_000,
  },
  mattermost: {
    texts: ({ text, attachments: [{ text: rest }] }) => [text, rest],
    shown: withoutBackslashes,
    live: /@(?!\u200b)|<(?!\u200b)|[*_~`#>|![\]()]/,
    holds: ({ text, attachments: [{ text: rest }] }) => count(text) + count(rest) <= 16_383,
  },
  discord: {
    texts: ({ content, embeds: [{ description }] }) => [content, description],
    shown: withoutBackslashes,
    live: /[*_~`|>#[\]()<@]/,
    holds: ({ allowed_mentions: { parse }, content, embeds: [{ description }] }) =>
      parse.length === 0 &&
      content.length <= 2_000 * 2 &&
      count(content) <= 2_000 &&
      count(description) <= 4_096,
  },
  teams: {
    texts: ({
      attachments: [
        {
          content: { body },
        },
      ],
    }) => [body[0].text, body[1].text.replaceAll('\n\n', '\n')],
    shown: withoutBackslashes,
    live: /[*_[\]()#`~>]/,
    holds: (body) =>
      !('entities' in body.attachments[0].content.msteams) && bytes(JSON.stringify(body)) <= 28_000,
  },
  google_chat: {
    texts: ({ text }) => [text.split('\n')[0], text.slice(text.indexOf('\n') + 1)],
    shown: withoutGaps,
    live: /[<*_~`](?!\u200b)/,
    holds: ({ text }) => bytes(text) <= 4_096,
  },
  rocketchat: {
    texts: ({ text, attachments: [{ text: rest }] }) => [text, rest],
    shown: withoutBackslashes,
    live: /@(?!\u200b)|[*_~`[\]()#>!]/,
    holds: ({ text, attachments: [{ text: rest }], parseUrls }) =>
      parseUrls === false && count(text) + count(rest) <= 5_000,
  },
  zulip: {
    texts: ({ content }) => {
      const [, title = '', rest = ''] = /^:\w+:\n`{3,}text\n(.*)\n([\s\S]*)\n`{3,}$/.exec(content) ?? [];
      return [title, rest];
    },
    shown: withoutGaps,
    live: /@(?!\u200b)/,
    holds: ({ content, topic }) => {
      const [, fence = '', inner = ''] = /^:\w+:\n(`{3,})text\n([\s\S]*)\n\1$/.exec(content) ?? [];
      return fence !== '' && !inner.includes(fence) && count(content) <= 10_000 && count(topic) <= 60;
    },
  },
  telegram: {
    texts: ({ text }) => {
      const [, title = '', rest = ''] = /^<b>(.*)<\/b>\n([\s\S]*)$/.exec(text) ?? [];
      return [title, rest];
    },
    shown: withoutEntities,
    live: /[<>"]|&(?!amp;|lt;|gt;|quot;)|@(?!\u200b)/,
    holds: ({ parse_mode, text }) => parse_mode === 'HTML' && withoutEntities(text).length <= 4_096 + 7,
  },
  matrix: {
    texts: ({ formatted_body: text }) => {
      const lines = text.split('<br>');
      return [lines[0], lines.slice(1).join('\n')];
    },
    shown: withoutEntities,
    live: /[<>"]|&(?!amp;|lt;|gt;|quot;)/,
    holds: (body) => JSON.stringify(body['m.mentions']) === '{}' && bytes(JSON.stringify(body)) <= 60_000,
  },
  pagerduty: {
    texts: ({ payload: { summary, custom_details } }) => [summary, custom_details.details],
    holds: (body) =>
      count(body.payload.summary) <= 1_024 &&
      count(body.dedup_key) <= 255 &&
      bytes(JSON.stringify(body)) <= 512_000,
  },
  opsgenie: {
    texts: ({ message, description }) => [message, description],
    holds: ({ message, description, alias, tags, entity }) =>
      count(message) <= 130 &&
      count(description) <= 15_000 &&
      count(alias) <= 512 &&
      count(entity) <= 512 &&
      tags.every((tag: string) => count(tag) <= 50),
  },
  splunk_oncall: {
    texts: ({ entity_display_name: title, state_message: text }) => [
      title,
      text.slice(text.indexOf('\n') + 1),
    ],
    holds: ({ state_message }) => count(state_message) <= 20_480,
  },
  alertmanager: {
    texts: ([{ annotations }]) => [annotations.summary, annotations.description],
    holds: ([{ labels }]) => Object.keys(labels).join() === 'alertname,token,name,severity',
  },
  apprise: {
    texts: ({ title, body }) => [title, body],
    holds: ({ format }) => format === 'text',
  },
};

const CASE = { id: 'case_1', name: '@everyone <b>Operations</b> *x*', timezone: 'Europe/Berlin' };
const INCIDENT = { key: 'alert_1', since: AT, reference: null };

function hostileAlert(text: string): Alert {
  return anAlert({
    type: 'snitch.errored',
    snitch: { name: text, notes: text, tags: [text], status: 'errored' },
    details: { message: text, exitStatus: 3, reason: { kind: 'exitStatus', status: 3 } },
  });
}

function requestOf(kind: ChannelKind, text: string): { request: ServiceRequest; body: Body } {
  const alert = hostileAlert(text);
  const service = SERVICES.find((one) => one.kind === kind);
  const [request] =
    service?.requests({
      settings: SETTINGS[kind],
      message: alertServiceMessage(alert, CASE, () => null),
      alert,
      incident: { ...INCIDENT, name: text },
      id: 'snitch_alert_1_7',
      isTest: false,
      now: AT + 60_000,
    }) ?? [];
  assert.ok(request, kind);
  const isForm = request.headers?.['content-type'] === 'application/x-www-form-urlencoded';
  const body: Body = isForm
    ? Object.fromEntries(new URLSearchParams(request.body))
    : JSON.parse(request.body);
  return { request, body };
}

/** Asserts that no character is invisible: a mark must be shown as its number. */
function assertVisible(text: string): void {
  assert.ok(text.isWellFormed(), 'no half of a character');
  assert.not.match(withoutGaps(text), /(?!\n)[\p{Cc}\p{Cf}\u2028\u2029]/u);
}

function read(kind: Exclude<ChannelKind, 'command'>, text: string): [title: string, text: string] {
  const { texts, shown = (one) => one, live, holds } = RULES[kind];
  const { request, body } = requestOf(kind, text);
  for (const value of Object.values(request.headers ?? {})) assert.not.match(value, /[\r\n]/);
  assert.ok(holds(body, request), `limits and settings of ${kind}`);
  const raw = texts(body);
  const escapes = shown === withoutBackslashes;
  if (live) for (const one of raw) assert.not.match(escapes ? bare(one) : one, live);
  const [title, rest] = raw.map(shown);
  for (const one of [title, rest]) assertVisible(one ?? '');
  return [title ?? '', rest ?? ''];
}

const KINDS = CHANNEL_KINDS.filter((kind) => kind !== 'command');

for (const kind of KINDS) {
  test(`${kind} shows what somebody made to be more than text`, () => {
    for (const [what, text] of Object.entries(HOSTILE)) {
      const [title, rest] = read(kind, text);
      assert.ok(title.startsWith(`[Error] ${printable(text)}`.slice(0, 120)), `${what}: ${title}`);
      // In lines, because a message may have several of them.
      for (const line of printableLines(text).filter((one) => one.trim() !== ''))
        assert.ok(rest.includes(line), `${what}: ${rest}`);
    }
  });

  test(`${kind} is told what, since when and why, however long all else is`, () => {
    for (const [what, text] of Object.entries(LONG)) {
      const [title, rest] = read(kind, text);
      assert.match(title, /^\[Error\] /, what);
      for (const words of [
        'Status: errored (before: healthy)',
        'Why: exit status 3',
        'Last healthy check-in: ',
      ])
        assert.match(rest, words, what);
      assert.match(`${title}\n${rest}`, '…', what);
    }
  });
}

test('a command gets it as JSON, and in its environment without line ends', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'snitch-hostile-'));
  try {
    const path = join(directory, 'out');
    const script = 'cat > "$0"; tr "\\0" "\\n" < /proc/self/environ > "$0.env"; : > "$0.done"';
    const channel = commandChannel({ page: ['/bin/sh', '-c', script, path] }, COMMAND_LIMITS);
    for (const text of [...Object.values(HOSTILE), ...Object.values(LONG)]) {
      const alert = hostileAlert(text);
      const owned = {
        id: 'c',
        caseId: CASE.id,
        kind: 'command',
        name: 'x',
        tags: [],
        events: [],
        after: 0,
        hours: null,
        refused: null,
      } as const;
      const recipient = {
        channel: { ...owned, settings: { command: 'page' }, createdAt: 0 },
        incident: { ...INCIDENT, name: text },
      };
      const claim = {
        id: 1,
        fence: 1,
        attempt: 1,
        lastError: null,
        channel: 'command',
        target: 'c',
        webhook: null,
      } as const;
      const sending = { target: 'c', now: AT, stop: new AbortController().signal };
      const outcome = await channel.sendAlert({ ...claim, alert, case: CASE, recipient }, sending);
      assert.equal(outcome, { kind: 'delivered' });
      assert.ok(existsSync(`${path}.done`));
      const told = JSON.parse(readFileSync(path, 'utf8'));
      assert.is(told.snitch.name, text);
      assertVisible(told.title);
      const env = readFileSync(`${path}.env`, 'utf8')
        .split('\n')
        .filter((line) => /^\w+=/.test(line));
      const lines = readFileSync(`${path}.env`, 'utf8').trimEnd().split('\n');
      assert.is(env.length, lines.length, 'each line is a variable');
      for (const line of lines) assertVisible(line);
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

test('a mail has it on the one line of its subject, and as plain text in both parts', () => {
  for (const text of [...Object.values(HOSTILE), ...Object.values(LONG)]) {
    const mail = alertMessage(hostileAlert(text), CASE, 'ann@example.com', 'example.com');
    assertVisible(mail.subject);
    assert.not.match(mail.subject, /[\r\n]/);
    assert.ok(count(mail.subject) <= 400);
    assertVisible(mail.text);
    assertVisible(mail.html);
    const inner = mail.html.replace(
      /<(\/?)(!DOCTYPE html|html|head|meta|body|p|strong|table|tr|td|ul|li|pre)( (lang|style|charset|name|content)="[^"]*")*>/g,
      '',
    );
    assert.not.match(inner, /[<>"']/);
    assert.match(mail.text, 'Why:');
  }
});

test.run();
