/**
 * Upgrades the database in the given directory. A separate process, so that its memory is that of the upgrade alone.
 */
import { openStore } from '../src/store/sqlite/sqlite-store.ts';

/** The phase that begins now, and the use so far: seconds, seconds of processor time, and peak memory in bytes. */
export interface Told {
  phase: string;
  seconds: number;
  processor: number;
  memory: number;
}

const begun = performance.now();

function tell(phase: string): void {
  const { user, system } = process.cpuUsage();
  const told: Told = {
    phase,
    seconds: (performance.now() - begun) / 1_000,
    processor: (user + system) / 1e6,
    memory: process.resourceUsage().maxRSS * 1_024,
  };
  process.send?.(told);
}

const store = openStore({
  dataDir: process.argv[2] ?? '',
  clock: Date.now,
  onOpening: (opening) =>
    tell(opening.doing === 'upgrading' ? `upgrading, rows of ${opening.table}` : opening.doing),
});
tell('closing');
await store.close();
tell('done');
process.disconnect?.();
