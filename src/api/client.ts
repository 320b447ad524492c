/** A typed client of the HTTP API, for the command line and the dashboard. It uses nothing but Node's own HTTP. */
import type { IncomingMessage } from 'node:http';
import {
  ApiError,
  type ClientOptions,
  exchangeInTurn,
  open,
  readText,
  refusal,
  TIMEOUT,
  Unreachable,
} from './exchange.ts';
import { isOwnAnswer } from './own-answer.ts';
import {
  ALERT,
  API_KEY,
  AUDIENCE,
  CASE,
  CHECK_IN,
  DELIVERY,
  EXPLANATION,
  IMPORT_CHECK,
  list,
  MAIL_CHECK,
  MAINTENANCE,
  OWNERSHIP,
  READINESS,
  type Shape,
  SNITCH,
  TEXTS,
  WEBHOOK,
} from './shapes.ts';
import { IMPATIENT, Turns } from './turns.ts';
import type { WireCase, WireDelivery } from './wire.ts';

export {
  ApiError,
  type Call,
  type ClientOptions,
  NotUnderstood,
  open,
  readText,
  refusal,
  Unreachable,
} from './exchange.ts';

export interface SnitchInput {
  name?: string;
  interval?: string;
  alert_type?: string;
  alert_email?: string[] | string | null;
  notes?: string | null;
  tags?: string[] | null;
}

/** A snitch that may bring its token along. */
export interface ImportInput extends SnitchInput {
  token?: string | null;
}

export interface PageQuery {
  limit?: number;
  before?: string;
}

export type Client = ReturnType<typeof createClient>;

export function createClient(options: ClientOptions) {
  const turns = new Turns(options.patience ?? IMPATIENT);
  const send = <T>(shape: Shape<T> | null, method: string, path: string, body?: unknown): Promise<T> =>
    exchangeInTurn(turns, options, { method, path, body, shape });
  const get = <T>(shape: Shape<T>, path: string): Promise<T> => send(shape, 'GET', path);
  const snitch = (token: string) => `/v1/snitches/${encodeURIComponent(token)}`;
  return {
    listSnitches: (tags: readonly string[] = []) =>
      get(list(SNITCH), `/v1/snitches${query({ tags: tags.length > 0 ? tags.join(',') : undefined })}`),
    getSnitch: (token: string) => get(SNITCH, snitch(token)),
    createSnitch: (input: SnitchInput) => send(SNITCH, 'POST', '/v1/snitches', input),
    updateSnitch: (token: string, changes: SnitchInput) => send(SNITCH, 'PATCH', snitch(token), changes),
    deleteSnitch: (token: string) => send<void>(null, 'DELETE', snitch(token)),
    addTags: (token: string, tags: readonly string[]) => send(TEXTS, 'POST', `${snitch(token)}/tags`, tags),
    removeTag: (token: string, tag: string) =>
      send(TEXTS, 'DELETE', `${snitch(token)}/tags/${encodeURIComponent(tag)}`),
    pause: (token: string, until?: string) =>
      send<void>(null, 'POST', `${snitch(token)}/pause`, until === undefined ? undefined : { until }),
    unpause: (token: string) => send<void>(null, 'POST', `${snitch(token)}/unpause`),
    explain: (token: string) => get(EXPLANATION, `${snitch(token)}/explain`),
    listCheckIns: (token: string, page: PageQuery = {}) =>
      get(list(CHECK_IN), `${snitch(token)}/check_ins${query({ ...page })}`),
    listAlerts: (token: string | null, page: PageQuery = {}) =>
      get(list(ALERT), `${token === null ? '/v1' : snitch(token)}/alerts${query({ ...page })}`),
    listDeliveries: (filter: PageQuery & { state?: WireDelivery['state'] } = {}) =>
      get(list(DELIVERY), `/v1/deliveries${query({ ...filter })}`),
    retryDelivery: (id: string) => send(DELIVERY, 'POST', `/v1/deliveries/${encodeURIComponent(id)}/retry`),
    getCase: () => get(CASE, '/v1/case'),
    updateCase: (changes: Partial<WireCase>) => send(CASE, 'PATCH', '/v1/case', changes),
    getAudience: () => get(AUDIENCE, '/v1/audience'),
    listWebhooks: () => get(list(WEBHOOK), '/v1/webhooks'),
    createWebhook: (url: string, notices = false) =>
      send(WEBHOOK, 'POST', '/v1/webhooks', { url, ...(notices ? { notices } : {}) }),
    deleteWebhook: (id: string) => send<void>(null, 'DELETE', `/v1/webhooks/${encodeURIComponent(id)}`),
    testWebhook: (id: string) => send(DELIVERY, 'POST', `/v1/webhooks/${encodeURIComponent(id)}/test`),
    rotateWebhookSecret: (id: string) =>
      send(WEBHOOK, 'POST', `/v1/webhooks/${encodeURIComponent(id)}/rotate_secret`),
    listApiKeys: () => get(list(API_KEY), '/v1/api_keys'),
    createApiKey: (input: { name: string; scope?: string }) => send(API_KEY, 'POST', '/v1/api_keys', input),
    deleteApiKey: (id: string) => send<void>(null, 'DELETE', `/v1/api_keys/${encodeURIComponent(id)}`),
    listCases: () => get(list(CASE), '/v1/cases'),
    createCase: (input: Partial<WireCase>) => send(CASE, 'POST', '/v1/cases', input),
    changeCase: (id: string, changes: Partial<WireCase>) =>
      send(CASE, 'PATCH', `/v1/cases/${encodeURIComponent(id)}`, changes),
    deleteCase: (id: string) => send<void>(null, 'DELETE', `/v1/cases/${encodeURIComponent(id)}`),
    createKeyOfCase: (id: string, input: { name: string; scope?: string }) =>
      send(API_KEY, 'POST', `/v1/cases/${encodeURIComponent(id)}/api_keys`, input),
    listKeysOfCase: (id: string) => get(list(API_KEY), `/v1/cases/${encodeURIComponent(id)}/api_keys`),
    getMaintenance: () => get(MAINTENANCE, '/v1/maintenance'),
    setMaintenance: (enabled: boolean) => send(MAINTENANCE, 'PUT', '/v1/maintenance', { enabled }),
    /** Lets the daemon log in at its mail server, and send a test mail where a recipient is given. */
    checkMail: (recipient: string | null) => send(MAIL_CHECK, 'POST', '/v1/checks/mail', { recipient }),
    /** Makes all of at most 500 snitches (100 by older servers), or none. */
    importSnitches: (snitches: readonly ImportInput[], owner: string | null) =>
      send(list(SNITCH), 'POST', '/v1/imports', { snitches, owner }),
    /** Changes all of at most 500 snitches, or none. */
    updateSnitches: (changes: readonly (SnitchInput & { token: string })[]) =>
      send(list(SNITCH), 'PATCH', '/v1/imports', { snitches: changes }),
    /** Passes over those that are gone already. */
    deleteSnitches: (tokens: readonly string[]) => send<void>(null, 'POST', '/v1/imports/delete', { tokens }),
    checkImport: (input: { snitches: readonly unknown[]; case?: unknown }) =>
      send(IMPORT_CHECK, 'POST', '/v1/imports/check', input),
    listOwnership: () => get(list(OWNERSHIP), '/v1/ownership'),
    setOwnership: (tokens: readonly string[], owner: string | null) =>
      send<void>(null, 'PUT', '/v1/ownership', { tokens, owner }),
    /** At once: whoever asks wants to know how it is now. */
    ready: () =>
      exchangeInTurn(new Turns(IMPATIENT), options, {
        method: 'GET',
        path: '/readyz',
        body: undefined,
        shape: READINESS,
      }),
    /** Whatever is answered at `path`, refusals included. */
    probe: (path: string) => probe(options, path),
    /** The open stream of changes; the caller reads it and destroys it. */
    stream: (lastEventId: string | null, signal: AbortSignal) => openStream(options, lastEventId, signal),
  };
}

function query(values: Record<string, string | number | undefined>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined) parameters.set(name, String(value));
  }
  return parameters.size > 0 ? `?${parameters}` : '';
}

export interface Probe {
  status: number;
  text: string;
  /** The server's clock, where it told. */
  date: string | null;
  /** Whether the daemon gave it, and not a proxy in between. */
  own: boolean;
}

async function probe(options: ClientOptions, path: string): Promise<Probe> {
  const signal = AbortSignal.timeout(options.timeoutMs ?? TIMEOUT);
  try {
    const response = await open(options, { method: 'GET', path, body: undefined, signal, headers: {} });
    const text = await readText(response);
    const { statusCode: status = 0, headers } = response;
    return { status, text, date: headers.date ?? null, own: isOwnAnswer(headers) };
  } catch (error) {
    throw new Unreachable(options.url, signal.aborted ? new Error('no answer in time') : error);
  }
}

async function openStream(
  options: ClientOptions,
  lastEventId: string | null,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const headers = lastEventId === null ? {} : { 'last-event-id': lastEventId };
  try {
    const response = await open(options, {
      method: 'GET',
      path: '/v1/stream',
      body: undefined,
      signal,
      headers,
    });
    if (response.statusCode !== 200) throw refusal(response, await readText(response));
    return response;
  } catch (error) {
    throw error instanceof ApiError ? error : new Unreachable(options.url, error);
  }
}
