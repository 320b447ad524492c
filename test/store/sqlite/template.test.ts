import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ownDirectory } from '../../data-directory.ts';
import { openEmptyStore, openStore } from '../acting.ts';
import { queryDirectory } from '../fixture.ts';

const template = suite('the database that most tests begin with');

template('it is the one that the store makes in an empty directory', async () => {
  using made = ownDirectory();
  using copied = ownDirectory();
  const clock = () => 1_000;
  await openStore({ dataDir: made.path, clock }).close();
  await openEmptyStore({ dataDir: copied.path, clock }).close();
  for (const query of [
    'SELECT * FROM sqlite_schema ORDER BY type, name',
    'SELECT name FROM settings ORDER BY name',
    'SELECT * FROM pragma_user_version',
    'SELECT * FROM pragma_page_size',
    'SELECT * FROM pragma_auto_vacuum',
    'SELECT * FROM pragma_encoding',
    'SELECT * FROM pragma_journal_mode',
    'SELECT * FROM pragma_integrity_check',
  ]) {
    const rows = queryDirectory(copied.path, query);
    assert.ok(rows.length > 0, query);
    assert.equal(rows, queryDirectory(made.path, query), query);
  }
});

template.run();
