/** What a schedule means for a check-in (`extensions: When a job is due`). All lengths are in milliseconds. */
import { MINUTE, SECOND } from '../../text/durations.ts';
import type { Schedule } from './schedule.ts';

/** A check-in may come before its run by a tenth of the gap, up to `MOST_EARLY`: the clocks of hosts differ. */
const EARLY_SHARE = 10;
const MOST_EARLY = 5 * MINUTE;

/**
 * Synchronised clocks still differ by seconds, in either direction. A check-in that comes so shortly before a run
 * belongs to that run, whatever came before it.
 */
const CLOCKS_DIFFER = 10 * SECOND;

/** The check-in before the one in question, and the deadline that followed from it. */
export interface EarlierCheckIn {
  at: number;
  deadline: number | null;
}

/**
 * By when the next check-in is expected after one at `at`: `grace` after the first run that it does not answer for.
 * Null if no further run is due.
 *
 * 1. A check-in answers for every run up to it.
 * 2. It also answers for the run after it if it comes before that run by no more than a tenth of the gap between the
 *    two runs around it, at most 5 minutes.
 * 3. Rule 2 does not apply if a check-in in that gap has already answered for the run before it: a second one, sent
 *    by hand or twice, must not count for a run still to come. There are two exceptions. A check-in at most 10
 *    seconds before a run belongs to it. And a run that the earlier check-in answered for stays answered.
 *
 * @param earlier null for the first check-in
 */
export function deadlineAfterCheckIn(
  schedule: Schedule,
  grace: number,
  at: number,
  earlier: EarlierCheckIn | null,
): number | null {
  const next = schedule.nextAfter(at);
  if (next === null) return null;
  if (!comesEarlyFor(schedule, at, next)) return next + grace;
  const following = schedule.nextAfter(next);
  const deadline = following === null ? null : following + grace;
  return answersFor(schedule, at, next, deadline, earlier) ? deadline : next + grace;
}

/**
 * Whether a check-in at `at` is near enough to the run at `next`. With `every` it never is, because no run comes before
 * it.
 */
function comesEarlyFor(schedule: Schedule, at: number, next: number): boolean {
  if (next - at > MOST_EARLY) return false;
  const last = schedule.lastUntil(at);
  return last !== null && next - at <= (next - last) / EARLY_SHARE;
}

/**
 * The earliest instant at which a check-in would answer for the run at `run`. With `every` it comes when the job ends,
 * which never takes quite the same time.
 */
export function earliestCheckIn(schedule: Schedule, run: number): number {
  const last = schedule.lastUntil(run - 1);
  if (last !== null) return run - Math.min(MOST_EARLY, (run - last) / EARLY_SHARE);
  const [gap] = schedule.gapsAfter(run);
  return run - Math.min(MOST_EARLY, Math.max(MINUTE, (gap ?? 0) / EARLY_SHARE));
}

/** Rule 3. @param deadline the deadline if the run at `next` is answered for */
function answersFor(
  schedule: Schedule,
  at: number,
  next: number,
  deadline: number | null,
  earlier: EarlierCheckIn | null,
): boolean {
  if (earlier === null || next - at <= CLOCKS_DIFFER) return true;
  const last = schedule.lastUntil(at);
  if (last === null || earlier.at < last) return true;
  return deadline !== null && earlier.deadline !== null && earlier.deadline >= deadline;
}
