/** A run that began and has not ended, of a snitch that watches how long its runs take. */
export interface OpenRun {
  /** What its start named it; null where that named nothing. */
  id: string | null;
  startedAt: number;
  /** What its time counts from: its start, or later where that was reported late or a blind window gave it time. */
  from: number;
  /** Its end may have been lost while the service was blind. */
  excused?: true;
}

export interface OpenRuns {
  /** When the sweep would have to look if there were no runs. */
  dueAt: number | null;
  /** In the order in which they were reported; never empty. */
  open: readonly OpenRun[];
}
