/** How operations can be declared: the compiler refuses declarations that would lose something at run time. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Table } from '../../src/store/methods/method.ts';
import { read, work, write } from '../../src/store/methods/method.ts';
import { getSetting, setSetting } from '../../src/store/operations/settings.ts';
import type { Reading, Transaction } from '../../src/store/transaction.ts';

const test = suite('the methods of the store');

interface Notes {
  note(text: string): Promise<void>;
}

const note = async (tx: Transaction, text: string) => {
  await tx.run('INSERT INTO notes (text) VALUES (?)', text);
};

/** None of the operations is run. If an expected error does not come, `npm run check` fails. */
test('what writes does not compile as a read', () => {
  // @ts-expect-error: what it wrote would never be synced
  const setting = read(setSetting);
  // @ts-expect-error: a read gets nothing to write with
  const bare = read(async (tx) => tx.run('DELETE FROM settings'));
  // @ts-expect-error: nor can it undo, announce or forget
  const savepoint = read(async (tx) => tx.savepoint(async () => tx.announce({ kind: 'deliveries' })));
  // @ts-expect-error: it cannot be slipped past `read` either
  const table: Table<Notes> = { note: { how: 'read', operation: note } };
  assert.equal([setting.how, bare.how, savepoint.how, table.note.how], ['read', 'read', 'read', 'read']);
});

test('a read can be declared as anything, and used by a write', () => {
  const both = async (tx: Transaction) =>
    setSetting(tx, 'maintenance', (await getSetting(tx, 'liveness')) ?? '');
  const onlyReads = async (tx: Reading) => getSetting(tx, 'maintenance');
  const declared = [read(onlyReads), write(onlyReads), work(onlyReads), write(both), work(both)];
  assert.equal(
    declared.map(({ how }) => how),
    ['read', 'write', 'writeInBackground', 'write', 'writeInBackground'],
  );
});

test.run();
