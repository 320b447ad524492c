/** How long lists are read: a page at a time for people, and a slice at a time from the database. */

/** Older than an instant, or older than the item of an id, newest first. */
export interface Page {
  limit: number;
  before: { at: number } | { id: string } | null;
  /** Where a page is read in slices: the last item of the slice before. It may have been deleted since. */
  behind?: Position;
}

/** An item in a list; alerts are in the order of their time, the others in that of their ids. */
export interface Position {
  id: string;
  at: number | null;
}
