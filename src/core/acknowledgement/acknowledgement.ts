/**
 * That somebody has seen an alarm (`extensions: Acknowledge, silence, depend`). An acknowledgement changes nothing of the
 * status. It only keeps everybody from being told of the same alarm again: no reminders, and nobody is told later because
 * nobody answered. Every change of the status ends it.
 */
export interface Acknowledgement {
  /** In milliseconds since the epoch. */
  at: number;
  /** What the person wrote; null for nothing. */
  note: string | null;
  /** Whoever said so: a person, or the name of an API key. */
  by: string;
}

/**
 * A second acknowledgement of the same alarm adds its note, or replaces that of the first. Who was first, and when, stays:
 * that is whom the others ask.
 */
export function acknowledgedAgain(
  first: Acknowledgement | null,
  { note, by }: { note: string | null; by: string },
  now: number,
): Acknowledgement {
  if (first === null) return { at: now, note, by };
  return note === null || note === first.note ? first : { ...first, note };
}

/** `acknowledged by Ann at 2025-07-09 12:31 UTC: I look after it` @param local an instant in words */
export function acknowledgedInWords(
  { by, at, note }: Acknowledgement,
  local: (at: number) => string,
): string {
  return `acknowledged by ${by} at ${local(at)}${note === null ? '' : `: ${note}`}`;
}
