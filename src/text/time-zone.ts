/** The names of time zones. */

/**
 * Whether `name` is an IANA time zone that this runtime can compute in. Checked with `Temporal`, which does the
 * computing: `Intl` knows more names, such as `PST`.
 */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+\-/]*$/.test(name)) return false;
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name);
    return true;
  } catch {
    return false;
  }
}

/** As the IANA database spells it: `europe/berlin` is `Europe/Berlin`. @param name a time zone */
export function spelledTimeZone(name: string): string {
  return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name).timeZoneId;
}
