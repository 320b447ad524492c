/** How long lists are read: a page at a time for people, and a slice at a time from the database. */

/** Older than an instant, or older than the item with an id; newest first. */
export interface Page {
  limit: number;
  before: { at: number } | { id: string } | null;
  /** If a page is read in slices: the last item of the previous slice. It may have been deleted since. */
  behind?: Position;
}

/** An item in a list. Alerts are in the order of their time, all others in that of their ids. */
export interface Position {
  id: string;
  at: number | null;
}
