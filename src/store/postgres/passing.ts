/** Which faults at the start may pass, so that a daemon waits, and which only a person can mend. */
import { codeOf, unavailable } from './faults.ts';
import { ConnectionFault } from './hosts/faults.ts';
import { OlderNodesLive } from './nodes/older.ts';
import { NotAdmitted } from './nodes/versions.ts';

/**
 * A host that cannot be reached, has an unknown name, is only just starting or accepts no writes may be ready later: it
 * is often started at the same time as this program, and so is the name service. A wrong password, database,
 * certificate or right stays wrong until somebody changes it.
 *
 * @returns what is waited for, in words that anybody may see; null if waiting does not help
 */
export function reasonToWait(error: unknown): string | null {
  if (error instanceof ConnectionFault) return error.isLasting ? null : reasonFor(error, NOT_THERE);
  if (error instanceof OlderNodesLive) return OLDER_NODES;
  return unavailable(error) === null ? null : reasonFor(error, NOT_THERE);
}

/**
 * What keeps a node from its database, in words that anybody may see: they name no host, no user and no database.
 *
 * @param otherwise used if the error does not say
 */
export function reasonFor(error: unknown, otherwise: string): string {
  for (let one = error; one instanceof Error; one = one.cause) {
    if (one instanceof NotAdmitted) return one.message;
    if (one instanceof ConnectionFault && one.told !== null) return one.told;
    const code = codeOf(one);
    const words = REASONS.find(([codes]) => codes.test(code));
    if (words) return words[1];
  }
  return otherwise;
}

/** By the server's error codes (appendix A of its manual), and by Node's codes for certificates. */
const REASONS: readonly [RegExp, string][] = [
  [/^28/, 'the database refuses the user or the password of this node'],
  [/^3D000$/, 'the server has no database of the name that this node was given'],
  [/^42501$/, 'the database does not give this node the rights that it needs'],
  [/^CERT_HAS_EXPIRED$/, 'the certificate of the database has expired'],
  [
    /^(CERT_|ERR_TLS_CERT|UNABLE_TO_(GET|VERIFY)|SELF_SIGNED|DEPTH_ZERO)/,
    'this node does not trust the certificate of the database',
  ],
  [/^53300$/, 'the database has no connection free for this node'],
  [/^53100$/, 'the disk of the database is full'],
  [
    /^(57014|55P03)$/,
    'the database takes too long for this node: another session holds locks that it needs, or the server or its disk is slow',
  ],
];

const OLDER_NODES =
  'nodes of an older version are at work on the database, and the upgrade of its schema waits for them';

const NOT_THERE = 'the database cannot be reached, or takes no writes yet';
