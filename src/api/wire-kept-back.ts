/** Who has seen an alarm. Like a pause, a silence, or something needed that is down, it keeps alarms back. */

export interface WireAcknowledgement {
  at: string;
  note: string | null;
  /** A person, or the name of an API key. */
  by: string;
}

/** A pause, which keeps alarms back as well. */
export interface WirePause {
  /** What ends it: `healthy`, `unpaused`, or a time. */
  until: string;
  /** Who made it or last changed its end, and when: the name of a key. Null if the log no longer has it. */
  by: { name: string; at: string } | null;
}

/** The silence that keeps the alarms of a snitch back. */
export interface WireSilenced {
  /** The id of the silence; if there are several, the one that ends last. */
  id: string;
  /** When the snitch can alert again: several silences may follow one another without a gap. */
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
  /** Only for a silence that holds once; null for a recurring one. */
  from: string | null;
  to: string | null;
  /** Only for a recurring silence: when it begins. */
  schedule: { cron: string } | { calendar: string } | null;
  /** Seconds; null for one that holds once. */
  duration: number | null;
  /** The time zone of the schedule; null for the case's. */
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
  /** When somebody ended it early; null if nobody did. */
  ended_at: string | null;
  /** Only in the answer to its creation: those of its tags that no snitch has now. */
  unknown_tags?: string[] | undefined;
}

export interface WireStretch {
  from: string;
  to: string;
}

/** An alert that is held. */
export interface WireHold {
  /** What is down; null if that was deleted. */
  by: { token: string; name: string } | null;
  since: string;
  /** When it is raised if no check-in comes; null while something the snitch needs is down. */
  until: string | null;
}
