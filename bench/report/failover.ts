/** Figures that no bench measures: they come from the last full run of the test that is named below them. */

export const FAILOVER = `## What a failover costs

Two nodes on PostgreSQL, a primary and a standby on one host, 32 jobs that check in all the time. The primary is killed with
SIGKILL and the standby promoted at once; in practice, add the time that it takes to notice a dead primary. Medians of the rounds,
with the smallest and the largest, on a quiet host with two cores: 2026-11-22, PostgreSQL 15.

| Standby | Rounds | No check-in acknowledged for | Acknowledged again after the kill | Refused | Acknowledged and lost |
|---|---|---|---|---|---|
| synchronous | 5 | 144 ms (72, 245) | 195 ms (115, 279) | 0 | 0 of 14,296 |
| asynchronous | 5 | 203 ms (78, 240) | 234 ms (98, 255) | 0 | 0 of 13,492 |
| asynchronous, 300 ms behind | 3 | 245 ms (153, 270) | 277 ms (215, 309) | 0 | 1,026 of 8,753 |

Check-ins that come meanwhile wait for the new primary, and are refused with 503 if there is none within eight seconds. An old primary
that came back and accepted writes was refused in each round, even though no other could be reached. With the synchronous standby,
each of the 384 webhooks that were due meanwhile arrived, and none of them twice.

\`CHAOS=full node test/chaos/failover.test.ts\` measures this, and needs PostgreSQL and the built program.
`;
