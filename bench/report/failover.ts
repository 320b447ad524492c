/** What no bench measures: the figures are those of the last full run of the test that is named below them. */

export const FAILOVER = `## What a failover costs

Two nodes on PostgreSQL, a primary and a standby on one host, 32 jobs that check in all the time. The primary is killed with
SIGKILL and the standby promoted at once, so that whatever takes time to notice a dead primary comes on top. Medians of the rounds,
with the smallest and the largest. The two cores had eight times as much to do as they could: 2026-11-22, PostgreSQL 15.

| Standby | Rounds | No check-in acknowledged for | Acknowledged again after the kill | Refused | Acknowledged and lost |
|---|---|---|---|---|---|
| synchronous | 5 | 394 ms (169, 540) | 593 ms (248, 850) | 0 | 0 of 11,712 |
| asynchronous | 5 | 787 ms (478, 1,231) | 777 ms (493, 2,138) | 0 | 0 of 11,288 |
| asynchronous, 300 ms behind | 3 | 725 ms (562, 1,376) | – | 0 | 65 of 6,496 |

Check-ins that come meanwhile wait for the new primary, and are refused with 503 where there is none within eight seconds. An old
primary that comes back and takes writes was refused in each round, though it was the only one to be reached. With the synchronous
standby each of the 384 webhooks that were due meanwhile came, and none of them twice.

\`CHAOS=full node test/chaos/failover.test.ts\` measures this, and needs PostgreSQL and the built program.
`;
