/** Brings one check-in to the server or onto the disk, so that it is never only in memory for long. */

import { delay } from '../../system/delay.ts';
import type { KeptCheckIn } from '../sending/check-in.ts';
import type { Answer } from '../sending/send.ts';
import { type Claim, dropExcess, refuse, release, remove, rewrite, writeClaimed } from './directory.ts';

/** If the server takes longer than this to answer, the check-in is put on the disk meanwhile; milliseconds. */
const SAFE_AFTER = 250;

export interface Delivery {
  checkIn: KeptCheckIn;
  answer: Answer;
  /** The file that it waits in, if it does. */
  claim: Claim | null;
  /** Why it could not be kept, if that was tried. */
  fault: string | null;
  /** How many check-ins refused earlier had to be deleted to make room for it. */
  deleted: number;
}

/**
 * @param isKept tells which answers leave the check-in on the disk; the caller deals with the others
 * @param held the file that has it already
 */
export async function deliver(
  directory: string,
  checkIn: KeptCheckIn,
  sending: Promise<Answer>,
  isKept: (answer: Answer) => boolean,
  held: Claim | null = null,
): Promise<Delivery> {
  const isSlow = held === null && (await isSlower(sending));
  const safe = held === null && isSlow ? await keep(directory, checkIn) : { claim: held, fault: null };
  const answer = await sending;
  if (answer.kind === 'recorded' || !isKept(answer)) {
    if (safe?.claim) await quietly(remove(safe.claim));
    return { checkIn, answer, claim: null, fault: null, deleted: 0 };
  }
  const kept = safe?.claim ? safe : await keep(directory, checkIn);
  if (kept.claim && answer.kind === 'later') await quietly(release(directory, kept.claim));
  const deleted =
    kept.claim && answer.kind === 'refused'
      ? await refuse(directory, kept.claim, checkIn, answer.reason).catch(() => 0)
      : 0;
  return { checkIn, answer, ...kept, deleted };
}

/** Whether something takes so long that the check-in should be put on disk in the meantime. */
async function isSlower(work: Promise<unknown>): Promise<boolean> {
  return Promise.race([work.then(() => false), delay(SAFE_AFTER).then(() => true)]);
}

/**
 * A check-in that becomes complete only after a while. It is kept on disk until then, so that it is not lost with this
 * process.
 *
 * @param complete never fails
 * @returns the complete check-in, and the file that has it if it took a while
 */
export async function completed(
  directory: string,
  checkIn: KeptCheckIn,
  complete: Promise<Partial<KeptCheckIn>>,
): Promise<{ checkIn: KeptCheckIn; held: Claim | null }> {
  const { claim } = (await isSlower(complete)) ? await keep(directory, checkIn) : { claim: null };
  const whole = { ...checkIn, ...(await complete) };
  if (claim !== null) await quietly(rewrite(directory, claim, whole));
  return { checkIn: whole, held: claim };
}

async function keep(directory: string, checkIn: KeptCheckIn): Promise<Pick<Delivery, 'claim' | 'fault'>> {
  try {
    return { claim: await writeClaimed(directory, checkIn), fault: null };
  } catch (error) {
    return { claim: null, fault: (error as NodeJS.ErrnoException).code ?? String(error) };
  }
}

/** Faults that another directory would not mend. */
const FULL = ['ENOSPC', 'EDQUOT'];

/** What became of the check-in, in lines for stderr; none if all is well. */
export function explainDelivery(
  { answer, claim: kept, fault, deleted }: Delivery,
  directory: string,
): string[] {
  if (answer.kind === 'recorded') return [];
  if (kept === null) {
    const lost = `the check-in is lost: it cannot be kept in ${directory}: ${fault}`;
    const remedy = 'set SNITCH_SPOOL_DIR to a directory that this user may write to';
    return [answer.reason, lost, ...(fault !== null && FULL.includes(fault) ? [] : [remedy])];
  }
  if (answer.kind === 'refused') {
    const aside = 'the check-in is set aside: `snitch spool list` shows how to send it again';
    return [answer.reason, aside, ...tellDeleted(deleted)];
  }
  return [answer.reason, 'the check-in is kept; the next one sends it, or `snitch spool flush`'];
}

/** @returns a line about refused check-ins that had to be deleted, if there were any */
export function tellDeleted(count: number): string[] {
  const what = count === 1 ? 'the oldest of them is' : `the ${count} oldest of them are`;
  return count === 0 ? [] : [`too many refused check-ins are set aside: ${what} deleted`];
}

/** Keeps the spool within its bounds. @returns a line about what had to be dropped, if the spool was full */
export async function boundSpool(directory: string): Promise<string[]> {
  const dropped = await dropExcess(directory).catch(() => 0);
  return dropped > 0 ? [`the spool is full: its ${dropped} oldest check-ins are dropped`] : [];
}

/** Ignores failures: a file that is left behind is found by the next flush, and sending it twice does no harm. */
export async function quietly(work: Promise<unknown>): Promise<void> {
  await work.catch(() => {});
}
