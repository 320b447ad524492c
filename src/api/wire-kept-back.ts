/** What keeps alarms from people: that somebody has seen them, a silence, or something that is down. */

export interface WireAcknowledgement {
  at: string;
  note: string | null;
  /** A person, or the name of an API key. */
  by: string;
}

/** What keeps the alarms of a snitch back. */
export interface WireSilenced {
  /** The id of the silence; of several the one that ends last. */
  id: string;
  /** When the snitch is heard again: silences may follow one another without a gap. */
  until: string;
  /** The name of the key that made it. */
  by: string;
  note: string;
}

/** A planned time without alarms. Exactly one of `tags`, `tokens` and `all` says what it covers. */
export interface WireSilence {
  id: string;
  tags: string[] | null;
  tokens: string[] | null;
  all: boolean;
  /** Of one that holds once; null for a recurring one. */
  from: string | null;
  to: string | null;
  /** Of a recurring one: when it begins. */
  schedule: { cron: string } | { calendar: string } | null;
  /** Seconds; null for one that holds once. */
  duration: number | null;
  /** The time zone of the schedule; null for that of the case. */
  timezone: string | null;
  note: string;
  /** The name of the key that made it. */
  by: string;
  created_at: string;
  /** Whether it holds now. */
  active: boolean;
  current: WireStretch | null;
  /** When it holds next; null for never. */
  next: WireStretch | null;
  /** When somebody ended it early; null for nobody. */
  ended_at: string | null;
  /** Only in the answer that makes it: those of its tags that no snitch has now. */
  unknown_tags?: string[] | undefined;
}

export interface WireStretch {
  from: string;
  to: string;
}

/** An alert that is held. */
export interface WireHold {
  /** What is down; null where that was deleted. */
  by: { token: string; name: string } | null;
  since: string;
  /** When it is told if the snitch stays silent; null while something that it needs is down. */
  until: string | null;
}
