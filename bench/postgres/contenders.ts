/** The same program on PostgreSQL, at each distance to the server, and last on SQLite. */
import type { Contender } from '../measure.ts';
import type { Workplace } from '../workplace.ts';
import { startCluster } from './cluster.ts';
import { startDelay } from './delay.ts';

/** @param delays milliseconds to the server, each way */
export async function contendersOnPostgres(
  workplace: Workplace,
  bundle: string,
  delays: readonly number[],
): Promise<Contender[]> {
  const cluster = await startCluster(workplace);
  console.log(`PostgreSQL ${cluster.version}`);
  const contenders: Contender[] = [];
  for (const delay of delays) {
    const port = delay === 0 ? cluster.port : await startDelay(workplace, cluster.port, delay);
    const place = { cluster, port, names: new Map<string, string>() };
    contenders.push({ name: `PostgreSQL, ${delay} ms away`, bundle, place, databases: new Map() });
  }
  return [...contenders, { name: 'SQLite', bundle, place: null, databases: new Map() }];
}
