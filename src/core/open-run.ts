/** A run that began and has not ended, of a snitch with a maximum run time. */
export interface OpenRun {
  /** The run id that its start gave; null if it gave none. */
  id: string | null;
  startedAt: number;
  /** What its time counts from: its start, or later if that was reported late or a blind window added time. */
  from: number;
  /** Its end may have been lost while the service was blind. */
  excused?: true;
}

export interface OpenRuns {
  /** The `dueAt` of the snitch if it had no runs. */
  dueAt: number | null;
  /** In the order in which they were reported; never empty. */
  open: readonly OpenRun[];
}
