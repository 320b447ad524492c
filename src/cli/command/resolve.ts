/** Finds a snitch by its token, or by its name if no other snitch has the same. */
import { ApiError, type Client } from '../../api/client.ts';
import type { WireSnitch } from '../../api/wire.ts';
import { similar } from '../../text/similar.ts';
import { NotFoundError, UsageError } from '../failure/failure.ts';

/** Tokens that the server generates. Those of imported snitches may look different. */
const OWN_TOKEN = /^[a-z2-7]{26}$/;

export function looksLikeToken(text: string): boolean {
  return OWN_TOKEN.test(text);
}

/**
 * @throws NotFoundError with names that may have been meant; UsageError if several snitches have the name
 */
export async function resolveSnitch(client: Client, given: string): Promise<WireSnitch> {
  if (looksLikeToken(given)) {
    const snitch = await findByToken(client, given);
    if (snitch) return snitch;
  }
  return pickSnitch(await client.listSnitches(), given);
}

/** Finds several, each once, in the order given. All are found before anything is done to the first. */
export async function resolveSnitches(client: Client, given: readonly string[]): Promise<WireSnitch[]> {
  if (given.length === 1) return [await resolveSnitch(client, given[0] ?? '')];
  const all = await client.listSnitches();
  const found = given.map((one) => pickSnitch(all, one));
  return [...new Map(found.map((snitch) => [snitch.token, snitch])).values()];
}

export function pickSnitch(all: readonly WireSnitch[], given: string): WireSnitch {
  const byToken = all.find(({ token }) => token === given);
  if (byToken) return byToken;
  const [first, ...others] = all.filter(({ name }) => name === given);
  if (!first) throw new NotFoundError(describeMissing(all, given));
  if (others.length === 0) return first;
  const tokens = [first, ...others].map(({ token, status }) => `  ${token}  ${status}`);
  throw new UsageError(
    [`${tokens.length} snitches have the name "${given}"; use a token:`, ...tokens].join('\n'),
  );
}

async function findByToken(client: Client, token: string): Promise<WireSnitch | null> {
  try {
    return await client.getSnitch(token);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

function describeMissing(all: readonly WireSnitch[], given: string): string {
  const names = similar(
    given,
    all.map(({ name }) => name),
  );
  const missing = `no snitch has the token or the name "${given}"`;
  if (names.length > 0) return `${missing}\ndid you mean ${names.map((name) => `"${name}"`).join(' or ')}?`;
  return `${missing}\n\`snitch list\` lists them`;
}
