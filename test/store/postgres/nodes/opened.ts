/** Whole stores of nodes on one database, as the daemon opens them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type OpenOptions, openStoreOnPostgres } from '../../../../src/store/postgres/open.ts';
import { acting, type Store } from '../../acting.ts';
import { addressOf } from '../hosts/fixture.ts';

export interface OpenedNode extends AsyncDisposable {
  store: Store;
  id: string;
  /** What it was told while it was opened, and since. */
  told: string[];
}

/** A node that has begun, at this port of 127.0.0.1. */
export async function openNode(
  port: number,
  database: string,
  options: Partial<OpenOptions> = {},
): Promise<OpenedNode> {
  const dataDir = mkdtempSync(join(tmpdir(), 'snitch-node-'));
  const told: string[] = [];
  const opened = await openStoreOnPostgres({
    address: addressOf([port], { database, options: 'connect_timeout=3' }),
    dataDir,
    clock: Date.now,
    version: '1.0.0',
    warn: (words) => told.push(words),
    onFreed: (nodes) => told.push(`${nodes} freed`),
    ...options,
  });
  await opened.node?.begin();
  const store = acting(opened, Date.now);
  return {
    store,
    id: opened.node?.id ?? '',
    told,
    [Symbol.asyncDispose]: async () => {
      await store.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
