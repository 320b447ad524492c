/** What a server reports about itself on a new connection, and whether that makes it the one to write to. Pure. */

export interface ServerFacts {
  /** Such as 150018 for 15.18. */
  readonly versionNumber: number;
  readonly version: string;
  readonly encoding: string;
  /** It follows a primary. */
  readonly isStandby: boolean;
  /** It is a standby, or its operator forbids writes. */
  readonly isReadOnly: boolean;
  /** How often a standby of this cluster was promoted. Null if the server does not say. */
  readonly timeline: number | null;
  /** The same for a primary and all its standbys, and for no other server. Null if the server does not say. */
  readonly cluster: string | null;
  /** The process that serves this connection. */
  readonly backend: number;
}

/** The cluster, and the newest timeline, that this node has written to. */
export interface Seen {
  readonly cluster: string | null;
  readonly timeline: number;
}

export interface Refusal {
  /** Completes a sentence that begins with the host's name: `… is a standby`. */
  readonly words: string;
  /** Waiting does not help. */
  readonly isLasting: boolean;
  /** In words that anybody may see; null if nothing more is known than that it accepts no writes. */
  readonly told: string | null;
}

const OLDEST = 150_000;

/** Describes a host that may become the primary, but is not. */
export const STANDBY = 'is a standby, which takes no writes';

/**
 * Why this server must not be written to, or null.
 *
 * @param where the file that remembers what was seen, for the advice to a person; null if nothing remembers it
 */
export function refusalOf(facts: ServerFacts, seen: Seen | null, where: string | null): Refusal | null {
  if (facts.versionNumber < OLDEST)
    return lasting(`runs PostgreSQL ${facts.version}, and Snitch needs 15 or later`);
  if (facts.encoding !== 'UTF8')
    return lasting(
      `keeps this database in the encoding ${facts.encoding}, and Snitch needs UTF8: createdb --encoding=UTF8 --template=template0`,
    );
  if (facts.isStandby) return passing(STANDBY);
  if (facts.isReadOnly)
    return passing(
      'takes no writes (default_transaction_read_only is on: unless that is on purpose, reset it for the server, the database and the user)',
      'the database takes no writes: default_transaction_read_only is on',
    );
  return seen && refusalOfPast(facts, seen, where);
}

function refusalOfPast({ cluster, timeline }: ServerFacts, seen: Seen, where: string | null): Refusal | null {
  const advice = where === null ? '' : `; if that is intended, remove ${where} and start again`;
  if (cluster !== null && seen.cluster !== null && cluster !== seen.cluster)
    return lasting(
      `belongs to another cluster (${cluster}) than the one that this node has written to (${seen.cluster})${advice}`,
      'the server belongs to another cluster than the one that this node has written to',
    );
  if (timeline !== null && timeline < seen.timeline)
    return passing(
      `is an old primary (timeline ${timeline}; another server was promoted to ${seen.timeline}) and lacks what was written since${advice}`,
      'only an old primary is reached, which lacks what was written since',
    );
  return null;
}

const lasting = (words: string, told: string | null = null): Refusal => ({ words, isLasting: true, told });
const passing = (words: string, told: string | null = null): Refusal => ({ words, isLasting: false, told });

/** What to remember once this server was chosen, or null if it is known already. */
export function newlySeen({ cluster, timeline }: ServerFacts, seen: Seen | null): Seen | null {
  const next = {
    cluster: cluster ?? seen?.cluster ?? null,
    timeline: Math.max(timeline ?? 0, seen?.timeline ?? 0),
  };
  const isKnown = seen !== null && seen.cluster === next.cluster && seen.timeline === next.timeline;
  return isKnown ? null : next;
}
