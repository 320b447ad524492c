/** Who did what: `GET /v1/log`. */
import { nullable, object, type Shape, text, time } from './shape.ts';

export interface WireLogEntry {
  id: string;
  at: string;
  /** The key, under the name it had then. Its id is null if no key was used. */
  by: { key: string | null; name: string };
  /** `snitch.paused` and the like. */
  action: string;
  /** What it was done to, under the name it had then: its id is the token of a snitch, and null for several things. */
  subject: { id: string | null; name: string };
  details: WireLogDetails;
}

export interface WireLogDetails {
  changes?: Readonly<Record<string, WireFieldChange>>;
  /** What ends a pause: `healthy`, `unpaused`, or a time. */
  until?: string;
  count?: number;
  names?: readonly string[];
  owner?: string | null;
  scope?: string;
  channel?: string;
  note?: string;
}

/** Empty if only the fact of the change is recorded. */
export interface WireFieldChange {
  from?: unknown;
  to?: unknown;
  added?: readonly string[];
  removed?: readonly string[];
  /** How many more were added and removed than these lists name. */
  more?: number;
}

export const LOG_ENTRY = object<WireLogEntry>({
  id: text,
  at: time,
  by: object<WireLogEntry['by']>({ key: nullable(text), name: text }),
  action: text,
  subject: object<WireLogEntry['subject']>({ id: nullable(text), name: text }),
  details: object<WireLogDetails>({}) as Shape<WireLogDetails>,
});
