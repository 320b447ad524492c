/** Who calls, and what the key may do (`spec §5`); the checks run in the order that `decisions` gives. */
import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { Actor } from '../../core/activity/activity.ts';
import type { ApiKey } from '../../core/api-key.ts';
import type { Case } from '../../core/case.ts';
import { SnitchError } from '../../core/errors.ts';
import type { Store } from '../../store/store.ts';
import { TryLater } from './errors.ts';
import { createUseRecorder } from './key-use.ts';
import type { RateLimiter } from './rate-limit.ts';

/**
 * Whose keys may use a route: those of a case, the server's (`admin`), or both (`member`). With `any`, even a read key
 * may use every method.
 */
export type Audience = 'case' | 'admin' | 'member' | 'any';

export interface Caller {
  apiKey: ApiKey;
  /** Null for an admin key, which belongs to no case. */
  case: Case | null;
}

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null;
  }
  interface FastifyContextConfig {
    audience?: Audience;
    /** The methods of the path. Any other is refused, to whatever key. */
    methods?: readonly string[];
    /** Whether the route works during maintenance, because it is the one that ends it. */
    duringMaintenance?: boolean;
    /** Whether the route itself checks which site a request comes from. */
    anySite?: boolean;
    /** Whether the key may also be a bearer token: some clients can read a key from a file only for that. */
    bearer?: boolean;
    /** The names of its pages, if the route leaves snitch tokens to check-ins. */
    besideTokens?: RegExp | undefined;
  }
}

const MAINTENANCE_RETRY_S = 60;

export interface AuthenticatorOptions {
  store: Store;
  limiter: RateLimiter;
  clock: () => number;
}

/** @returns a function that finds out who calls, or throws the reason why the call is refused */
export function createAuthenticator({ store, limiter, clock }: AuthenticatorOptions) {
  const recordUse = createUseRecorder(store);

  return async function authenticate(request: FastifyRequest): Promise<Caller> {
    const { audience = 'case', methods, duringMaintenance, bearer } = request.routeOptions.config;
    const key = keyIn(request.raw) ?? (bearer ? bearerIn(request.raw) : null);
    const found = key === null ? null : await store.findApiKey(key);
    if (!found) throw new SnitchError('api_key_invalid', 'The API key is missing or invalid.');
    limit(limiter, found, performance.now());
    recordUse(found.apiKey, clock());
    if (!duringMaintenance && (await store.getSetting('maintenance')) === 'on') {
      throw new TryLater('service_unavailable', 'The service is under maintenance.', MAINTENANCE_RETRY_S);
    }
    if (found.case?.onHold) throw new SnitchError('account_on_hold', 'The account is on hold.');
    const isServed = !request.is404 && (methods?.includes(request.method) ?? true);
    admit(found.apiKey, isServed ? audience : 'any', request.method);
    return found;
  };
}

/** The key's own limit comes first, so a blocked key uses up nothing that the keys of its case share. */
function limit(limiter: RateLimiter, { apiKey, case: ownCase }: Caller, now: number): void {
  const blockedMs = limiter.take(apiKey.id, now);
  if (blockedMs > 0) {
    const message = 'Too many requests in a short period: this API key is blocked for a while.';
    throw new TryLater('rate_limited', message, Math.ceil(blockedMs / 1_000));
  }
  const waitMs = ownCase ? limiter.takeOfCase(ownCase.id, now) : 0;
  if (waitMs > 0) {
    const message = 'Too many requests in a short period by all API keys of this case together.';
    throw new TryLater('rate_limited', message, Math.ceil(waitMs / 1_000));
  }
}

const BASIC = /^Basic +([A-Za-z0-9+/]+={0,2}) *$/i;

/** The user name of HTTP Basic; null if there is none, or more than one header to choose from. */
export function keyIn(raw: IncomingMessage): string | null {
  const headers = raw.headersDistinct.authorization;
  if (headers?.length !== 1) return null;
  const encoded = BASIC.exec(headers[0] ?? '')?.[1];
  if (!encoded) return null;
  const [userName] = Buffer.from(encoded, 'base64').toString('utf8').split(':', 1);
  return userName || null;
}

const BEARER = /^Bearer +([A-Za-z0-9_]+) *$/i;

/** The token of a Bearer header; null if there is none, or more than one header to choose from. */
function bearerIn(raw: IncomingMessage): string | null {
  const headers = raw.headersDistinct.authorization;
  return headers?.length === 1 ? (BEARER.exec(headers[0] ?? '')?.[1] ?? null) : null;
}

function admit({ scope }: ApiKey, audience: Audience, method: string): void {
  if (scope === 'provision') {
    throw new SnitchError(
      'api_key_forbidden',
      'This API key may only check in by name, at the check-in address, and make snitches with their first check-in.',
    );
  }
  if (audience === 'any') return;
  if (audience === 'admin' && scope !== 'admin') {
    throw new SnitchError('api_key_forbidden', 'This needs an admin key.');
  }
  if (audience === 'case' && scope === 'admin') {
    throw new SnitchError(
      'api_key_forbidden',
      'An admin key belongs to no case: use a key of the case, made with POST /v1/cases/<id>/api_keys.',
    );
  }
  if (scope === 'read' && method !== 'GET' && method !== 'HEAD') {
    throw new SnitchError('api_key_forbidden', 'This API key may only read.');
  }
}

/** @throws SnitchError when the key was deleted, or its case put on hold, since it was let in */
export async function assertAdmitted(store: Pick<Store, 'getApiKey'>, id: string): Promise<void> {
  const found = await store.getApiKey(id);
  if (!found) throw new SnitchError('api_key_invalid', 'The API key is missing or invalid.');
  if (found.case?.onHold) throw new SnitchError('account_on_hold', 'The account is on hold.');
}

/** The case that the request's key belongs to. */
export function caseOf(request: FastifyRequest): Case {
  const ownCase = request.caller?.case;
  if (!ownCase) throw new SnitchError('api_key_forbidden', 'This API key belongs to no case.');
  return ownCase;
}

/** In whose name a request changes something. */
export function actorOf({ caller }: Pick<FastifyRequest, 'caller'>): Actor {
  if (!caller) throw new SnitchError('api_key_invalid', 'The API key is missing or invalid.');
  return actorOfKey(caller.apiKey);
}

export function actorOfKey({ id, name }: ApiKey): Actor {
  return { keyId: id, name };
}
