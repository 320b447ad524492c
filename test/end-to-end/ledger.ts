/** Load that remembers what was acknowledged, and the comparison with what the disk has. */

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { Pool } from 'undici';
import * as assert from 'uvu/assert';
import type { WireSnitch } from '../../src/api/wire.ts';
import { ending } from '../closing.ts';
import { ON_POSTGRES, queryOnPostgres } from '../store/postgres/open.ts';
import type { DaemonProcess } from './daemon-process.ts';

const CONNECTIONS = 64;

/** One in this many check-ins of a snitch reports an error, so that alerts are decided all the time. */
const ERROR_EVERY = 10;

export class Ledger {
  /** Messages of the check-ins that were answered 202. */
  readonly acknowledged = new Set<string>();
  /** What happened to those that were not. */
  readonly failures: string[] = [];
  #sent = 0;

  /** Checks in over 64 connections until `until` resolves; a connection that breaks ends its part of the load. */
  async load(daemon: DaemonProcess, tokens: readonly string[], until: Promise<unknown>): Promise<void> {
    await using pool = ending(new Pool(daemon.url, { connections: CONNECTIONS, pipelining: 1 }), (one) =>
      one.destroy(),
    );
    let over = false;
    void until.then(() => {
      over = true;
    });
    const connection = async (index: number) => {
      const token = tokens[index % tokens.length]!;
      while (!over) {
        const number = this.#sent++;
        const error = number % ERROR_EVERY === 0 ? '&s=1' : '';
        try {
          const { statusCode, body } = await pool.request({
            method: 'GET',
            path: `/c/${token}?m=${number}${error}`,
          });
          await body.dump();
          if (statusCode === 202) this.acknowledged.add(String(number));
          else this.failures.push(`answered with ${statusCode}`);
        } catch (error) {
          this.failures.push(String(error));
          return;
        }
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, (_, index) => connection(index)));
  }

  /** Resolves when at least this many more check-ins were acknowledged, or after longer than the slowest machine takes. */
  async grown(by: number): Promise<void> {
    const [enough, until] = [this.acknowledged.size + by, Date.now() + 30_000];
    while (this.acknowledged.size < enough && Date.now() < until) await sleep(5);
  }

  /** Fails unless every acknowledged check-in is in the database, which must be sound. */
  async verify(dataDir: string): Promise<void> {
    if (!ON_POSTGRES) assert.equal(await read(dataDir, 'PRAGMA integrity_check'), ['ok']);
    const stored = new Set(await read(dataDir, 'SELECT message FROM check_ins'));
    const lost = [...this.acknowledged].filter((message) => !stored.has(message));
    assert.equal(lost, [], `${lost.length} of ${this.acknowledged.size} acknowledged check-ins are lost`);
  }
}

/** Ids of all alerts that were ever decided. */
export function decidedAlerts(dataDir: string): Promise<string[]> {
  return read(dataDir, 'SELECT id FROM alerts');
}

/** The only column of the query, read without the daemon's knowledge. */
async function read(dataDir: string, sql: string): Promise<string[]> {
  if (ON_POSTGRES)
    return (await queryOnPostgres<Record<string, string>>(dataDir, sql)).flatMap(Object.values);
  const db = new Database(join(dataDir, 'snitch.db'), { readonly: true });
  try {
    return db.prepare(sql).pluck().all() as string[];
  } finally {
    db.close();
  }
}

export async function createSnitches(daemon: DaemonProcess, count: number): Promise<string[]> {
  const tokens: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const body = { name: `job ${index}`, interval: 'hourly' };
    const answer = await daemon.call('POST', '/v1/snitches', body);
    tokens.push(((await answer.json()) as WireSnitch).token);
  }
  return tokens;
}
