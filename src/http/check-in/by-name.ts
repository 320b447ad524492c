/** Check-ins by name, the first of which can make its snitch (`extensions: When a job is due`). */
import type { IncomingMessage } from 'node:http';
import type { Case } from '../../core/case.ts';
import type { CheckIn } from '../../core/check-in.ts';
import { Invalid, PlanLimitReached, SnitchError } from '../../core/errors.ts';
import { MOST_NEEDS, needOf } from '../../core/needs/needs.ts';
import { readNewSnitch } from '../../core/snitch-input.ts';
import { actorOfKey } from '../endpoint/auth.ts';
import { STATUS_OF, TryLater } from '../endpoint/errors.ts';
import type { RateLimiter } from '../endpoint/rate-limit.ts';
import { valid } from '../endpoint/resource.ts';
import { createKeyHolder, type Holder, type KeyHolderOptions } from './key-holder.ts';
import { isMakeAsked, newSnitchIn } from './new-snitch.ts';
import type { Named } from './target.ts';

/** What the job is told if its check-in was not recorded. */
export interface Refusal {
  kind: 'refused';
  status: number;
  text: string;
  headers: Record<string, string>;
}

export type Recorded = { kind: 'recorded' } | { kind: 'made' };

/** The case whose snitches are named, or why none is opened. */
export type Admitted = ({ kind: 'admitted' } & Holder) | Refusal;

type Said = Omit<CheckIn, 'token'>;

const RECORDED: Recorded = { kind: 'recorded' };
const MADE: Recorded = { kind: 'made' };

const UNKNOWN_NAME =
  'There is no snitch with this name. With create=1 and an interval or a schedule its first check-in makes it.';

export type ByName = ReturnType<typeof createByName>;

export function createByName(options: KeyHolderOptions) {
  const { store, limiter } = options;
  const holderOf = createKeyHolder(options);

  async function make(
    { apiKey, case: ownCase }: Holder,
    { name, query }: Named,
    checkIn: Said,
  ): Promise<boolean> {
    if (ownCase.onHold) throw new SnitchError('account_on_hold', 'The account is on hold.');
    limitMaking(limiter, ownCase);
    if (!(await store.hasRoomForSnitch(ownCase.id))) throw new PlanLimitReached();
    const said = { timezone: ownCase.timezone, now: checkIn.now };
    const described = newSnitchIn(name, query);
    const fields = valid(readNewSnitch({ ...described, ...(await needsIn(ownCase.id, described)) }, said));
    return store.by(actorOfKey(apiKey), checkIn.now).applyFirstCheckIn(ownCase.id, fields, checkIn);
  }

  /** A job knows other snitches by name, and its key is not allowed to look up their tokens. */
  async function needsIn(caseId: string, { needs }: Record<string, unknown>): Promise<{ needs?: string[] }> {
    if (!Array.isArray(needs)) return {};
    const named = needs.slice(0, MOST_NEEDS + 1).map(async (one: string) => {
      if ('tag' in needOf(one) || (await store.ownerOfToken(one)) === caseId) return one;
      return (await store.findTokenByName(caseId, one)) ?? one;
    });
    return { needs: await Promise.all(named) };
  }

  return {
    /** @throws StoreUnavailable */
    admit: (request: IncomingMessage, named: Named): Promise<Admitted> =>
      answered(async () => ({ kind: 'admitted', ...(await holderOf(request, named)) })),

    /**
     * If the snitch exists, the check-in is recorded whatever else the address says, and its
     * settings stay as they are.
     *
     * @throws StoreUnavailable if the check-in was not stored
     */
    record: (holder: Holder, named: Named, checkIn: Said): Promise<Recorded | Refusal> =>
      answered(async () => {
        const token = await store.findTokenByName(holder.case.id, named.name);
        if (token !== null && (await store.applyCheckIn({ ...checkIn, token }))) return RECORDED;
        if (!isMakeAsked(named.query)) return refuse(404, UNKNOWN_NAME);
        return (await make(holder, named, checkIn)) ? MADE : RECORDED;
      }),
  };
}

/** Check-ins are never refused for being many, but the number of snitches that a case makes in this way is limited. */
function limitMaking(limiter: RateLimiter, { id }: Case): void {
  const waitMs = limiter.takeToMake(id, performance.now());
  if (waitMs === 0) return;
  const message = 'Too many snitches are being made at the same time.';
  throw new TryLater('rate_limited', message, Math.ceil(waitMs / 1_000));
}

/** What `work` returns, or the refusal in words. Faults of the server itself are rethrown. */
async function answered<T>(work: () => Promise<T | Refusal>): Promise<T | Refusal> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SnitchError) || STATUS_OF[error.type] >= 500) throw error;
    return refuse(STATUS_OF[error.type], wordsOf(error), headersOf(error));
  }
}

/** Every fault, since the job has no other place to show them. */
function wordsOf(error: SnitchError): string {
  if (!(error instanceof Invalid)) return error.message;
  const lines = error.validations.map(({ attribute, message }) => `${attribute} ${message}`);
  return ['The snitch cannot be made, so nothing was recorded:', ...lines].join('\n');
}

function headersOf(error: SnitchError): Record<string, string> {
  if (error instanceof TryLater) return { 'retry-after': String(error.retryAfterS) };
  return error.type === 'api_key_invalid' ? { 'www-authenticate': 'Basic realm="snitch"' } : {};
}

function refuse(status: number, words: string, headers: Record<string, string> = {}): Refusal {
  return { kind: 'refused', status, text: `${words}\n`, headers };
}
