import type { Acknowledgement } from '../snitch.ts';

/** `acknowledged by Ann at 2025-07-09 12:31 UTC: I look after it` @param local an instant in words */
export function acknowledgedInWords(
  { by, at, note }: Acknowledgement,
  local: (at: number) => string,
): string {
  return `acknowledged by ${by} at ${local(at)}${note === null ? '' : `: ${note}`}`;
}
