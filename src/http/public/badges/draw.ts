/** Draws badges. Loaded with the first badge: the widths of all characters take some megabytes. */
import { makeBadge } from 'badge-maker';
import { type BadgeFace, colorOf, wordOf } from '../../../core/badges/badge.ts';

/** A complete SVG. Label and state are escaped. */
export function drawBadge({ label, state }: BadgeFace): string {
  return makeBadge({ label, message: wordOf(state), color: colorOf(state), style: 'flat' });
}
