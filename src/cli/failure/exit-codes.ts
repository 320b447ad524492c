/** What the exit code tells a script. */
export const EXIT = {
  ok: 0,
  error: 1,
  usage: 2,
  notFound: 3,
  authentication: 4,
  unreachable: 5,
  /** EX_TEMPFAIL of sysexits.h: another daemon holds the data directory, and trying later may help. */
  locked: 75,
} as const;
