/** What random alerts become as mails, digests and requests to each service, and what their answers mean: written down. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { suite } from 'uvu';
import type { Alert } from '../../src/core/alert.ts';
import type { Post, ServiceRequest } from '../../src/delivery/channels/service.ts';
import { SERVICES } from '../../src/delivery/channels/services.ts';
import type { SnitchAlert } from '../../src/delivery/messages/alert-words.ts';
import { digestEntry } from '../../src/delivery/messages/digest-entry.ts';
import { alertMessage, digestMessage, type EmailMessage } from '../../src/delivery/messages/email-message.ts';
import {
  alertServiceMessage,
  digestIncident,
  digestServiceMessage,
  type ServiceMessage,
} from '../../src/delivery/messages/service-message.ts';
import { assertKept, inOneLine } from '../kept-text.ts';
import { Dice } from '../random.ts';
import { AT } from './alerts.ts';
import { randomAlert, randomNotice } from './random-alerts.ts';
import { SETTINGS } from './service-settings.ts';

const ALERTS = 70;
const DIGESTS = 25;
const ANSWERS = 250;
const keptIn = (name: string) => join(import.meta.dirname, `random-${name}.txt`);

const LINK = { words: 'Acknowledge', url: 'https://snitch.example.com/a/1.abc' };

const messages = suite('random messages');

const caseOf = (dice: Dice) => ({
  id: 'case_1',
  name: dice.oneOf(['Operations', 'A <b> & Co']),
  timezone: dice.oneOf(['UTC', 'Europe/Berlin']),
});

/** The HTML has the same words as the text. */
function mailLines({ subject, text, html, messageId, references, date }: EmailMessage): string[] {
  const digest = createHash('sha256').update(html).digest('hex').slice(0, 12);
  return [
    `  mail ${subject}`,
    `  ${messageId} after ${references.length}, ${date.toISOString()}, html ${html.length} ${digest}`,
    ...text
      .split('\n')
      .map((line) => `  | ${line.length > 240 ? `${line.slice(0, 200)}… ${line.length}` : line}`),
  ];
}

function requestLine({ method = 'POST', url, headers = {}, body }: ServiceRequest): string {
  const shown = body.length > 700 ? `${body.slice(0, 500)}… ${body.length} ${body.slice(-80)}` : body;
  return `  ${method} ${url} ${Object.keys(headers).join(' ')} ${shown}`;
}

/** A few services each time: all of them have their turn. */
function requestLines(seed: number, post: Omit<Post, 'settings'>): string[] {
  return SERVICES.filter((_, index) => (index + seed) % 4 === 0).flatMap(({ kind, requests }) => [
    `  ${kind}:`,
    ...requests({ ...post, settings: SETTINGS[kind] }).map(requestLine),
  ]);
}

function describe(seed: number): string[] {
  const dice = new Dice(seed);
  const shown = caseOf(dice);
  const alert: Alert = dice.isHit(0.08) ? randomNotice(dice) : randomAlert(dice);
  const link = dice.isHit(0.5) ? LINK : null;
  const output = dice.oneOf([null, null, 'tar: /x: no space\n', 'o'.repeat(20_000)]);
  const message = alertServiceMessage(alert, shown, () => link);
  const reference = dice.oneOf([null, null, '$root']);
  const incident = { key: 'alert_0', name: alert.snitch?.name ?? '', since: AT - 3_600_000, reference };
  const post = { message, alert, incident, id: 'snitch_alert_1_7', isTest: dice.isHit(0.1), now: AT };
  return [
    `${seed}: ${alert.type} ${inOneLine(alert.snitch && [alert.snitch.previous_status, alert.details.reason ?? null])}`,
    ...mailLines(alertMessage(alert, shown, 'ann@example.com', 'example.com', { output, link })),
    ...requestLines(seed, post),
  ];
}

async function describeDigest(seed: number): Promise<string[]> {
  const dice = new Dice(1_000 + seed);
  const count = dice.whole(6, 30);
  const alerts = Array.from({ length: count }, (_, index) => {
    const number = dice.whole(1, 12);
    return randomAlert(dice, { id: `a${index}`, token: `t${number}`, name: `job-${number}` });
  });
  const entries = alerts.map((alert, index) => digestEntry(alert as SnitchAlert, index));
  const digest = { entries, case: caseOf(dice) };
  const message: ServiceMessage = await digestServiceMessage(digest, dice.oneOf([300, 3_000]));
  const incident = await digestIncident(digest);
  const post = { message, alert: null, incident, id: 'snitch_digest', isTest: false, now: AT };
  return [
    `digest ${seed}: ${count} alerts, ${message.tone} ${message.purpose}, ${inOneLine(incident)}`,
    ...mailLines(await digestMessage(digest, 'ann@example.com', 'example.com')),
    ...requestLines(seed, post),
  ];
}

const STATUSES = [
  200, 200, 201, 202, 204, 208, 302, 400, 401, 403, 404, 408, 410, 413, 424, 429, 429, 500, 502, 503,
];
const TEXTS = [
  '',
  'ok',
  '{"ok":true,"result":{"message_id":77}}',
  '{"ok":false,"error_code":429,"parameters":{"retry_after":7}}',
  '{"status":1,"request":"r"}',
  '{"status":0,"errors":["user key is invalid"]}',
  '{"errcode":"M_LIMIT_EXCEEDED","retry_after_ms":1500}',
  '{"errcode":"M_UNKNOWN_TOKEN","error":"no"}',
  '{"result":"error","code":"RATE_LIMIT_HIT","retry-after":2.5}',
  '{"id":"msg_1","event_id":"$e"}',
  '<!DOCTYPE html><title>Sign in</title>',
  'invalid_token s3cr3t-token',
];
const HEADERS = [
  {},
  {},
  { 'retry-after': '90' },
  { 'retry-after': 'Sat, 21 Nov 2026 05:10:00 GMT' },
  { 'x-ratelimit-reset-after': '3' },
];

function meaningLine(seed: number): string {
  const dice = new Dice(seed);
  const { kind, meaning } = dice.oneOf(SERVICES);
  const status = dice.oneOf(STATUSES);
  const answer = {
    status,
    statusLine: `${status} Words`,
    headers: dice.oneOf(HEADERS),
    text: dice.oneOf(TEXTS),
  };
  const alert = randomAlert(dice);
  const message = alertServiceMessage(alert, caseOf(dice), () => null);
  const incident = { key: 'alert_0', name: 'x', since: AT, reference: null };
  const post = {
    message,
    alert,
    incident,
    id: 'snitch_alert_1_7',
    isTest: false,
    now: AT,
    settings: SETTINGS[kind],
  };
  return `${kind} ${status} ${inOneLine(answer.headers)} ${answer.text}: ${inOneLine(meaning(answer, post))}`;
}

messages('of an alert are as they were', () => {
  const lines: string[] = [];
  for (let seed = 1; seed <= ALERTS; seed += 1) lines.push(...describe(seed));
  assertKept(keptIn('messages'), lines);
});

messages('of many alerts are as they were', async () => {
  const lines: string[] = [];
  for (let seed = 1; seed <= DIGESTS; seed += 1) lines.push(...(await describeDigest(seed)));
  assertKept(keptIn('digests'), lines);
});

messages('are accepted and refused as they were', () => {
  assertKept(
    keptIn('answers'),
    Array.from({ length: ANSWERS }, (_, index) => meaningLine(index + 1)),
  );
});

messages.run();
