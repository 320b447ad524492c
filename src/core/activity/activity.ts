/**
 * Who did what: the changes that people made with their keys. What the server does on its own, and what jobs report,
 * is not part of this.
 */
import { DAY } from '../../text/durations.ts';
import type { Details } from './changes.ts';

/** Who changes something: a key, under the name it has at that time. */
export interface Actor {
  /** Null if no key was used: at the first start, for instance. */
  keyId: string | null;
  name: string;
}

/** For when no key was used: at the first start, and when the database is changed by hand. */
export const SERVER_ITSELF: Actor = { keyId: null, name: 'the server' };

/** Who does something, and when. Every store operation by which people change something takes one. */
export interface Act {
  by: Actor;
  /** In milliseconds since the epoch. */
  at: number;
}

export const ACTIONS = [
  'snitch.created',
  'snitch.changed',
  'snitch.deleted',
  'snitch.paused',
  'snitch.unpaused',
  'snitch.acknowledged',
  'snitch.unacknowledged',
  'snitches.imported',
  'snitches.owned',
  'silence.created',
  'silence.changed',
  'silence.deleted',
  'badge.created',
  'badge.deleted',
  'case.created',
  'case.changed',
  'case.deleted',
  'key.created',
  'key.deleted',
  'webhook.created',
  'webhook.deleted',
  'webhook.secret_changed',
  'webhook.tested',
  'channel.created',
  'channel.changed',
  'channel.deleted',
  'channel.tested',
  'status_page.created',
  'status_page.changed',
  'status_page.deleted',
  'delivery.retried',
  'maintenance.began',
  'maintenance.ended',
] as const;

export type Action = (typeof ACTIONS)[number];

export function isAction(text: string): text is Action {
  return (ACTIONS as readonly string[]).includes(text);
}

/** What something was done to, under the name it had then. */
export interface Subject {
  /** The token of a snitch, the id of anything else; null for several things at once, and for the server. */
  id: string | null;
  name: string;
}

/** One thing that somebody did. */
export interface Entry extends Act {
  id: number;
  action: Action;
  subject: Subject;
  details: Details;
}

/** How long entries are kept, in milliseconds. */
export const KEPT_FOR = 90 * DAY;

/** The most entries kept for one case: the oldest go first. */
export const MOST_ENTRIES = 20_000;

/** Longer names are cut to this many characters. */
export const LONGEST_NAME = 255;
