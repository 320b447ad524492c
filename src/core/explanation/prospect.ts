/** When the next alarm or reminder comes if nothing more is heard, found by running the state machine ahead. */
import { isAlarm } from '../alert.ts';
import type { DeadlineContext } from '../deadline.ts';
import { isDown, type Needed, type NeedsFacts } from '../needs/needs.ts';
import { concernedFrom, dueThrough, type Silences } from '../silences/due.ts';
import type { SilenceWindow } from '../silences/silence.ts';
import type { SnitchState } from '../snitch.ts';
import { transition } from '../transition.ts';

export interface ProspectContext extends DeadlineContext {
  now: number;
  /** The silences over the snitch, past and present ones; merged, in order. */
  windows: readonly SilenceWindow[];
  /** Whether an alarm is kept back, by a silence, a pause or an acknowledgement. */
  isKeptBack: boolean;
  needs: NeedsFacts;
}

/** Each step stands for one sweep. A snitch swept every hour may be under a silence of a month. */
const MOST_STEPS = 1_000;

/** Null for never: then nobody is told until something is heard or somebody acts. */
export function nextAlertOf(before: SnitchState, context: ProspectContext): number | null {
  let [snitch, at, lookAt, isKept] = [before, context.now, context.now, context.isKeptBack];
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const toldAt = isKept && isHeard(snitch) ? (silenceAt(context.windows, at) ?? at) : NEVER;
    const endsAt = Math.min(...context.needs.map((needed) => endOf(needed, at)));
    const dueAt = snitch.dueAt === null ? NEVER : Math.max(snitch.dueAt, lookAt);
    const next = Math.min(toldAt, endsAt, dueAt);
    if (next === NEVER) return null;
    if (toldAt === next) return next;
    at = next;
    const around = { ...context, now: at, needs: context.needs.map((needed) => neededAt(needed, at)) };
    if (endsAt === next) {
      snitch = transition(snitch, { kind: 'silenceEnded' }, around).snitch;
      continue;
    }
    const through = dueThrough(snitch, silencesAt(snitch, around), around);
    if (through.do === 'wait') {
      lookAt = through.until;
      continue;
    }
    const after = transition(through.snitch, { kind: 'due' }, around);
    snitch = after.snitch;
    if (!after.alert || !isAlarm(after.alert.type)) continue;
    if (silenceAt(context.windows, at) === null) return at;
    isKept = true;
  }
  return null;
}

const NEVER = Number.POSITIVE_INFINITY;

function isHeard({ status, acknowledged, held }: SnitchState): boolean {
  return status !== 'paused' && acknowledged === null && held === null;
}

function silenceAt(windows: readonly SilenceWindow[], at: number): number | null {
  return windows.find(({ start, end }) => start <= at && end > at)?.end ?? null;
}

function silencesAt(snitch: SnitchState, around: ProspectContext): Silences {
  const { now, windows } = around;
  const since = Math.min(concernedFrom(snitch, around) ?? now, now);
  return {
    ended: windows.filter(({ end }) => end > since && end <= now),
    until: silenceAt(windows, now),
  };
}

/** When the silence of something needed ends; nothing else about it can be foreseen. */
function endOf({ silencedUntil }: Needed, at: number): number {
  return silencedUntil !== null && silencedUntil > at ? silencedUntil : NEVER;
}

/** Anything that is not down is assumed to check in. */
function neededAt(needed: Needed, at: number): Needed {
  const { silencedUntil, wellSince } = needed;
  const ended = silencedUntil !== null && silencedUntil <= at;
  return {
    ...needed,
    dueAt: isDown(needed) || needed.dueAt === null || needed.dueAt <= at ? null : needed.dueAt,
    silencedUntil: ended ? null : silencedUntil,
    wellSince: ended ? Math.max(silencedUntil, wellSince ?? silencedUntil) : wellSince,
  };
}
