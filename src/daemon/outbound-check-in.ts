/** The daemon's own check-in at another server, which tells somebody when this one is gone. */
import { fetch } from 'undici';

/** For the whole exchange, in milliseconds. */
const TIMEOUT = 30_000;

/**
 * @param url any check-in address that counts a GET; it is a secret, and no error names it
 * @param userAgent as the other server's log shows it
 * @throws Error in words for a log, where the answer is no success
 */
export async function checkInElsewhere(url: string, userAgent: string): Promise<void> {
  const response = await fetch(url, {
    headers: { 'user-agent': userAgent },
    // A redirect may lead to a login page, and what that answers is no check-in.
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT),
  }).catch((error: unknown) => {
    throw new Error(`watchdog.url cannot be reached: ${reasonOf(error)}`);
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`watchdog.url answered with ${response.status}`);
}

/** The message of the library may quote the address; a code says enough. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if (error.name === 'TimeoutError') return `no answer within ${TIMEOUT / 1_000} s`;
  const cause = error.cause as { code?: unknown; message?: unknown } | undefined;
  if (typeof cause?.code === 'string') return cause.code;
  // The library's own reasons, such as a port that it does not speak to, name no address.
  return typeof cause?.message === 'string' ? cause.message : error.name;
}
