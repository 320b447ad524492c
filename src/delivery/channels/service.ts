/** What each kind of channel supplies: the requests that carry a message, and what an answer to them means. */
import type { Alert } from '../../core/alert.ts';
import type { ChannelKind, ChannelSettings, Incident } from '../../core/channel.ts';
import type { Answer } from '../http/http-sender.ts';
import type { ServiceMessage } from '../messages/service-message.ts';
import type { Outcome } from '../outbox/outcome.ts';

/** One message on its way to a service. */
export interface Post {
  settings: ChannelSettings;
  message: ServiceMessage;
  /** Null if the message is a digest of many. */
  alert: Alert | null;
  incident: Incident;
  /** Identifies what is sent: the same at each attempt, and never used for anything else. */
  id: string;
  /** Whether somebody sends it to see whether the channel works. */
  isTest: boolean;
  /** In milliseconds since the epoch. */
  now: number;
}

export interface ServiceRequest {
  url: string;
  method?: 'POST' | 'PUT';
  headers?: Record<string, string>;
  body: string;
}

/** For services that people read: messages to one chat must not come faster than the service accepts them. */
export interface ChatPace {
  /** In any 60 s, while alerts are few. */
  perMinute: number;
  /** Between two messages, in milliseconds. */
  gap: number;
  /** Room for the lists of a digest, in characters, if messages must be short. */
  digestRoom?: number;
}

export interface Service {
  readonly kind: ChannelKind;
  /** Null if each alert is sent on its own, however many wait: for programs, not for people. */
  readonly chat: ChatPace | null;
  /** Between the end of a request and the next to the same target, in milliseconds, if it is not a chat. */
  readonly gap?: number;
  /** Whether alarms expire unless they are repeated. */
  readonly repeats?: true;
  /** Sent one after the other, until one is not accepted. None if the service need not be told. */
  requests(post: Post): readonly ServiceRequest[];
  /** An error may quote the answer: it is cut and shown in one line, without secrets. */
  meaning(answer: Answer, post: Post): Outcome;
  /** What to send, once, instead of a request that was refused for good; null if nothing would do better. */
  instead?(
    answer: Answer,
    post: Post,
  ): { requests: readonly ServiceRequest[]; settings?: ChannelSettings } | null;
}

export function json(url: string, body: unknown, headers: Record<string, string> = {}): ServiceRequest {
  return { url, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
}

export function form(
  url: string,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
): ServiceRequest {
  const type = 'application/x-www-form-urlencoded';
  return { url, headers: { 'content-type': type, ...headers }, body: new URLSearchParams(fields).toString() };
}
