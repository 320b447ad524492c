/** Tells an answer of the daemon itself from one sent by a proxy, a login portal or anything else at its address. */

/** A header on every answer of the daemon. Its value is a whole number: the version of its meaning. */
export const OWN_ANSWER = ['snitch', '1'] as const;

export function isOwnAnswer(headers: Record<string, unknown>): boolean {
  return headers[OWN_ANSWER[0]] !== undefined;
}
