/** Carries out a plan, and waits when the server asks for it. */
import type { Client, ImportInput } from '../../api/client.ts';
import { delay } from '../../system/delay.ts';
import { say } from '../output/output.ts';
import { type Creation, NEEDS, type Plan } from './apply-plan.ts';
import { batchesOf, inBatches, inBatchesOrOneByOne } from './batches.ts';
import type { FieldChange } from './field-change.ts';
import type { ToMake } from './file-needs.ts';
import { runInput } from './run-fields.ts';

/** How often one request is tried, and how long a server may ask us to wait for the next, in seconds. */
const MOST_TRIES = 10;
const LONGEST_WAIT_S = 300;

/** How many tokens the server accepts in one request. */
const LARGEST_CLAIM = 500;

/** How many tokens of other snitches are sent with a batch of new ones, whose size leaves room for them. */
const MOST_KNOWN = 100;

/**
 * Makes room first, and takes it last. If a plan was carried out only in part, applying the file again completes it,
 * because each step states how things should be, not what to do.
 */
export async function carryOut(client: Client, plan: Plan, prune: boolean): Promise<void> {
  await inBatchesOrOneByOne(
    prune ? plan.gone.map(tokenOf) : [],
    (tokens) => patiently(() => client.deleteSnitches(tokens)),
    (token) => patiently(() => unlessGone(client.deleteSnitch(token))),
  );
  if (plan.case.length > 0) await patiently(() => client.updateCase(valuesOf(plan.case)));
  await changeOwners(client, plan);
  await inBatchesOrOneByOne(
    changesOf(plan),
    (changes) => patiently(() => client.updateSnitches(changes)),
    ({ token, ...values }) => patiently(() => client.updateSnitch(token, values)),
  );
  const tokens = new Map<ToMake, string>();
  for (const [owner, created] of Map.groupBy(plan.create, (one) => one.owner)) {
    let begun = 0;
    await inBatches(created.map(importOf), async (snitches) => {
      const known = knownOf(plan, snitches);
      const made = await patiently(() => client.importSnitches(snitches, owner, known));
      for (const [index, { token }] of made.entries()) {
        const creation = created[begun + index];
        if (creation) tokens.set(creation, token);
      }
      begun += made.length;
    });
  }
  await writeNeeds(client, plan, tokens);
}

/**
 * Needs that already have tokens are sent with the other fields: the server looks for circles only after the whole
 * request is written, so needs and tags can be swapped within it.
 */
function changesOf({ change, needs }: Plan): (Record<string, unknown> & { token: string })[] {
  const known = new Map(
    needs.map(({ of, needs: refs }) => [of, refs.filter((ref) => typeof ref === 'string')]),
  );
  return change
    .filter(({ fields }) => fields.length > 0)
    .map(({ token, fields, keeps }) => ({
      ...valuesOf(fields.filter(({ field }) => field !== NEEDS)),
      ...keeps,
      ...(known.has(token) ? { needs: known.get(token) } : {}),
      token,
    }));
}

/** Writes the needs of new snitches, and needs that name one, because these had no tokens before. */
async function writeNeeds(client: Client, plan: Plan, tokens: ReadonlyMap<ToMake, string>): Promise<void> {
  const known = (one: string | ToMake) => (typeof one === 'string' ? one : (tokens.get(one) ?? ''));
  const changes = plan.needs
    .filter(({ of, needs }) => [of, ...needs].some((one) => typeof one !== 'string'))
    .map(({ of, needs }) => ({ token: known(of), needs: needs.map(known) }));
  await inBatches(changes, (batch) => patiently(() => client.updateSnitches(batch)));
}

/**
 * If another apply of the same file has made a snitch of such a name since the plan, the server refuses to make a
 * second one. Undefined if the file has so many of one name that they do not fit into the request.
 */
function knownOf({ sameNamed }: Plan, snitches: readonly ImportInput[]): string[] | undefined {
  const known = snitches.flatMap(({ name = '' }) =>
    Object.hasOwn(sameNamed, name) ? (sameNamed[name] ?? []) : [],
  );
  return known.length > MOST_KNOWN ? undefined : known;
}

/** Leaves out what is the default: the shorter the entries, the more of them fit into one request. */
function importOf(creation: Creation): ImportInput {
  const {
    name,
    public_name,
    interval,
    token,
    alert_type,
    alert_email,
    notes,
    tags,
    schedule,
    timezone,
    grace,
  } = creation;
  return {
    name,
    ...(public_name ? { public_name } : {}),
    interval,
    ...(schedule ? { schedule } : {}),
    ...(timezone ? { timezone } : {}),
    ...(typeof grace === 'number' ? { grace } : {}),
    ...runInput(creation),
    ...(token === null ? {} : { token }),
    ...(alert_type === 'basic' ? {} : { alert_type }),
    ...(alert_email.length === 0 ? {} : { alert_email }),
    ...(notes === '' ? {} : { notes }),
    ...(tags.length === 0 ? {} : { tags }),
  };
}

/** First releases what is taken over, because the server does not give an owner what another owner has. */
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
export async function unlessGone(deletion: Promise<void>): Promise<void> {
  try {
    await deletion;
  } catch (error) {
    if ((error as { status?: number }).status !== 404) throw error;
  }
}

/** Tries again if the server says when. */
export async function patiently<T>(request: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await request();
    } catch (error) {
      const { status, retryAfterS } = error as { status?: number; retryAfterS?: number | null };
      const waitable = (status === 429 || status === 503) && retryAfterS != null;
      if (!waitable || retryAfterS > LONGEST_WAIT_S || tries === MOST_TRIES) throw error;
      say(`the server asks to wait ${retryAfterS} s: waiting`);
      await delay(retryAfterS * 1_000);
    }
  }
}
