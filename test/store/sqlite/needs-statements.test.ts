/** What it costs to know what a snitch needs: jobs that need a host ask for it at each deadline. */
import { rmSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Calendar } from '../../../src/core/interval.ts';
import { applyDue } from '../../../src/store/operations/sweeping/due.ts';
import { openDatabase } from '../../../src/store/sqlite/connection.ts';
import { SqliteTransaction } from '../../../src/store/sqlite/sqlite-transaction.ts';
import type { Value } from '../../../src/store/transaction.ts';
import { closing } from '../../closing.ts';
import {
  HOUR,
  healthySnitch,
  MINUTE,
  NOW,
  newCase,
  newSnitch,
  openIn,
  temporaryDirectory,
} from '../fixture.ts';

class CountingTransaction extends SqliteTransaction {
  statements = 0;

  override get<Row>(sql: string, ...values: Value[]): Row | undefined {
    this.statements += 1;
    return super.get<Row>(sql, ...values);
  }

  override all<Row>(sql: string, ...values: Value[]): Row[] {
    this.statements += 1;
    return super.all<Row>(sql, ...values);
  }
}

/** How many statements the deadline of a job that needs a host takes, with this many silences of other hosts. */
async function readsWith(silences: number): Promise<number> {
  const dataDir = temporaryDirectory();
  try {
    await using store = openIn(dataDir);
    const owner = await newCase(store);
    const host = await healthySnitch(store, owner, { name: 'db1' });
    await healthySnitch(store, owner, {
      ...{ name: 'backup', needs: [host.token], schedule: { every: 600 }, grace: 0 },
    });
    for (let count = 0; count < silences; count += 1) {
      const { token } = await newSnitch(store, owner, { name: `host ${count}` });
      const time = { kind: 'once', from: NOW, to: NOW + HOUR } as const;
      await store.createSilence(
        owner.id,
        { scope: { kind: 'tokens', tokens: [token] }, time, note: '', by: 'ops' },
        NOW,
      );
    }
    await store.close();
    using db = closing(openDatabase(dataDir));
    const tx = new CountingTransaction(db, new Calendar());
    const { changed, failures } = await applyDue(tx, NOW + 10 * MINUTE, null, 10);
    assert.equal({ changed, failures }, { changed: 1, failures: [] });
    return tx.statements;
  } finally {
    rmSync(dataDir, { recursive: true });
  }
}

const test = suite('the statements of a job that needs a host');

test('are as few beside forty silences as beside one', async () => {
  assert.is(await readsWith(40), await readsWith(1));
});

test.run();
