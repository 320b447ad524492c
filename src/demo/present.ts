/** Lets the jobs of the demo run on while somebody looks: those that are well go on checking in, in their time. */
import { Calendar } from '../core/interval.ts';
import { type RunningJob, TIMEZONE } from './past.ts';

/** How often it looks whose time has come, in milliseconds. */
const LOOK = 1_000;

/** @returns a function that ends it */
export function runOn(jobs: readonly RunningJob[], url: string, clock: () => number): () => void {
  const calendar = new Calendar();
  const well = jobs.filter(
    ({ job }) => !job.isNew && !job.isPaused && !job.missed?.includes(0) && !job.errors?.includes(0),
  );
  const timeOf = ({ job }: RunningJob) => {
    const { start, end } = calendar.periodAt(job.interval, TIMEZONE, clock());
    return start + (end - start) * job.at;
  };
  const next = new Map(well.map((one) => [one.token, timeOf(one)]));
  const timer = setInterval(() => {
    for (const one of well) {
      const due = timeOf(one);
      if (clock() < due || (next.get(one.token) ?? 0) >= due) continue;
      next.set(one.token, due);
      // A check-in that gets lost is what the program is there to notice.
      fetch(`${url}/c/${one.token}`, { method: 'POST' }).catch(() => {});
    }
  }, LOOK);
  return () => clearInterval(timer);
}
