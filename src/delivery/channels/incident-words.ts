/** What services that keep incidents are told about a snitch, in fields instead of sentences. */
import type { Alert } from '../../core/alert.ts';
import { printable, shorten } from '../../text/printable.ts';
import { bodyText } from '../messages/service-message.ts';
import type { Post } from './service.ts';

/** The steps in the life of an incident. */
export type Step = 'open' | 'close';

/** A test opens an incident and closes it, so whoever asked for it sees both. */
export function stepsOf({ message, isTest }: Pick<Post, 'message' | 'isTest'>): readonly Step[] {
  if (isTest) return ['open', 'close'];
  if (message.purpose === 'alarm') return ['open'];
  return message.purpose === 'end' ? ['close'] : [];
}

/** The key of an incident, in a form that each of these services accepts. */
export function keyOf({ incident }: Pick<Post, 'incident'>): string {
  return `snitch-${incident.key}`;
}

/** The fields of the snitch, of bounded length. */
export function snitchFields(alert: Alert | null): Record<string, string> {
  if (!alert?.snitch) return {};
  const { token, name, tags, status } = alert.snitch;
  return { token, name: shorten(printable(name), 255), tags: tagsOf(tags), status };
}

function tagsOf(tags: readonly string[]): string {
  return shorten(printable(tags.join(', ')), 1_000);
}

/** What the snitch was called when the outage began, in one line; empty for a notice. */
export function nameOf({ incident }: Pick<Post, 'incident'>): string {
  return shorten(printable(incident.name), 255);
}

/** The full text, without the title. */
export function detailsOf({ message }: Pick<Post, 'message'>): string {
  return bodyText(message);
}
