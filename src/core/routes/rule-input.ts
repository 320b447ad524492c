/** What a client may set on a route: input → value, or one validation per failing attribute. */
import {
  CHANNEL_EVENTS,
  type ChannelEvent,
  type ChannelKind,
  keepsIncidents,
  LONGEST_AFTER,
  type RouteRule,
} from '../channel.ts';
import type { Validation } from '../errors.ts';
import type { Hours } from '../hours/hours.ts';
import { checkHours } from '../hours/hours-input.ts';
import { type Body, refuse } from '../input.ts';
import { type Checked, NOT_AN_OBJECT, validateSnitchChanges } from '../validation.ts';

/**
 * Those of `events`, `tags`, `after` and `hours` that are given; null is the default of each, which for events the
 * caller knows.
 */
export function validateRule(
  { events, tags, after, hours }: Body,
  kind: ChannelKind | 'webhook' | 'email',
): Checked<Partial<RouteRule>> {
  const checked = {
    events: events == null ? {} : checkEvents(events, kind),
    tags: tags === undefined ? {} : checkTags(tags),
    after: after === undefined ? {} : checkAfter(after),
    hours: hours === undefined ? {} : checkHoursOf(hours),
  };
  const results: { value?: unknown; validations?: Validation[] }[] = Object.values(checked);
  const validations = results.flatMap((one) => one.validations ?? []);
  if (validations.length > 0) return { validations };
  const named = Object.entries(checked).filter(([, one]) => 'value' in one);
  return { value: Object.fromEntries(named.map(([name, one]) => [name, (one as { value: unknown }).value])) };
}

function checkEvents(given: unknown, kind: string): Checked<ChannelEvent[]> {
  const known = CHANNEL_EVENTS as readonly unknown[];
  if (!Array.isArray(given) || given.length === 0 || !given.every((one) => known.includes(one))) {
    return refuse('events', `must be a list with at least one of ${CHANNEL_EVENTS.join(', ')}`);
  }
  const events = CHANNEL_EVENTS.filter((event) => given.includes(event));
  if (!keepsIncidents(kind)) return { value: events };
  if (events.includes('blind'))
    return refuse('events', `blind is nothing for ${kind}: it would stay open for ever`);
  const alarms = events.includes('missing') || events.includes('errored');
  return alarms
    ? { value: events }
    : refuse('events', `${kind} needs missing or errored: it hears only of alarms`);
}

function checkTags(given: unknown): Checked<string[]> {
  const { value, validations } = validateSnitchChanges({ tags: given });
  return validations ? { validations } : { value: value.tags ?? [] };
}

function checkAfter(given: unknown): Checked<number> {
  if (given === null) return { value: 0 };
  if (typeof given === 'number' && Number.isInteger(given) && given >= 0 && given <= LONGEST_AFTER) {
    return { value: given };
  }
  return refuse('after', `must be a whole number of seconds from 0 to ${LONGEST_AFTER} (7 days)`);
}

function checkHoursOf(given: unknown): Checked<Hours | null> {
  if (given === null) return { value: null };
  const { hours, problem } = checkHours(given);
  return hours ? { value: hours } : refuse('hours', problem);
}

/** A webhook or a member, as the list of channels shows it. */
export interface ShownTarget {
  kind: 'webhook' | 'email';
  name: string;
  settings: Readonly<Record<string, string>>;
}

/** Any other field is refused, unless it is sent back just as it was shown. */
export function validateRouteChanges(given: unknown, shown: ShownTarget): Checked<Partial<RouteRule>> {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return { validations: [NOT_AN_OBJECT] };
  const body = given as Body;
  const { value, validations = [] } = validateRule(body, shown.kind);
  const fixed = (['kind', 'name', 'settings'] as const)
    .filter((name) => body[name] !== undefined && !isSame(body[name], shown[name]))
    .map((attribute) => ({ attribute, message: ELSEWHERE[shown.kind] }));
  const all = [...validations, ...fixed];
  return value && all.length === 0 ? { value } : { validations: all };
}

const ELSEWHERE = {
  webhook: 'of a webhook cannot change here: add another with `snitch webhook add` (POST /v1/webhooks)',
  email: 'of a member cannot change here: use `snitch member add` and `remove` (PATCH /v1/case)',
};

function isSame(given: unknown, shown: unknown): boolean {
  return JSON.stringify(given) === JSON.stringify(shown);
}
