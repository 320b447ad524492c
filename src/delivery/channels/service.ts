/** What a kind of channel brings: the requests that carry a message, and what an answer to them means. */
import type { Alert } from '../../core/alert.ts';
import type { ChannelKind, ChannelSettings, Incident } from '../../core/channel.ts';
import type { Answer } from '../http/http-sender.ts';
import type { ServiceMessage } from '../messages/service-message.ts';
import type { Outcome } from '../outbox/outcome.ts';

/** One message on its way to a service. */
export interface Post {
  settings: ChannelSettings;
  message: ServiceMessage;
  /** Null where the message is a digest of many. */
  alert: Alert | null;
  incident: Incident;
  /** Names what is sent, the same at each attempt and never again for anything else. */
  id: string;
  /** Asked for by somebody who wants to see whether the channel works. */
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

/** For services that people read: messages to one chat must not come faster than the service takes them. */
export interface ChatPace {
  /** In any 60 s, as long as the alerts are few. */
  perMinute: number;
  /** Between two messages, in milliseconds. */
  gap: number;
  /** For the lists of a digest, in characters, where not much fits into a message. */
  digestRoom?: number;
}

export interface Service {
  readonly kind: ChannelKind;
  /** Null where each alert is sent by itself, whatever waits: for programs, not for people. */
  readonly chat: ChatPace | null;
  /** Between the end of a request and the next one to the same target, in milliseconds, where it is no chat. */
  readonly gap?: number;
  /** Whether alarms end by themselves unless they are told again. */
  readonly repeats?: true;
  /** Sent one after the other, until one of them is not taken. None where the service need not be told. */
  requests(post: Post): readonly ServiceRequest[];
  /** An error may quote the answer: it is cut and shown in one line, without secrets. */
  meaning(answer: Answer, post: Post): Outcome;
  /** What is sent once in the place of a request that was refused for good; null where nothing would be better. */
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
