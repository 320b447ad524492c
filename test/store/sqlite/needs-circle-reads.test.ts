/** What it costs to see that a snitch does not need itself by way of thousands that have a tag. */
import { rmSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Calendar } from '../../../src/core/interval.ts';
import { refuseCircle } from '../../../src/store/operations/needs/written.ts';
import { openDatabase } from '../../../src/store/sqlite/connection.ts';
import { SqliteTransaction } from '../../../src/store/sqlite/sqlite-transaction.ts';
import type { Value } from '../../../src/store/transaction.ts';
import { closing } from '../../closing.ts';
import { newCase, newSnitch, openIn, temporaryDirectory } from '../fixture.ts';

class CountingTransaction extends SqliteTransaction {
  rows = 0;

  override all<Row>(sql: string, ...values: Value[]): Row[] {
    const found = super.all<Row>(sql, ...values);
    this.rows += found.length;
    return found;
  }
}

/** The rows that are read for one more snitch above three layers of this many, each of which needs all of the next. */
async function rowsFor(each: number): Promise<number> {
  const dataDir = temporaryDirectory();
  try {
    await using store = openIn(dataDir);
    const owner = await newCase(store);
    for (const layer of [0, 1, 2, 3]) {
      for (let index = 0; index < (layer === 3 ? 1 : each); index += 1) {
        const needs = layer === 0 ? ['tag:ground'] : [`tag:t${layer - 1}`];
        await newSnitch(store, owner, { name: `${layer} ${index}`, tags: [`t${layer}`], needs });
      }
    }
    await store.close();
    using db = closing(openDatabase(dataDir));
    const tx = new CountingTransaction(db, new Calendar());
    const top = db.prepare(`SELECT id, case_id AS caseId FROM snitches WHERE name = '3 0'`).get();
    await refuseCircle(tx, top as { id: number; caseId: string });
    return tx.rows;
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

const test = suite('the search for a circle of needs');

test('reads in proportion to the snitches, and not to the pairs of them', async () => {
  const [few, many] = [await rowsFor(5), await rowsFor(20)];
  assert.ok(few >= 15, 'each is read');
  assert.ok(many <= 5 * few, `${many} rows for four times as many snitches as ${few}`);
});

test.run();
