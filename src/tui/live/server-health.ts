/** Asks each server how it is, all at once and for a limited time, so that one that hangs does not hold up the rest. */
import type { Client } from '../../api/client.ts';
import { printable } from '../../text/printable.ts';
import type { Health } from '../servers/servers.ts';

export interface Asked {
  name: string;
  /** Null if it cannot be asked; `problem` says why. */
  client: Pick<Client, 'eachSnitch'> | null;
  problem: string | null;
}

export function askAll(servers: readonly Asked[], tell: (name: string, health: Health) => void): void {
  for (const { name, client, problem } of servers) {
    tell(name, { state: 'asking' });
    void healthOf(client, problem).then((health) => tell(name, health));
  }
}

async function healthOf(client: Asked['client'], problem: string | null): Promise<Health> {
  if (client === null) return { state: 'away', error: printable(problem ?? 'it cannot be asked') };
  try {
    const counts = { failed: 0, errored: 0 };
    const all = await client.eachSnitch(({ status }) => {
      if (status === 'failed' || status === 'errored') counts[status] += 1;
    });
    return { state: 'ok', ...counts, all };
  } catch (error) {
    return { state: 'away', error: printable((error as Error).message) };
  }
}
