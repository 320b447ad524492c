/** The calls of the client, grouped by resource. Each group needs only a way to send a call. */
import { LOG_ENTRY } from './log.ts';
import { query } from './query.ts';
import { list, PLAIN_TEXT, type Shape } from './shape.ts';
import {
  ALERT,
  API_KEY,
  AUDIENCE,
  BADGE,
  CASE,
  CHANNEL,
  CHECK_IN,
  DELIVERY,
  EXPLANATION,
  IMPORT_CHECK,
  MAIL_CHECK,
  MAINTENANCE,
  OWNERSHIP,
  SCHEDULE_CHECK,
  SILENCE,
  WEBHOOK,
} from './shapes.ts';
import { SNITCH, TEXTS } from './snitch-shapes.ts';
import { STATUS_PAGE, type StatusPageInput } from './status-page.ts';
import type { WireCase, WireDelivery, WireExpectation, WireHours, WireSchedule } from './wire.ts';

export interface SnitchInput {
  name?: string;
  public_name?: string | null;
  interval?: string;
  alert_type?: string;
  alert_email?: string[] | string | null;
  notes?: string | null;
  tags?: string[] | null;
  /** Null for none: then the interval says when the job is due. */
  schedule?: WireSchedule | null;
  timezone?: string | null;
  /** Seconds. */
  grace?: number | null;
  /** Seconds. */
  max_runtime?: number | null;
  min_runtime?: number | null;
  failures_before_alert?: number | null;
  expect?: ExpectationInput[] | null;
  needs?: string[] | null;
}

/** What is left out is not checked, except for `required`, which then is true. */
export type ExpectationInput = Pick<WireExpectation, 'value'> & Partial<WireExpectation>;

/** A new snitch that can keep its own token. */
export interface ImportInput extends SnitchInput {
  token?: string | null;
}

export interface PageQuery {
  limit?: number;
  before?: string;
}

export interface LogQuery extends PageQuery {
  /** The token of a snitch, or the id of anything else that something was done to. */
  token?: string;
  action?: string;
}

/** Sends a call. The answer has the given shape; null if nothing of it is used. */
export type Send = <T>(shape: Shape<T> | null, method: string, path: string, body?: unknown) => Promise<T>;

export function snitchCalls(send: Send) {
  return {
    /** In the text format of Prometheus. */
    metrics: (tags: readonly string[] = []) =>
      send(PLAIN_TEXT, 'GET', `/v1/metrics${query({ tags: tags.length > 0 ? tags.join(',') : undefined })}`),
    getSnitch: (token: string) => send(SNITCH, 'GET', snitch(token)),
    createSnitch: (input: SnitchInput) => send(SNITCH, 'POST', '/v1/snitches', input),
    updateSnitch: (token: string, changes: SnitchInput) => send(SNITCH, 'PATCH', snitch(token), changes),
    deleteSnitch: (token: string) => send<void>(null, 'DELETE', snitch(token)),
    addTags: (token: string, tags: readonly string[]) => send(TEXTS, 'POST', `${snitch(token)}/tags`, tags),
    removeTag: (token: string, tag: string) => send(TEXTS, 'DELETE', at(`${snitch(token)}/tags`, tag)),
    pause: (token: string, until?: string) =>
      send<void>(null, 'POST', `${snitch(token)}/pause`, until === undefined ? undefined : { until }),
    unpause: (token: string) => send<void>(null, 'POST', `${snitch(token)}/unpause`),
    acknowledge: (token: string, said: { note?: string | null; by?: string | null } = {}) =>
      send(SNITCH, 'POST', `${snitch(token)}/acknowledge`, said),
    unacknowledge: (token: string) => send(SNITCH, 'DELETE', `${snitch(token)}/acknowledge`),
    explain: (token: string) => send(EXPLANATION, 'GET', `${snitch(token)}/explain`),
    listCheckIns: (token: string, page: PageQuery = {}) =>
      send(list(CHECK_IN), 'GET', `${snitch(token)}/check_ins${query({ ...page })}`),
  };
}

/** Snitches that are managed in files. */
export function importCalls(send: Send) {
  return {
    /**
     * Makes all of at most 500 snitches (100 by older servers), or none.
     *
     * @param known the tokens of the snitches that the client knew, so the call is refused if one of the same name was
     *   made meanwhile
     */
    importSnitches: (snitches: readonly ImportInput[], owner: string | null, known?: readonly string[]) =>
      send(list(SNITCH), 'POST', '/v1/imports', { snitches, owner, ...(known ? { known } : {}) }),
    /** Changes all of at most 500 snitches, or none. */
    updateSnitches: (changes: readonly (SnitchInput & { token: string })[]) =>
      send(list(SNITCH), 'PATCH', '/v1/imports', { snitches: changes }),
    /** Ignores those that are gone already. */
    deleteSnitches: (tokens: readonly string[]) => send<void>(null, 'POST', '/v1/imports/delete', { tokens }),
    checkImport: (input: { snitches: readonly unknown[]; case?: unknown; channels?: readonly unknown[] }) =>
      send(IMPORT_CHECK, 'POST', '/v1/imports/check', input),
    listOwnership: () => send(list(OWNERSHIP), 'GET', '/v1/ownership'),
    setOwnership: (tokens: readonly string[], owner: string | null) =>
      send<void>(null, 'PUT', '/v1/ownership', { tokens, owner }),
  };
}

/** Alerts and their deliveries. */
export function alertCalls(send: Send) {
  return {
    /** @param token the token of a snitch; null for all alerts of the case */
    listAlerts: (token: string | null, page: PageQuery = {}) =>
      send(list(ALERT), 'GET', `${token === null ? '/v1' : snitch(token)}/alerts${query({ ...page })}`),
    listDeliveries: (filter: PageQuery & { state?: WireDelivery['state'] } = {}) =>
      send(list(DELIVERY), 'GET', `/v1/deliveries${query({ ...filter })}`),
    /** Who did what, newest first. */
    listLog: (filter: LogQuery = {}) => send(list(LOG_ENTRY), 'GET', `/v1/log${query({ ...filter })}`),
    retryDelivery: (id: string) => send(DELIVERY, 'POST', `${at('/v1/deliveries', id)}/retry`),
  };
}

/** The case that the key belongs to. */
export function caseCalls(send: Send) {
  return {
    getCase: () => send(CASE, 'GET', '/v1/case'),
    updateCase: (changes: Partial<WireCase>) => send(CASE, 'PATCH', '/v1/case', changes),
    /** @param names how many snitches that alert nobody to name at most; absent to look for none */
    getAudience: (names?: number) =>
      send(AUDIENCE, 'GET', `/v1/audience${names === undefined ? '' : `?unreached=${names}`}`),
  };
}

export interface ScheduleInput {
  schedule: WireSchedule;
  timezone?: string;
  /** Seconds. */
  grace?: number;
  from?: string;
}

export function scheduleCalls(send: Send) {
  return {
    /** When a schedule would be due, without storing it. */
    checkSchedule: (input: ScheduleInput) => send(SCHEDULE_CHECK, 'POST', '/v1/schedules/check', input),
  };
}

export function webhookCalls(send: Send) {
  return {
    listWebhooks: () => send(list(WEBHOOK), 'GET', '/v1/webhooks'),
    createWebhook: (url: string, notices = false) =>
      send(WEBHOOK, 'POST', '/v1/webhooks', { url, ...(notices ? { notices } : {}) }),
    deleteWebhook: (id: string) => send<void>(null, 'DELETE', at('/v1/webhooks', id)),
    testWebhook: (id: string) => send(DELIVERY, 'POST', `${at('/v1/webhooks', id)}/test`),
    rotateWebhookSecret: (id: string) => send(WEBHOOK, 'POST', `${at('/v1/webhooks', id)}/rotate_secret`),
  };
}

export interface ChannelInput {
  kind?: string;
  name?: string;
  /** Null removes an optional setting. */
  settings?: Record<string, string | null>;
  events?: readonly string[];
  tags?: readonly string[];
  /** Seconds. */
  after?: number;
  hours?: WireHours | null;
}

export function channelCalls(send: Send) {
  return {
    /** With webhooks and members. */
    listChannels: () => send(list(CHANNEL), 'GET', '/v1/channels'),
    /**
     * @param known the channels that the client knew, so the call is refused if one of the same
     *   kind and name was made meanwhile
     */
    createChannel: (input: ChannelInput, known?: readonly string[]) =>
      send(CHANNEL, 'POST', '/v1/channels', { ...input, ...(known ? { known } : {}) }),
    updateChannel: (id: string, changes: ChannelInput) =>
      send(CHANNEL, 'PATCH', at('/v1/channels', id), changes),
    deleteChannel: (id: string) => send<void>(null, 'DELETE', at('/v1/channels', id)),
    testChannel: (id: string) => send(DELIVERY, 'POST', `${at('/v1/channels', id)}/test`),
  };
}

export interface SilenceInput {
  tags?: readonly string[];
  tokens?: readonly string[];
  all?: true;
  from?: string;
  to?: string;
  schedule?: { cron: string } | { calendar: string };
  /** Seconds. */
  duration?: number;
  timezone?: string;
  note?: string;
}

export function silenceCalls(send: Send) {
  return {
    /** The silences that are not over, the newest first. */
    listSilences: () => send(list(SILENCE), 'GET', '/v1/silences'),
    createSilence: (input: SilenceInput) => send(SILENCE, 'POST', '/v1/silences', input),
    getSilence: (id: string) => send(SILENCE, 'GET', at('/v1/silences', id)),
    deleteSilence: (id: string) => send<void>(null, 'DELETE', at('/v1/silences', id)),
  };
}

export interface BadgeInput {
  /** Exactly one of the two. */
  token?: string;
  tag?: string;
  label?: string;
}

export function badgeCalls(send: Send) {
  return {
    /** The newest first. */
    listBadges: () => send(list(BADGE), 'GET', '/v1/badges'),
    createBadge: (input: BadgeInput) => send(BADGE, 'POST', '/v1/badges', input),
    deleteBadge: (id: string) => send<void>(null, 'DELETE', at('/v1/badges', id)),
  };
}

export function statusPageCalls(send: Send) {
  return {
    getStatusPage: () => send(STATUS_PAGE, 'GET', '/v1/status_page'),
    putStatusPage: (input: StatusPageInput) => send(STATUS_PAGE, 'PUT', '/v1/status_page', input),
    deleteStatusPage: () => send<void>(null, 'DELETE', '/v1/status_page'),
  };
}

interface KeyInput {
  name: string;
  scope?: string;
}

export function keyCalls(send: Send) {
  return {
    listApiKeys: () => send(list(API_KEY), 'GET', '/v1/api_keys'),
    createApiKey: (input: KeyInput) => send(API_KEY, 'POST', '/v1/api_keys', input),
    deleteApiKey: (id: string) => send<void>(null, 'DELETE', at('/v1/api_keys', id)),
  };
}

/** What an admin key may do. */
export function adminCalls(send: Send) {
  return {
    listCases: () => send(list(CASE), 'GET', '/v1/cases'),
    createCase: (input: Partial<WireCase>) => send(CASE, 'POST', '/v1/cases', input),
    changeCase: (id: string, changes: Partial<WireCase>) => send(CASE, 'PATCH', at('/v1/cases', id), changes),
    deleteCase: (id: string) => send<void>(null, 'DELETE', at('/v1/cases', id)),
    createKeyOfCase: (id: string, input: KeyInput) =>
      send(API_KEY, 'POST', `${at('/v1/cases', id)}/api_keys`, input),
    listKeysOfCase: (id: string) => send(list(API_KEY), 'GET', `${at('/v1/cases', id)}/api_keys`),
    getMaintenance: () => send(MAINTENANCE, 'GET', '/v1/maintenance'),
    setMaintenance: (enabled: boolean) => send(MAINTENANCE, 'PUT', '/v1/maintenance', { enabled }),
    /** Makes the daemon log in to its mail server, and send a test mail if there is a recipient. */
    checkMail: (recipient: string | null) => send(MAIL_CHECK, 'POST', '/v1/checks/mail', { recipient }),
  };
}

function snitch(token: string): string {
  return at('/v1/snitches', token);
}

/** The path of one item of a collection. */
function at(collection: string, name: string): string {
  return `${collection}/${encodeURIComponent(name)}`;
}
