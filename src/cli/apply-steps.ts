/** Carries out a plan, patiently: a server that says "not so fast" is waited for. */
import type { Client, ImportInput } from '../api/client.ts';
import { batchesOf } from './apply-check.ts';
import type { Creation, FieldChange, Plan } from './apply-plan.ts';
import { say } from './output.ts';

/** How often one request is tried, and how long a server may ask us to wait for the next, in seconds. */
const MOST_TRIES = 10;
const LONGEST_WAIT_S = 300;

/** Tokens that the server takes in one request. */
const LARGEST_CLAIM = 500;

/**
 * First what makes room, at last what needs it. A plan that was carried out in part is carried on by applying the
 * file again, because each step says what shall be, and not what to do.
 */
export async function carryOut(client: Client, plan: Plan, prune: boolean): Promise<void> {
  for (const { token } of prune ? plan.gone : []) {
    await patiently(() => unlessGone(client.deleteSnitch(token)));
  }
  if (plan.case.length > 0) await patiently(() => client.updateCase(valuesOf(plan.case)));
  await changeOwners(client, plan);
  for (const { token, fields } of plan.change) {
    if (fields.length > 0) await patiently(() => client.updateSnitch(token, valuesOf(fields)));
  }
  for (const [owner, created] of Map.groupBy(plan.create, (one) => one.owner)) {
    for (const snitches of batchesOf(created.map(importOf))) {
      await patiently(() => client.importSnitches(snitches, owner));
    }
  }
}

function importOf({ beside: _beside, owner: _owner, ...snitch }: Creation): ImportInput {
  return snitch;
}

/** What is taken over is freed first: the server gives nothing to one owner that another one has. */
async function changeOwners(client: Client, { change }: Plan): Promise<void> {
  const adopted = change.filter((one) => one.adopted);
  const taken = adopted.filter(({ takenFrom }) => takenFrom !== null);
  for (const tokens of batchesOf(taken.map(tokenOf), LARGEST_CLAIM)) {
    await patiently(() => client.setOwnership(tokens, null));
  }
  for (const [owner, ofOwner] of Map.groupBy(adopted, (one) => one.owner)) {
    for (const tokens of batchesOf(ofOwner.map(tokenOf), LARGEST_CLAIM)) {
      await patiently(() => client.setOwnership(tokens, owner));
    }
  }
}

function tokenOf({ token }: { token: string }): string {
  return token;
}

function valuesOf(changes: readonly FieldChange[]): Record<string, never> {
  return Object.fromEntries(changes.map(({ field, to }) => [field, to as never]));
}

/** Somebody else may have deleted it meanwhile, which is what was wanted. */
async function unlessGone(deletion: Promise<void>): Promise<void> {
  try {
    await deletion;
  } catch (error) {
    if ((error as { status?: number }).status !== 404) throw error;
  }
}

/** Tries again when the server said after how long to. */
export async function patiently<T>(request: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await request();
    } catch (error) {
      const { status, retryAfterS } = error as { status?: number; retryAfterS?: number | null };
      const waitable = (status === 429 || status === 503) && retryAfterS != null;
      if (!waitable || retryAfterS > LONGEST_WAIT_S || tries === MOST_TRIES) throw error;
      say(`the server asks to wait ${retryAfterS} s: waiting`);
      await new Promise((resolve) => setTimeout(resolve, retryAfterS * 1_000));
    }
  }
}
