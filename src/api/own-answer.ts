/** How an answer of the daemon itself is told from one of a proxy, a portal or whatever else has its address. */

/** On every answer of the daemon; its value is the version of what it says, a whole number. */
export const OWN_ANSWER = ['snitch', '1'] as const;

export function isOwnAnswer(headers: Record<string, unknown>): boolean {
  return headers[OWN_ANSWER[0]] !== undefined;
}
