/** Addresses of clusters with several hosts, and what finds the primary among them. */
import { type PostgresAddress, parsePostgresUrl } from '../../../../src/core/database/postgres-url.ts';
import { Primary } from '../../../../src/store/postgres/hosts/primary.ts';
import { type SeenMemory, seenMemory } from '../../../../src/store/postgres/hosts/seen-file.ts';
import { openSession, type SessionOptions } from '../../../../src/store/postgres/hosts/session.ts';

/** The address of a database at these ports of 127.0.0.1. */
export function addressOf(
  ports: readonly number[],
  { database = 'postgres', options = 'connect_timeout=20' } = {},
): PostgresAddress {
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join();
  return parsePostgresUrl(`postgres://postgres@${hosts}/${database}?${options}`);
}

/** Long enough for a busy machine; a test that waits for the end of the patience asks for less. */
export function sessionOptions(
  address: PostgresAddress,
  options: Partial<SessionOptions> = {},
): SessionOptions {
  return { address, schema: 'public', answerWithinMs: 20_000, ...options };
}

export function primaryAmong(
  ports: readonly number[],
  {
    memory = seenMemory(null, () => undefined),
    warn = () => undefined,
    ...options
  }: Partial<SessionOptions> & { memory?: SeenMemory; warn?: (words: string) => void } = {},
): Primary {
  const address = options.address ?? addressOf(ports);
  return new Primary(sessionOptions(address, options), memory, warn);
}

/** Connects to the one host of an address and goes again; answers with what kept it from that, or null. */
export async function faultOf(
  address: PostgresAddress,
  options: Partial<SessionOptions> = {},
): Promise<Error | null> {
  const [host] = address.hosts;
  if (!host) throw new Error('the address names no host');
  try {
    const session = await openSession(
      host,
      sessionOptions({ ...address, connectTimeoutMs: 20_000 }, options),
    );
    await session.end();
    return null;
  } catch (error) {
    return error as Error;
  }
}
