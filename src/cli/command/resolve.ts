/** Finds a snitch by its token, its check-in address, or its name if no other snitch has the same. */
import { ApiError, type Client } from '../../api/client.ts';
import type { WireSnitch } from '../../api/wire.ts';
import { similar } from '../../text/similar.ts';
import { NotFoundError, UsageError } from '../failure/failure.ts';
import { isPastedAddress, tokensOf, withoutParameters } from './pasted-address.ts';

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
  const named = await client.listSnitches([], given);
  return pickSnitch(isAmong(named, given) ? named : await candidates(client, given, named), given);
}

/** Of so many snitches at most, one of a similar name is looked for. */
const MOST_SIMILAR = 10_000;

/** Where the given one is no name: those that its address may be of, or whose names may have been meant. */
async function candidates(client: Client, given: string, named: WireSnitch[]): Promise<WireSnitch[]> {
  if (isPastedAddress(given)) {
    const found = await Promise.all(tokensOf(given).map((token) => client.listSnitches([], token)));
    return found.flat();
  }
  // The error suggests similar names, or none if the list fails.
  return await client.listSnitches([], undefined, { most: MOST_SIMILAR }).catch(() => named);
}

function isAmong(snitches: readonly WireSnitch[], given: string): boolean {
  return snitches.some(({ token, name }) => token === given || name === given);
}

/** Up to this many names are asked for one by one: that is cheaper than a long list, but only for a few. */
export const FEW_NAMES = 10;

/** Finds several, each once, in the order given. All are found before anything is done to the first. */
export async function resolveSnitches(client: Client, given: readonly string[]): Promise<WireSnitch[]> {
  const found: WireSnitch[] = [];
  const all = given.length > FEW_NAMES ? await client.listSnitches() : null;
  for (const one of given) found.push(all ? pickSnitch(all, one) : await resolveSnitch(client, one));
  return [...new Map(found.map((snitch) => [snitch.token, snitch])).values()];
}

export function pickSnitch(all: readonly WireSnitch[], given: string): WireSnitch {
  const byToken = all.find(({ token }) => token === given);
  if (byToken) return byToken;
  const [first, ...others] = all.filter(({ name }) => name === given);
  if (!first) return isPastedAddress(given) ? pickByAddress(all, given) : refuseMissing(all, given);
  if (others.length === 0) return first;
  const tokens = [first, ...others].map(({ token, status }) => `  ${token}  ${status}`);
  throw new UsageError(
    [`${tokens.length} snitches have the name "${given}"; use a token:`, ...tokens].join('\n'),
  );
}

/** The same token on another host is the same snitch: servers have several names, and imported snitches keep their tokens. */
function pickByAddress(all: readonly WireSnitch[], given: string): WireSnitch {
  for (const token of tokensOf(given)) {
    const found = all.find((snitch) => snitch.token === token);
    if (found) return found;
  }
  throw new NotFoundError(
    [
      `no snitch has the check-in address "${withoutParameters(given)}" or its token`,
      'is it one of another server or case? `snitch list -o wide` shows the addresses of those that there are',
    ].join('\n'),
  );
}

function refuseMissing(all: readonly WireSnitch[], given: string): never {
  throw new NotFoundError(describeMissing(all, given));
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
