/** What the exit codes mean to a script. */
export const EXIT = {
  ok: 0,
  error: 1,
  usage: 2,
  notFound: 3,
  authentication: 4,
  unreachable: 5,
  /** EX_TEMPFAIL of sysexits.h: another daemon has the data directory. Trying again later may help. */
  locked: 75,
} as const;
