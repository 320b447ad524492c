/** Says in words what a silence means for a snitch. */
import type { SnitchState } from '../snitch.ts';

export interface SilenceFacts {
  /** When the silence over the snitch ends. */
  until: number;
  by: string;
  note: string;
  /** Whether an alarm was decided meanwhile. */
  isKeptBack: boolean;
}

/** A silence to come that delays the next alarm or reminder. */
export interface PlannedSilence {
  start: number;
  end: number;
  by: string;
  note: string;
}

/** One sentence each, for a deadline that a silence to come will move. */
export function plannedReasons(
  planned: PlannedSilence,
  nextAlertAt: number | null,
  local: (at: number) => string,
): string[] {
  return [
    `The silence is planned ${stretchOf(planned, local)}.`,
    nextAlertAt === null
      ? 'Silences to come cover all of its next runs: nobody is told that it is missing.'
      : `Unless it checks in before, its alarm is raised at ${local(nextAlertAt)}.`,
  ];
}

/** `from 03:00 to 04:00 by ops (kernel)` */
export function stretchOf({ start, end, by, note }: PlannedSilence, local: (at: number) => string): string {
  return `from ${local(start)} to ${local(end)} by ${by}${inBrackets(note)}`;
}

function inBrackets(note: string): string {
  return note === '' ? '' : ` (${note})`;
}

/** One sentence each. @param local an instant in words */
export function silenceReasons(
  { status, acknowledged }: Pick<SnitchState, 'status' | 'acknowledged'>,
  { until, by, note, isKeptBack }: SilenceFacts,
  local: (at: number) => string,
): string[] {
  return [
    `It is silenced until ${local(until)} by ${by}${inBrackets(note)}: no alarm is raised before then.`,
    ...(isKeptBack ? keptBack(acknowledged !== null) : afterwards(status, acknowledged !== null)),
  ];
}

function keptBack(isAcknowledged: boolean): string[] {
  return isAcknowledged
    ? ['Its alarm is not raised then either, unless the acknowledgement is taken back.']
    : ['Its alarm is raised then, unless it is well by then.'];
}

function afterwards(status: SnitchState['status'], isAcknowledged: boolean): string[] {
  switch (status) {
    case 'healthy':
    case 'errored':
      return ['Its job is not expected to run in the silence: afterwards the next run counts.'];
    case 'failed':
      return isAcknowledged ? [] : ['Its reminders go on afterwards.'];
    default:
      return [];
  }
}

export const MOVED_BY_SILENCE =
  'Its deadline was moved by a silence, because its job was not expected to run then.';
