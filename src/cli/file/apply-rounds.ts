/** Carries out a plan while somebody else changes the same case: most often by the same plan, from another host. */
import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { ApiError } from '../../api/client.ts';

/** Statuses for a plan that no longer fits: the limit is reached, something is gone, or exists by now. */
const REFUSALS = [402, 404, 422];

/** Two who apply the same large file take turns, and each turn makes hundreds of snitches. */
const MOST_ROUNDS = 50;
const LONGEST_PAUSE_MS = 500;

interface Work<Plan> {
  /** Does what the plan says, and stops at the first refusal. */
  carryOut(plan: Plan): Promise<void>;
  /** Makes a new plan for what is left. @throws Failure if that must not be done without asking */
  planAgain(before: Plan): Promise<Plan>;
}

/**
 * A refusal is followed by a new look at what there is. If that shows nothing that the plan did not know, the refusal
 * has another cause.
 *
 * @throws ApiError for that refusal, and for every other failure
 */
export async function carryOutInRounds<Plan>(
  first: Plan,
  { carryOut, planAgain }: Work<Plan>,
): Promise<Plan> {
  let plan = first;
  for (let round = 1; ; round += 1) {
    try {
      await carryOut(plan);
      return plan;
    } catch (error) {
      if (!isRefusal(error) || round === MOST_ROUNDS) throw error;
      // Two that plan again at the same moment would collide again.
      await wait(Math.random() * LONGEST_PAUSE_MS);
      const next = await planAgain(plan);
      if (isDeepStrictEqual(next, plan)) throw error;
      plan = next;
    }
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && REFUSALS.includes(error.status);
}
