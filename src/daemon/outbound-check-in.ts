/** The daemon's own check-in at another server, which alerts somebody when this one is gone. */
import { fetch } from 'undici';

/** Time limit for the whole exchange, in milliseconds. */
const TIMEOUT = 30_000;

/**
 * @param url any check-in address that accepts GET; it is a secret, so no error names it
 * @param userAgent what the other server sees as the client
 * @throws Error in words for the log if the check-in was not accepted
 */
export async function checkInElsewhere(url: string, userAgent: string): Promise<void> {
  const response = await fetch(url, {
    headers: { 'user-agent': userAgent },
    // A redirect may lead to a login page, whose answer would look like a success.
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT),
  }).catch((error: unknown) => {
    throw new Error(`watchdog.url cannot be reached: ${reasonOf(error)}`);
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`watchdog.url answered with ${response.status}`);
}

/** The library's message may quote the address, and a code says enough. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if (error.name === 'TimeoutError') return `no answer within ${TIMEOUT / 1_000} s`;
  const cause = error.cause as { code?: unknown; message?: unknown } | undefined;
  if (typeof cause?.code === 'string') return cause.code;
  // The library's own reasons, such as a port that it refuses to use, name no address.
  return typeof cause?.message === 'string' ? cause.message : error.name;
}
