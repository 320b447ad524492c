/** What became of one attempt to deliver. */
export type Outcome =
  | { kind: 'delivered' }
  /** `error` in words for a person; `retryAfter` is the wait in milliseconds that the target asked for. */
  | { kind: 'retry'; error: string; retryAfter?: number }
  /** Trying again can never work. */
  | { kind: 'dead'; error: string };
