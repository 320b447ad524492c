/** Receives the alerts of a storm. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Workplace } from '../workplace.ts';
import type { Addresses, Arrived } from './receivers-process.ts';

export interface Receivers {
  addresses: Addresses;
  arrived(): Promise<Arrived>;
  end(): void;
}

export async function startReceivers(workplace: Workplace, webhooks: number): Promise<Receivers> {
  const child = workplace.holds(fork(join(import.meta.dirname, 'receivers-process.ts'), [String(webhooks)]));
  const [addresses] = (await once(child, 'message')) as [Addresses];
  const arrived = async () => {
    child.send('how many');
    const [counts] = (await once(child, 'message')) as [Arrived];
    return counts;
  };
  return { addresses, arrived, end: () => child.disconnect() };
}
