/** Says in words what is known of the runs of a snitch: those that are going on, and how long they take. */
import { durationInWords, SECOND } from '../../text/durations.ts';
import { apart, type KnownRuns, overrunsAt } from '../runs.ts';
import type { SnitchState } from '../snitch.ts';

/** How many runs are named; the others are counted. */
const NAMED = 5;

/** @param local an instant in words */
export function runReasons(
  state: SnitchState,
  { open, usual }: KnownRuns,
  { now, local }: { now: number; local: (at: number) => string },
): string[] {
  const sentences = state.runs === null ? unwatched(state, open, local) : watched(state, now, local);
  const left = sentences.length - NAMED;
  return [
    ...sentences.slice(0, NAMED),
    ...(left > 0 ? [`${left} more ${left === 1 ? 'run is' : 'runs are'} going on.`] : []),
    ...(usual !== null && (sentences.length > 0 || state.maxRuntime !== null)
      ? [`Its runs usually take ${usual < SECOND ? 'less than a second' : durationInWords(usual)}.`]
      : []),
  ];
}

/** For a failed snitch the reason already says that a run has not ended. */
function unwatched(
  { status }: SnitchState,
  open: KnownRuns['open'],
  local: (at: number) => string,
): string[] {
  if (status === 'failed') return [];
  return open.map(({ startedAt }) => `A run that started at ${local(startedAt)} has not ended.`);
}

function watched(state: SnitchState, now: number, local: (at: number) => string): string[] {
  const limit = durationInWords((state.maxRuntime ?? 0) * SECOND);
  return apart(state).open.flatMap((run) => {
    const started = `A run that started at ${local(run.startedAt)}`;
    const at = overrunsAt(run, state);
    if (run.excused) {
      return [`${started} may have ended while the service was blind: it raises no alarm.`];
    }
    if (at > now) return [`${started} is going on: it may take ${limit}, and overruns at ${local(at)}.`];
    const isWhy = state.reason?.kind === 'overran' && state.reason.startedAt === run.startedAt;
    return isWhy ? [] : [`${started} has not ended: it may take ${limit}.`];
  });
}
