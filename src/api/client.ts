/** A typed client of the HTTP API, for the command line and the dashboard. It uses nothing but Node's own HTTP. */
import type { IncomingMessage } from 'node:http';
import { isOwnAnswer } from './own-answer.ts';
import type {
  WireAlert,
  WireApiKey,
  WireCase,
  WireCheckIn,
  WireDelivery,
  WireError,
  WireExplanation,
  WireImportCheck,
  WireOwnership,
  WireSnitch,
  WireWebhook,
} from './wire.ts';

/** The server answered, and refused. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly body: WireError | null;
  /** Seconds after which to try again, where the server said so. */
  readonly retryAfterS: number | null;

  constructor(status: number, body: WireError | null, retryAfterS: number | null) {
    super(body?.error ?? `the server answered with status ${status}`);
    this.status = status;
    this.body = body;
    this.retryAfterS = retryAfterS;
  }
}

/** No answer came: nobody listens, the connection broke, or time ran out. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
  readonly url: string;

  constructor(url: string, cause: unknown) {
    super(`cannot reach ${url}: ${cause instanceof Error ? cause.message || codeOf(cause) : String(cause)}`, {
      cause,
    });
    this.url = url;
  }
}

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : error.name;
}

export interface ClientOptions {
  /** `http://host:port`, `https://…`, with or without a path, or `unix:/path/to/socket`. */
  url: string;
  apiKey: string;
  /** Bound on one whole exchange, in milliseconds. */
  timeoutMs?: number;
}

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

const TIMEOUT = 30_000;
const LARGEST_ANSWER = 512 * 1024 * 1024;

export type Client = ReturnType<typeof createClient>;

export function createClient(options: ClientOptions) {
  const send = <T>(method: string, path: string, body?: unknown) => exchange<T>(options, method, path, body);
  const get = <T>(path: string) => send<T>('GET', path);
  const snitch = (token: string) => `/v1/snitches/${encodeURIComponent(token)}`;
  return {
    listSnitches: (tags: readonly string[] = []) =>
      get<WireSnitch[]>(`/v1/snitches${query({ tags: tags.length > 0 ? tags.join(',') : undefined })}`),
    getSnitch: (token: string) => get<WireSnitch>(snitch(token)),
    createSnitch: (input: SnitchInput) => send<WireSnitch>('POST', '/v1/snitches', input),
    updateSnitch: (token: string, changes: SnitchInput) => send<WireSnitch>('PATCH', snitch(token), changes),
    deleteSnitch: (token: string) => send<void>('DELETE', snitch(token)),
    addTags: (token: string, tags: readonly string[]) =>
      send<string[]>('POST', `${snitch(token)}/tags`, tags),
    removeTag: (token: string, tag: string) =>
      send<string[]>('DELETE', `${snitch(token)}/tags/${encodeURIComponent(tag)}`),
    pause: (token: string, until?: string) =>
      send<void>('POST', `${snitch(token)}/pause`, until === undefined ? undefined : { until }),
    unpause: (token: string) => send<void>('POST', `${snitch(token)}/unpause`),
    explain: (token: string) => get<WireExplanation>(`${snitch(token)}/explain`),
    listCheckIns: (token: string, page: PageQuery = {}) =>
      get<WireCheckIn[]>(`${snitch(token)}/check_ins${query({ ...page })}`),
    listAlerts: (token: string | null, page: PageQuery = {}) =>
      get<WireAlert[]>(`${token === null ? '/v1' : snitch(token)}/alerts${query({ ...page })}`),
    listDeliveries: (filter: PageQuery & { state?: WireDelivery['state'] } = {}) =>
      get<WireDelivery[]>(`/v1/deliveries${query({ ...filter })}`),
    retryDelivery: (id: string) =>
      send<WireDelivery>('POST', `/v1/deliveries/${encodeURIComponent(id)}/retry`),
    getCase: () => get<WireCase>('/v1/case'),
    updateCase: (changes: Partial<WireCase>) => send<WireCase>('PATCH', '/v1/case', changes),
    listWebhooks: () => get<WireWebhook[]>('/v1/webhooks'),
    createWebhook: (url: string) => send<WireWebhook>('POST', '/v1/webhooks', { url }),
    deleteWebhook: (id: string) => send<void>('DELETE', `/v1/webhooks/${encodeURIComponent(id)}`),
    testWebhook: (id: string) => send<WireDelivery>('POST', `/v1/webhooks/${encodeURIComponent(id)}/test`),
    rotateWebhookSecret: (id: string) =>
      send<WireWebhook>('POST', `/v1/webhooks/${encodeURIComponent(id)}/rotate_secret`),
    listApiKeys: () => get<WireApiKey[]>('/v1/api_keys'),
    createApiKey: (input: { name: string; scope?: string }) =>
      send<WireApiKey>('POST', '/v1/api_keys', input),
    deleteApiKey: (id: string) => send<void>('DELETE', `/v1/api_keys/${encodeURIComponent(id)}`),
    listCases: () => get<WireCase[]>('/v1/cases'),
    createCase: (input: Partial<WireCase>) => send<WireCase>('POST', '/v1/cases', input),
    changeCase: (id: string, changes: Partial<WireCase>) =>
      send<WireCase>('PATCH', `/v1/cases/${encodeURIComponent(id)}`, changes),
    deleteCase: (id: string) => send<void>('DELETE', `/v1/cases/${encodeURIComponent(id)}`),
    createKeyOfCase: (id: string, input: { name: string; scope?: string }) =>
      send<WireApiKey>('POST', `/v1/cases/${encodeURIComponent(id)}/api_keys`, input),
    listKeysOfCase: (id: string) => get<WireApiKey[]>(`/v1/cases/${encodeURIComponent(id)}/api_keys`),
    getMaintenance: () => get<{ enabled: boolean }>('/v1/maintenance'),
    setMaintenance: (enabled: boolean) => send<{ enabled: boolean }>('PUT', '/v1/maintenance', { enabled }),
    /** Makes all of at most 100 snitches, or none. */
    importSnitches: (snitches: readonly ImportInput[], owner: string | null) =>
      send<WireSnitch[]>('POST', '/v1/imports', { snitches, owner }),
    checkImport: (input: { snitches: readonly unknown[]; case?: unknown }) =>
      send<WireImportCheck>('POST', '/v1/imports/check', input),
    listOwnership: () => get<WireOwnership[]>('/v1/ownership'),
    setOwnership: (tokens: readonly string[], owner: string | null) =>
      send<void>('PUT', '/v1/ownership', { tokens, owner }),
    ready: () => get<{ status: string; problems?: string[] }>('/readyz'),
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

async function exchange<T>(options: ClientOptions, method: string, path: string, body: unknown): Promise<T> {
  const signal = AbortSignal.timeout(options.timeoutMs ?? TIMEOUT);
  try {
    const response = await open(options, { method, path, body, signal, headers: {} });
    const text = await readText(response);
    const status = response.statusCode ?? 0;
    if (status < 200 || status > 299) throw refusal(response, text);
    return (text === '' ? undefined : parseAnswer(text)) as T;
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new Unreachable(options.url, signal.aborted ? new Error('no answer in time') : error);
  }
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

export interface Call {
  method: string;
  path: string;
  body: unknown;
  signal: AbortSignal;
  headers: Record<string, string>;
}

export function open({ url, apiKey }: ClientOptions, call: Call): Promise<IncomingMessage> {
  const socketPath = url.startsWith('unix:') ? url.slice('unix:'.length) : undefined;
  const target = new URL(socketPath === undefined ? url : 'http://localhost');
  // Put together by hand: a URL takes the segments `.` and `..`, which are tags like any other, for steps of a path.
  const path = target.pathname.replace(/\/+$/, '') + call.path;
  const text = call.body === undefined ? '' : JSON.stringify(call.body);
  const headers = {
    ...call.headers,
    ...(apiKey === '' ? {} : { authorization: `Basic ${Buffer.from(`${apiKey}:`).toString('base64')}` }),
    ...(text === '' ? {} : { 'content-type': 'application/json' }),
    'content-length': Buffer.byteLength(text),
  };
  // An import of these modules would evaluate every export of theirs, a whole second HTTP client among them: that
  // alone takes longer than a command.
  const { request } =
    target.protocol === 'https:'
      ? process.getBuiltinModule('node:https')
      : process.getBuiltinModule('node:http');
  return new Promise((resolve, reject) => {
    const common = { path, method: call.method, headers, signal: call.signal, agent: false };
    request(target, socketPath === undefined ? common : { ...common, socketPath }, resolve)
      .on('error', reject)
      .end(text);
  });
}

export async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > LARGEST_ANSWER) throw new Error('the answer is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parseAnswer(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('what answers there is no snitch server');
  }
}

export function refusal(response: IncomingMessage, text: string): ApiError {
  const retryAfter = response.headers['retry-after'];
  const seconds = retryAfter !== undefined && /^\d+$/.test(retryAfter) ? Number(retryAfter) : null;
  return new ApiError(response.statusCode ?? 0, parseError(text), seconds);
}

function parseError(text: string): WireError | null {
  try {
    const body = JSON.parse(text) as WireError | null;
    return body && typeof body.error === 'string' ? body : null;
  } catch {
    return null;
  }
}
