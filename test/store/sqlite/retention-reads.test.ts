/** How many alerts that stay a retention pass reads: during a long outage there may be very many. */
import { rmSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Calendar } from '../../../src/core/interval.ts';
import { prune } from '../../../src/store/operations/retention/retention.ts';
import { openDatabase } from '../../../src/store/sqlite/connection.ts';
import { SqliteTransaction } from '../../../src/store/sqlite/sqlite-transaction.ts';
import type { Value } from '../../../src/store/transaction.ts';
import { checkIn, NOW, newCase, newSnitch, openIn, temporaryDirectory } from '../fixture.ts';

/** Counts how often old alerts are searched. */
class CountingTransaction extends SqliteTransaction {
  looks = 0;

  override all<Row>(sql: string, ...values: Value[]): Row[] {
    if (/FROM alerts AS a WHERE at </.test(sql)) this.looks += 1;
    return super.all<Row>(sql, ...values);
  }
}

const test = suite('reads of the retention');

test('old alerts are looked through once a pass, and not for each slice of the check-ins', async () => {
  const dataDir = temporaryDirectory();
  {
    await using store = openIn(dataDir);
    const { token } = await newSnitch(store, await newCase(store));
    const done = Array.from({ length: 2_100 }, (_, index) => checkIn(store, token, NOW + index));
    await Promise.all(done);
  }
  const db = openDatabase(dataDir);
  try {
    const tx = new CountingTransaction(db, new Calendar());
    let slices = 1;
    while (await prune(tx, { checkIns: 5_000, olderThan: NOW, now: NOW })) slices += 1;
    assert.ok(slices > 3, `${slices} slices`);
    assert.is(tx.looks, 1);
  } finally {
    db.close();
    rmSync(dataDir, { recursive: true });
  }
});

test.run();
