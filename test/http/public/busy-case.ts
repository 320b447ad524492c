/**
 * A case with every text that a person or a job can supply, and how to find any of it where it must not be. Whatever
 * of a case is shown to the public can be looked through with `leaksIn`.
 */

import { ok } from '../expect.ts';
import { checkIn, type Fixture, HOUR, MINUTE, newSnitch, sweep } from '../fixture.ts';

/** What the case keeps to itself, by what it is. */
export type Secrets = ReadonlyMap<string, string>;

/** The tag whose snitches are shown, and names that are released with it. */
export const PUBLIC_TAG = 'public';

export interface BusyCase {
  secrets: Secrets;
  /** What may be seen. */
  released: readonly string[];
  tokens: { well: string; missing: string; error: string; paused: string; hidden: string };
}

/** The names of the `secrets` that are found in any of `texts`, also escaped for HTML, JSON or an address. */
export function leaksIn(texts: readonly string[], secrets: Secrets): string[] {
  const found: string[] = [];
  for (const [what, secret] of secrets) {
    const forms = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret), inHtml(secret)];
    if (texts.some((text) => forms.some((form) => text.toLowerCase().includes(form.toLowerCase()))))
      found.push(what);
  }
  return found;
}

function inHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** Fills the case of `acme`: snitches in every status, with all that may be said of them. */
export async function busyCase(context: Fixture): Promise<BusyCase> {
  const { acme, clock, store } = context;
  const secrets = new Map<string, string>();
  const secret = (what: string, text: string) => {
    secrets.set(what, text);
    return text;
  };
  const said = (who: string) => ({
    notes: secret(`notes of ${who}`, `runbook-of-${who} <b>`),
    alert_email: [secret(`address of ${who}`, `${who}-oncall@secret.example`)],
  });
  const make = async (who: string, fields: Record<string, unknown>) => {
    const { token } = await newSnitch(acme, { name: who, ...said(who), ...fields });
    return secret(`token of ${who}`, token);
  };
  const shown = { tags: [PUBLIC_TAG, secret('a tag beside', 'rack-17-cellar')] };
  ok(await acme.write.patch('/v1/case', { members: [secret('a member', 'boss@secret.example')] }));
  const name = secret('the name of the case', 'Secret Case Ltd');
  ok(await acme.write.patch('/v1/case', { name }));
  const tokens = {
    well: await make('shown-well', shown),
    missing: await make('shown-missing', shown),
    error: await make('shown-error', shown),
    paused: await make('shown-paused', shown),
    hidden: await make('hidden', {
      name: secret('the name of a hidden one', 'payroll-hidden'),
      tags: ['inner'],
    }),
  };
  const pseudonym = secret('the name behind a public name', 'db-prod-7.internal');
  await make('named', { ...shown, name: pseudonym, public_name: 'Shop' });
  const webhook = secret('the address of a webhook', 'hooks.secret.example/T00');
  ok(await acme.write.post('/v1/webhooks', { url: `https://${webhook}` }));
  const settings = {
    topic: secret('the topic of a channel', 'topic-4711'),
    token: secret('its token', 'tk_4711'),
  };
  ok(
    await acme.write.post('/v1/channels', {
      kind: 'ntfy',
      name: secret('its name', 'night-shift'),
      settings,
    }),
  );
  const message = (who: string) =>
    encodeURIComponent(secret(`message of ${who}`, `disk of ${who} is at 99 %`));
  for (const [who, token] of Object.entries(tokens))
    await checkIn(context, token, `?m=${message(`${who} before`)}&v.bytes=987654321`);
  secret('a reported value', '987654321');
  await context.nobody.post(`/ping/${tokens.well}`, secret('the output of a job', 'stack trace at vault.py'));
  clock.now += HOUR;
  for (const who of ['well', 'error', 'paused', 'hidden'] as const) await checkIn(context, tokens[who]);
  await context.acme.write.post(`/v1/snitches/${tokens.paused}/pause`);
  clock.now += HOUR + MINUTE;
  for (const who of ['well', 'hidden'] as const) await checkIn(context, tokens[who], `?m=${message(who)}`);
  await checkIn(context, tokens.error, `?s=77&m=${message('error')}`);
  await sweep(context);
  const note = {
    note: secret('the note of an acknowledgement', 'I kicked it'),
    by: secret('its author', 'Ann Ops'),
  };
  ok(await acme.write.post(`/v1/snitches/${tokens.error}/acknowledge`, note));
  const silence = {
    tokens: [tokens.hidden],
    duration: 3_600,
    note: secret('the note of a silence', 'new kernel 6.1'),
  };
  ok(await acme.write.post('/v1/silences', silence));
  for (const { alert } of await store.listAlerts(acme.id, null, { limit: 100, before: null }))
    secret(`alert ${alert.id}`, alert.id);
  secret('the id of the case', acme.id);
  secret('a key of the case', acme.write.key ?? '');
  const released = ['shown-well', 'shown-missing', 'shown-error', 'shown-paused', 'Shop'];
  return { secrets, released, tokens };
}
