/** The addresses of services: which kind of channel an address belongs to, and what is wrong with one. */
import type { ChannelKind } from '../channel.ts';

const LONGEST = 2_048;

/** The hosts of each kind's addresses, so an address of another kind is refused with the reason. */
const HOMES: readonly { kind: ChannelKind; host: RegExp }[] = [
  { kind: 'slack', host: /^hooks\.slack(-gov)?\.com$/ },
  { kind: 'discord', host: /^((ptb|canary)\.)?discord(app)?\.com$/ },
  { kind: 'teams', host: /\.(api\.powerplatform\.com|logic\.azure\.com)$/ },
  { kind: 'google_chat', host: /^chat\.googleapis\.com$/ },
  { kind: 'splunk_oncall', host: /^alert\.victorops\.com$/ },
  { kind: 'pagerduty', host: /^events\.(eu\.)?pagerduty\.com$/ },
  { kind: 'opsgenie', host: /^api\.(eu\.)?opsgenie\.com$/ },
  { kind: 'telegram', host: /^api\.telegram\.org$/ },
  { kind: 'pushover', host: /^api\.pushover\.net$/ },
];

/** What is wrong with an address of a kind that works only in one form. */
const FORMS: Partial<Record<ChannelKind, (url: URL) => string | null>> = {
  slack: ({ hostname, pathname }) => {
    if (!/^hooks\.slack/.test(hostname)) return null;
    if (/^\/(triggers|workflows)\//.test(pathname)) {
      return 'starts a workflow, which takes other messages: use the address of an incoming webhook, /services/…';
    }
    return pathname.startsWith('/services/')
      ? null
      : 'is no incoming webhook: its path begins with /services/';
  },
  discord: ({ hostname, pathname }) => {
    if (/\/(slack|github)\/?$/.test(pathname)) return 'must end with the token: leave off what follows it';
    const isHook = /^\/api\/(v\d+\/)?webhooks\/\d+\/[\w-]+\/?$/.test(pathname);
    return isHook || !/discord/.test(hostname) ? null : 'is no webhook: its path is /api/webhooks/ID/TOKEN';
  },
  teams: ({ hostname, searchParams }) => {
    if (hostname.endsWith('.logic.azure.com')) {
      return 'is of the former kind, which Microsoft has announced to switch off: copy the present one from the workflow';
    }
    const isFlow = hostname.endsWith('.api.powerplatform.com');
    return isFlow && !searchParams.has('sig') ? 'lacks its signature (sig): copy all of it' : null;
  },
  google_chat: ({ hostname, searchParams }) => {
    if (hostname !== 'chat.googleapis.com' || (searchParams.has('key') && searchParams.has('token')))
      return null;
    return 'lacks key or token: copy all of it';
  },
  splunk_oncall: ({ pathname }) =>
    /\$routing_key|%24routing_key/i.test(pathname)
      ? 'must have your routing key in place of $routing_key'
      : null,
  apprise: ({ pathname }) =>
    /\/notify\/[\w-]{1,128}\/?$/.test(pathname)
      ? null
      : 'must end with /notify/ and a key of the Apprise API',
};

/** What is wrong with the address of an incoming webhook, in words that follow the setting's name. */
export function addressProblem(kind: ChannelKind, text: string): string | null {
  const url = webUrl(text);
  if (!url) return 'must be an http:// or https:// address';
  if (text.length > LONGEST) return `is too long (maximum is ${LONGEST} characters)`;
  if (url.hash !== '') return 'must not have a fragment (#)';
  if (/(^|\.)webhook\.office\.com$|^outlook\.office(365)?\.com$/.test(url.hostname)) {
    return 'is of an Office 365 connector, which Microsoft retires: make a workflow "when a Teams webhook request is received" and a channel of the kind teams';
  }
  const home = HOMES.find(({ host }) => host.test(url.hostname));
  if (home && home.kind !== kind) return `is an address of ${home.kind}: make a channel of that kind`;
  return FORMS[kind]?.(url) ?? null;
}

/** What is wrong with the base address of a server. */
export function baseProblem(text: string): string | null {
  const url = webUrl(text);
  if (!url) return 'must be an http:// or https:// address';
  if (text.length > LONGEST) return `is too long (maximum is ${LONGEST} characters)`;
  return url.search !== '' || url.hash !== '' ? 'must not have a query or a fragment' : null;
}

/** No invisible characters, because nobody would notice them where the address is shown. */
function webUrl(text: string): URL | null {
  if (/[\s\p{Cc}\p{Cf}]/u.test(text.trim())) return null;
  const url = URL.parse(text.trim());
  return url && /^https?:$/.test(url.protocol) ? url : null;
}

/** A base address without trailing slashes and without the service's own path. */
export function plainBase(text: string): string {
  const url = new URL(text.trim());
  return `${url.protocol}//${credentialsOf(url)}${url.host}${url.pathname}`
    .replace(/\/api\/v2(\/alerts)?\/*$/, '')
    .replace(/\/+$/, '');
}

function credentialsOf({ username, password }: URL): string {
  if (username === '' && password === '') return '';
  return `${username}${password === '' ? '' : `:${password}`}@`;
}

/**
 * A base address without its password; a user name on its own is a secret too. Hidden as a whole if it is none: an
 * earlier build stored some with a password that it had garbled.
 */
export function shownBase(text: string, hidden: string): string {
  const url = URL.parse(text);
  if (!url) return hidden;
  if (url.username === '' && url.password === '') return text;
  const named = url.password === '' ? hidden : `${url.username}:${hidden}`;
  // As a function, because `$` means something in a text to put in.
  return text.replace(/\/\/[^/]*@/, () => `//${named}@`);
}
