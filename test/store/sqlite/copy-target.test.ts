/** Where a copy of the database must not be written, by whatever name the place is called. */
import { linkSync, mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isSameFile, linkedFrom, refusalOfTarget } from '../../../src/store/sqlite/copy-target.ts';
import { temporaryDirectory } from '../fixture.ts';

interface World {
  dir: string;
  dataDir: string;
  elsewhere: string;
}

const test = suite<World>('where a copy goes');

test.before.each((world) => {
  const dir = realpathSync(temporaryDirectory());
  const [dataDir, elsewhere] = [join(dir, 'data'), join(dir, 'elsewhere')];
  for (const one of [dataDir, join(dataDir, 'below'), elsewhere]) mkdirSync(one);
  for (const name of ['snitch.db', 'snitch.db-wal', 'snitch.lock']) writeFileSync(join(dataDir, name), name);
  Object.assign(world, { dir, dataDir, elsewhere });
});

test.after.each(({ dir }) => rmSync(dir, { recursive: true }));

test('a file elsewhere is welcome, whether or not it or its directory is there', ({ dataDir, elsewhere }) => {
  const there = join(elsewhere, 'old');
  writeFileSync(there, '');
  for (const file of [there, join(elsewhere, 'new'), join(elsewhere, 'none/new')]) {
    assert.is(refusalOfTarget(dataDir, file), null, file);
  }
});

test('no file that the daemon works with is replaced, whichever of its names is given', ({
  dataDir,
  elsewhere,
}) => {
  const own = join(dataDir, 'snitch.db');
  const names = { symbolic: join(elsewhere, 'symbolic'), hard: join(elsewhere, 'hard') };
  // The parent of a linked directory is not the directory that the link is in.
  symlinkSync(join(dataDir, 'below'), join(elsewhere, 'linked'));
  const byParent = `${elsewhere}/linked/../snitch.db`;
  symlinkSync(own, names.symbolic);
  linkSync(own, names.hard);
  for (const file of [own, names.symbolic, names.hard, byParent]) {
    assert.match(
      refusalOfTarget(dataDir, file) ?? '',
      `${file} is ${own} itself, which the daemon works with`,
    );
  }
  const log = join(dataDir, 'snitch.db-wal');
  assert.match(refusalOfTarget(dataDir, log) ?? '', `${log} is ${log} itself`);
});

test('no copy goes where it would be lost together with the original', ({ dir, dataDir, elsewhere }) => {
  symlinkSync(dataDir, join(dir, 'again'));
  symlinkSync(join(dataDir, 'later'), join(elsewhere, 'dangling'));
  symlinkSync('dangling', join(elsewhere, 'chain'));
  const files = [
    join(dataDir, 'copy'),
    join(dataDir, 'below/copy'),
    join(dir, 'again/copy'),
    join(dir, 'again/below/copy'),
    join(elsewhere, '../data/copy'),
    join(elsewhere, 'dangling'),
    join(elsewhere, 'chain'),
  ];
  for (const file of files) {
    assert.match(refusalOfTarget(dataDir, file) ?? 'allowed', `is in the data directory ${dataDir}`, file);
  }
});

test('no copy goes into the data directory of another daemon', ({ dir, dataDir, elsewhere }) => {
  writeFileSync(join(elsewhere, 'snitch.lock'), '');
  assert.match(
    refusalOfTarget(dataDir, join(elsewhere, 'copy')) ?? '',
    'the data directory of another snitch',
  );
  symlinkSync(join(elsewhere, 'copy'), join(dir, 'link'));
  assert.match(
    refusalOfTarget(dataDir, join(dir, 'link')) ?? '',
    `is in ${elsewhere}, the data directory of`,
  );
});

test('a link is known by where it leads, and only the last name of a path can be one', (context) => {
  const { dataDir, dir, elsewhere } = context;
  const [link, file] = [join(dir, 'link'), join(elsewhere, 'copy')];
  symlinkSync('elsewhere/copy', link);
  assert.is(linkedFrom(link), file);
  writeFileSync(file, '');
  assert.is(linkedFrom(link), file);
  assert.is(linkedFrom(file), null);
  symlinkSync('elsewhere', join(dir, 'mounted'));
  assert.is(linkedFrom(join(dir, 'mounted/copy')), null);
  assert.is(refusalOfTarget(dataDir, link), null);
});

test('links that lead in a circle are not followed for ever', ({ dataDir, elsewhere }) => {
  symlinkSync(join(elsewhere, 'two'), join(elsewhere, 'one'));
  symlinkSync(join(elsewhere, 'one'), join(elsewhere, 'two'));
  let answer: string | null;
  try {
    answer = refusalOfTarget(dataDir, join(elsewhere, 'one'));
  } catch (error) {
    answer = (error as NodeJS.ErrnoException).code ?? '';
  }
  assert.ok(answer === null || answer === 'ELOOP', String(answer));
});

test('one file is the same by each of its names, and nothing is the same as nothing', ({ dataDir }) => {
  const [one, other] = [join(dataDir, 'snitch.db'), join(dataDir, 'snitch.db-wal')];
  linkSync(one, join(dataDir, 'hard'));
  assert.is(isSameFile(one, join(dataDir, 'hard')), true);
  assert.is(isSameFile(one, other), false);
  assert.is(isSameFile(one, join(dataDir, 'none')), false);
  assert.is(isSameFile(join(dataDir, 'none'), one), false);
  assert.is(isSameFile(join(dataDir, 'none'), join(dataDir, 'none')), false);
});

test.run();
