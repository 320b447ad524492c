/** How `snitch doctor` checks whether alerts reach anybody. A case that alerts nobody is the worst failure of all. */
import { ApiError, type Client } from '../../api/client.ts';
import type { WireAudience, WireCase, WireChannel, WireWebhook } from '../../api/wire.ts';
import { unreachedInWords } from '../../core/explanation/reach.ts';
import { type Finding, failure, ok, warning } from './findings.ts';

/** The most snitches to name among those that alert nobody. */
const NAMED = 5;

const SET_SMTP = 'set smtp.url and smtp.from in the configuration of the daemon';
const ADD = '`snitch member add ADDRESS`, `snitch channel add KIND` or `snitch webhook add URL`';
const MEND =
  'fix what refuses, test it with `snitch channel test`, then run `snitch deliveries retry --dead`';

interface Targets {
  webhooks: readonly WireWebhook[];
  channels: readonly WireChannel[];
}

export async function checkTeam(client: Client, own: WireCase, targets: Targets): Promise<Finding> {
  const audience = await audienceOf(client);
  const failing = audience?.failing ?? [];
  const wrong = audience ? await nobodyIn(client, audience) : null;
  if (wrong !== null) return failure('team', wrong, remedyFor(audience));
  const broken = failing.map(({ name, why }) => `${name} ${why}`);
  const told = whoIsTold(own, targets, audience);
  if (told.nobody) {
    const message = 'each snitch alerts only its own addresses, and nobody else';
    return warning('team', message, `${ADD} for notices about the service itself`);
  }
  if (broken.length > 0) return warning('team', [told.words, ...broken].join('; '), MEND);
  return told.off ? warning('team', told.words, SET_SMTP) : ok('team', told.words);
}

function remedyFor(audience: WireAudience | null): string {
  const parts = [
    ...((audience?.failing ?? []).length > 0 ? [MEND] : []),
    ...(audience?.sends_email === false ? [SET_SMTP] : []),
    ...(audience?.sends_email === false || audience?.failing?.length === 0 ? [ADD] : []),
  ];
  return parts.join(', or ');
}

/** Which snitches alert nobody, and why; null if all of them alert somebody. */
async function nobodyIn(client: Client, audience: WireAudience): Promise<string | null> {
  if (audience.unreached) return unreachedInWords(audience.unreached, audience.nobody ?? '');
  return nobodyOfOld(client, audience);
}

/** For a server that is too old to find them itself. */
async function nobodyOfOld(
  client: Client,
  { emails, webhooks, channels = [], sends_email }: WireAudience,
): Promise<string | null> {
  if ((sends_email ? emails.length : 0) + webhooks.length + channels.length > 0) return null;
  if (!sends_email) return 'nobody would be told of an alert: email is off, and there is no webhook';
  let unheard = 0;
  const count = await client.eachSnitch(({ alert_email }) => {
    if (alert_email.length === 0) unheard += 1;
  });
  if (count > 0 && unheard === 0) return null;
  const whose = unheard < count ? ` of ${unheard} of ${count} snitches` : '';
  return `nobody would be told of an alert${whose}`;
}

function whoIsTold(
  { members }: WireCase,
  { webhooks, channels }: Targets,
  audience: WireAudience | null,
): { words: string; off: boolean; nobody: boolean } {
  const sendsEmail = audience?.sends_email ?? true;
  const failing = audience?.failing ?? [];
  const well = (kind: (channel: string) => boolean, of: number) =>
    of - failing.filter(({ channel }) => kind(channel)).length;
  const byEmail = sendsEmail ? well((kind) => kind === 'email', members.length) : 0;
  const byWebhook = well((kind) => kind === 'webhook', webhooks.length);
  const byChannel = well((kind) => kind !== 'email' && kind !== 'webhook', channels.length);
  const others = channels.length > 0 ? `, ${byChannel} by other channels` : '';
  const off = !sendsEmail && members.length > 0;
  const not = off ? `; ${members.length} by email are not: email is off` : '';
  return {
    words: `${byEmail} told by email, ${byWebhook} by webhook${others}${not}`,
    off,
    nobody: byEmail + byWebhook + byChannel === 0,
  };
}

/** Null if the server is too old to say. */
async function audienceOf(client: Client): Promise<WireAudience | null> {
  try {
    return await client.getAudience(NAMED);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}
