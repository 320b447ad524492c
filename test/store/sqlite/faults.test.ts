/** Which faults are those of the disk, and which of one call. */
import Database from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { StoreUnavailable } from '../../../src/core/errors.ts';
import { isDamage, unavailable } from '../../../src/store/sqlite/faults.ts';

const test = suite('faults');

const fault = (code: string) => new Database.SqliteError('as SQLite says', code);

test('what the disk refuses concerns every call', () => {
  for (const code of [
    'SQLITE_FULL',
    'SQLITE_IOERR_WRITE',
    'SQLITE_READONLY',
    'SQLITE_BUSY',
    'SQLITE_CORRUPT',
  ]) {
    const refused = unavailable(fault(code));
    assert.instance(refused, StoreUnavailable, code);
    assert.is((refused!.cause as { code?: string }).code, code);
    assert.is(unavailable(refused), refused, 'one that is known is passed on');
  }
});

test('what is wrong with one call concerns that alone', () => {
  for (const error of [
    fault('SQLITE_CONSTRAINT_UNIQUE'),
    fault('SQLITE_ERROR'),
    new Error('SQLITE_FULL'),
    null,
  ]) {
    assert.is(unavailable(error), null, String(error));
  }
});

test('only a database that contradicts itself is damaged', () => {
  const damaged = (code: string) => isDamage(unavailable(fault(code))!);
  assert.equal(['SQLITE_CORRUPT', 'SQLITE_CORRUPT_INDEX', 'SQLITE_NOTADB'].map(damaged), [true, true, true]);
  assert.equal(['SQLITE_FULL', 'SQLITE_IOERR', 'SQLITE_BUSY'].map(damaged), [false, false, false]);
  assert.is(isDamage(new StoreUnavailable(new Error('SQLITE_CORRUPT'))), false);
});

test.run();
