/** Why a store cannot write, in the words of `/readyz`. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { StoreUnavailable } from '../../src/core/errors.ts';
import { inWords } from '../../src/store/failure-words.ts';

const failed = (code: string) =>
  new StoreUnavailable(Object.assign(new Error('/srv/secret/place of db.example.com'), { code }));

test('codes of SQLite, of the operating system and of PostgreSQL are put into words', () => {
  const said = {
    SQLITE_FULL: 'the disk is full',
    ENOSPC: 'the disk is full',
    SQLITE_READONLY_DIRECTORY: 'the database or its disk is read-only',
    SQLITE_IOERR_WRITE: 'the disk fails, or is full',
    SQLITE_BUSY: 'another program has locked the database',
    '53100': 'the disk of PostgreSQL is full',
    '25006': 'PostgreSQL is read-only',
  };
  for (const [code, because] of Object.entries(said)) assert.equal(inWords(failed(code)), { because }, code);
});

test('an unknown code is not described with the message of the error, which may contain a path', () => {
  for (const failure of [failed('57014'), failed(''), new StoreUnavailable('gone'), null])
    assert.equal(inWords(failure), {});
});

test.run();
