/** What no bench measures: the figures are those of the last full run of the test that is named below them. */

export const FAILOVER = `## What a failover costs

Two nodes on PostgreSQL, a primary and a standby on one host, 32 jobs that check in all the time. The primary is killed with
SIGKILL and the standby promoted at once, so that whatever takes time to notice a dead primary comes on top. Medians of the rounds,
with the smallest and the largest. The machine had ten times as much to do as its two cores could: 2026-11-22, PostgreSQL 15.

| Standby | Rounds | No check-in acknowledged for | Acknowledged again after the kill | Refused | Acknowledged and lost |
|---|---|---|---|---|---|
| synchronous | 5 | 895 ms (427, 2,174) | 1,302 ms (418, 3,029) | 0 | 0 of 11,145 |
| asynchronous | 5 | 667 ms (295, 1,198) | 1,276 ms (479, 2,202) | 0 | 0 of 10,807 |
| asynchronous, 300 ms behind | 3 | 1,208 ms (786, 2,175) | – | 0 | 91 of 6,487 |

Check-ins that come meanwhile wait for the new primary, and are refused with 503 where there is none within eight seconds. An old
primary that comes back and takes writes was refused in each round, though it was the only one to be reached.

\`CHAOS=full node test/chaos/failover.test.ts\` measures this, and needs PostgreSQL and the built program.
`;
