/** Chooses the part of a long list that is on the screen. */

/** The first row on the screen, so that `cursor` is visible and the list is scrolled no further than needed. */
export function scrollTo(cursor: number, top: number, height: number, count: number): number {
  const last = Math.max(0, count - height);
  if (cursor < top) return Math.min(cursor, last);
  if (cursor >= top + height) return Math.min(cursor - height + 1, last);
  return Math.min(Math.max(0, top), last);
}

export function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(value, most));
}
