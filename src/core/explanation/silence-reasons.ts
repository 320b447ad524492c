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

/** One sentence each. @param local an instant in words */
export function silenceReasons(
  { status, acknowledged }: Pick<SnitchState, 'status' | 'acknowledged'>,
  { until, by, note, isKeptBack }: SilenceFacts,
  local: (at: number) => string,
): string[] {
  const why = note === '' ? '' : ` (${note})`;
  return [
    `It is silenced until ${local(until)} by ${by}${why}: no alarm is raised before then.`,
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
