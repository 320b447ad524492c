/** The file in which a node remembers its primary, where root has started the node by hand before. */
import { chmodSync, chownSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SEEN_FILE, seenMemory } from '../../../../src/store/postgres/hosts/seen-file.ts';
import { reasonToWait } from '../../../../src/store/postgres/passing.ts';
import { unless, withoutRoot } from '../../../skipped.ts';
import { temporaryDirectory } from '../../fixture.ts';

const test = suite<{ dir: string; file: string }>('the file with the primary');
const ignore = () => undefined;

test.before.each((world) => {
  world.dir = temporaryDirectory();
  world.file = join(world.dir, SEEN_FILE);
});

test.after.each(({ dir }) => rmSync(dir, { recursive: true }));

test('one that cannot be read ends the start with its name, because waiting does not help', ({
  dir,
  file,
}) => {
  if (process.getuid?.() === 0) mkdirSync(file);
  else {
    writeFileSync(file, '{"cluster":"7","timeline":1}\n');
    chmodSync(file, 0);
  }
  try {
    seenMemory(dir, ignore);
    assert.unreachable('it was read');
  } catch (error) {
    assert.match((error as Error).message, `${file} cannot be read (E`);
    assert.is(reasonToWait(error), null);
  }
});

unless(withoutRoot(), test)(
  'what root writes belongs to the owner of the data directory',
  async ({ dir, file }) => {
    chownSync(dir, 65_534, 65_534);
    await seenMemory(dir, ignore).keep({ cluster: '7', timeline: 2 });
    assert.equal([statSync(file).uid, statSync(file).gid], [65_534, 65_534]);
  },
);

test.run();
