/** What a move to a file leaves in the directory of that file. */
import { existsSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { lockPlaceOf } from '../../../src/store/move/sqlite-target.ts';
import { refusalOfTarget } from '../../../src/store/sqlite/copy-target.ts';
import { lockDataDir } from '../../../src/store/sqlite/lock.ts';
import { temporaryDirectory } from '../fixture.ts';

const test = suite<{ dir: string; backups: string }>('the place of a file that a move makes');

test.before.each((world) => {
  world.dir = realpathSync(temporaryDirectory());
  world.backups = join(world.dir, 'backups');
  mkdirSync(world.backups);
});

test.after.each(({ dir }) => rmSync(dir, { recursive: true }));

test('backups can still be written where a move wrote its file', ({ dir, backups }) => {
  const unlock = lockPlaceOf(join(backups, 'snitch.db'));
  assert.throws(() => lockDataDir(backups), /another snitch daemon/);
  unlock();
  assert.is(refusalOfTarget(join(dir, 'data'), join(backups, 'snitch.db')), null);
});

test('a lock that a killed move left there goes with the next one', ({ dir, backups }) => {
  lockDataDir(backups)();
  lockPlaceOf(join(backups, 'snitch.db'))();
  assert.is(refusalOfTarget(join(dir, 'data'), join(backups, 'snitch.db')), null);
});

test('the lock of a data directory stays there', ({ backups }) => {
  lockDataDir(backups)();
  writeFileSync(join(backups, 'credentials.yaml'), 'url: http://127.0.0.1:7676\n');
  lockPlaceOf(join(backups, 'moved.db'))();
  assert.ok(existsSync(join(backups, 'snitch.lock')));
});

test.run();
