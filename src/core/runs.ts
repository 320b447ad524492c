/**
 * The open runs of a snitch that watches how long its runs take: those that began and have not ended (`extensions: What
 * a run must look like`).
 *
 * - A run **overruns** at the instant when it has taken longer than `max_runtime`. That fails a healthy or errored
 *   snitch.
 * - While a run that started in time is open, its end is awaited: the deadline is the later of the snitch's own and the
 *   instant at which that run overruns.
 * - A run is **excused** if its end may have been lost while the service was blind. It then raises no alarm, but still
 *   holds the deadline back until it would overrun, since it may still be going on.
 *
 * The state machine decides as if there were no runs, on the state that `apart` gives; `together` then adds what the
 * runs change: the instant at which the sweep must look.
 */
import { MINUTE, SECOND } from '../text/durations.ts';
import type { OpenRun } from './open-run.ts';
import type { SnitchState } from './snitch.ts';

/** The most runs of one snitch that are watched: they are stored in the row that every check-in reads. */
export const MOST_OPEN = 50;

/** How long earlier runs took, in milliseconds. */
export interface UsualRuntime {
  shortest: number;
  longest: number;
}

/** The state without its runs, and the runs. */
export function apart(snitch: SnitchState): { plain: SnitchState; open: readonly OpenRun[] } {
  if (snitch.runs === null) return { plain: snitch, open: [] };
  return { plain: { ...snitch, dueAt: snitch.runs.dueAt, runs: null }, open: snitch.runs.open };
}

/** The state with the runs in `open`, if it watches runs. */
export function together(plain: SnitchState, open: readonly OpenRun[]): SnitchState {
  if (plain.maxRuntime === null || open.length === 0) return plain;
  return { ...plain, dueAt: dueWith(plain, open), runs: { dueAt: plain.dueAt, open } };
}

/** When `run` overruns. */
export function overrunsAt(
  { from }: Pick<OpenRun, 'from'>,
  { maxRuntime }: Pick<SnitchState, 'maxRuntime'>,
): number {
  return maxRuntime === null ? Number.POSITIVE_INFINITY : from + maxRuntime * SECOND;
}

function dueWith(plain: SnitchState, open: readonly OpenRun[]): number | null {
  if (plain.status !== 'healthy' && plain.status !== 'errored') return plain.dueAt;
  const own = plain.dueAt ?? Number.POSITIVE_INFINITY;
  const inTime = open.filter(({ startedAt }) => startedAt <= own);
  const deadline = Math.max(own, ...inTime.map((run) => overrunsAt(run, plain)));
  const watched = open.filter(({ excused }) => !excused);
  const due = Math.min(deadline, ...watched.map((run) => overrunsAt(run, plain)));
  return Number.isFinite(due) ? due : null;
}

/** The run that overran first, or null if none has by `now`. */
export function overranBy(plain: SnitchState, open: readonly OpenRun[], now: number): OpenRun | null {
  const over = open.filter((run) => !run.excused && overrunsAt(run, plain) <= now);
  return over.toSorted((one, other) => one.from - other.from)[0] ?? null;
}

/** The runs that have not overrun by `now`. */
export function stillInTime(
  snitch: Pick<SnitchState, 'maxRuntime'>,
  open: readonly OpenRun[],
  now: number,
): readonly OpenRun[] {
  return open.filter((run) => overrunsAt(run, snitch) > now);
}

/**
 * The open runs with one that started at `at`. A repeated start restarts its run, also for the duration reported at its
 * end. The time of a run whose start is reported late counts from now, because its end may follow at once.
 */
export function withStart(
  snitch: Pick<SnitchState, 'maxRuntime'>,
  open: readonly OpenRun[],
  { id, at, now }: { id: string | null; at: number; now: number },
): readonly OpenRun[] {
  const known = open.find((run) => run.id === id);
  if (known && at < now && known.startedAt > at) return open;
  const others = open.filter((run) => run !== known);
  const room = others.length < MOST_OPEN ? others : stillInTime(snitch, others, now);
  return room.length < MOST_OPEN ? [...room, { id, startedAt: at, from: now }] : open;
}

/**
 * The open runs without the one that an end at `at` ends. An end that names no run ends the run that was given no id,
 * or else the only one: that is what somebody checking in by hand means.
 *
 * @param isLate whether the end was reported late: then it cannot end a run that began after it
 */
export function withoutEnded(
  open: readonly OpenRun[],
  { id, at, isLate }: { id: string | null; at: number; isLate: boolean },
): readonly OpenRun[] {
  const named = open.find((run) => run.id === id);
  const ended = named ?? (id === null && open.length === 1 ? open[0] : undefined);
  if (!ended || (isLate && ended.startedAt > at)) return open;
  return open.filter((run) => run !== ended);
}

/** A run may end this much earlier than the shortest known one, and this much later than the longest; milliseconds. */
const WIDER = MINUTE;

/**
 * A run after a blind window. If it may have ended in the window, it is excused. If it was expected to end before or
 * after the window, but overruns in it, it gets the length of the window as extra time, at least `least`.
 *
 * @param usual null if too few runs are known: then the run may have ended at any time since its start
 */
export function afterBlindness(
  run: OpenRun,
  snitch: Pick<SnitchState, 'maxRuntime'>,
  { start, end, least }: { start: number; end: number; least: number },
  usual: UsualRuntime | null,
): OpenRun {
  const over = overrunsAt(run, snitch);
  if (run.excused || start > over || end < run.startedAt) return run;
  const from = usual === null ? run.startedAt : run.startedAt + usual.shortest - WIDER;
  const until = usual === null ? over : run.startedAt + usual.longest + WIDER;
  if (from <= end && until >= start) return { ...run, excused: true };
  return over <= end ? { ...run, from: run.from + Math.max(least, end - start) } : run;
}

/** What is known of the runs of a snitch, for people. */
export interface KnownRuns {
  /** In the order in which they began. `overrunsAt` is null if overrunning raises no alarm. */
  open: readonly { startedAt: number; overrunsAt: number | null }[];
  /** How long a run that ends well takes, in milliseconds: the median of the last ones; null if too few are known. */
  usual: number | null;
}

/** The runs that are watched, for people. */
export function shownRuns(snitch: SnitchState): KnownRuns['open'] {
  const { open } = apart(snitch);
  const shown = open.map((run) => {
    const at = overrunsAt(run, snitch);
    return { startedAt: run.startedAt, overrunsAt: run.excused || !Number.isFinite(at) ? null : at };
  });
  return shown.sort((one, other) => one.startedAt - other.startedAt);
}

export function middleOf(lengths: readonly number[]): number | null {
  return lengths.toSorted((a, b) => a - b)[lengths.length >> 1] ?? null;
}
