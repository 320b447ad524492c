/** Runs of a service that systemd leaves out (`man 5 systemd.unit`, "Conditions"). */
import { type Setting, valuesOf } from './units.ts';

/**
 * What lets systemd skip a run: the drop-in does not run then either, so that the snitch hears nothing.
 *
 * @returns a remark on it; null if every run takes place
 */
export function skippedRuns(settings: readonly Setting[]): string | null {
  const names = settings.filter(({ section, name }) => section === 'Unit' && /^Condition[A-Z]/.test(name));
  const conditions = [...new Set(names.map(({ name }) => name))].flatMap((name) =>
    valuesOf(settings, 'Unit', name).map((value) => `${name}=${value}`),
  );
  if (conditions.length === 0) return null;
  return `its service has ${conditions.join(', ')}: where that does not hold, systemd skips the run, and nothing checks in`;
}
