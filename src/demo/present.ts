/** Keeps the jobs of the demo running while somebody watches: the healthy ones check in when it is time. */
import { Calendar } from '../core/interval.ts';
import { type RunningJob, TIMEZONE } from './past.ts';

/** How often we check which jobs are due, in milliseconds. */
const LOOK = 1_000;

/** @returns a function that stops the jobs */
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
      // If a check-in gets lost, the daemon will notice: that is what it is for.
      fetch(`${url}/c/${one.token}`, { method: 'POST' }).catch(() => {});
    }
  }, LOOK);
  return () => clearInterval(timer);
}
