/** Files with secrets: only their owner reads them, no link of somebody else leads astray, and none is half written. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { everybodyMayRead, otherWriters } from '../../src/system/access.ts';
import {
  copyToPrivateFileNow,
  createPrivateFile,
  createPrivateFileNow,
  replacePrivateFile,
} from '../../src/system/private-file.ts';

interface Context {
  directory: string;
  file: string;
}

const test = suite<Context>('private files');

test.before.each((context) => {
  context.directory = mkdtempSync(join(tmpdir(), 'snitch-private-'));
  context.file = join(context.directory, 'credentials.yaml');
});
test.after.each(({ directory }) => rmSync(directory, { recursive: true, force: true }));

const modeOf = (path: string) => statSync(path).mode & 0o777;

test('are readable by their owner alone, whatever was there and whatever the umask', async ({ file }) => {
  const before = process.umask(0o277);
  try {
    await replacePrivateFile(file, 'one\n');
    assert.is(modeOf(file), 0o600);
    chmodSync(file, 0o666);
    await replacePrivateFile(file, 'two\n');
  } finally {
    process.umask(before);
  }
  assert.is(modeOf(file), 0o600);
  assert.is(readFileSync(file, 'utf8'), 'two\n');
});

test('a link in the place of the file or of a draft leads nowhere', async ({ directory, file }) => {
  const theirs = join(directory, 'theirs');
  writeFileSync(theirs, 'theirs');
  for (const name of ['credentials.yaml', 'credentials.yaml.new']) symlinkSync(theirs, join(directory, name));
  await replacePrivateFile(file, 'secret');
  assert.is(readFileSync(theirs, 'utf8'), 'theirs');
  assert.is(readFileSync(file, 'utf8'), 'secret');
  const link = join(directory, 'link');
  symlinkSync(join(directory, 'made'), link);
  const refused = await createPrivateFile(link, 'secret').catch((error: NodeJS.ErrnoException) => error.code);
  assert.is(refused, 'EEXIST');
  assert.not(existsSync(join(directory, 'made')));
});

test('what cannot be written leaves the old file, and no draft', async ({ directory, file }) => {
  mkdirSync(file);
  const refused = await replacePrivateFile(file, 'x').catch((error: NodeJS.ErrnoException) => error.code);
  assert.is(refused, 'EISDIR');
  assert.equal(readdirSync(directory), ['credentials.yaml']);
});

test('a draft that a crash left goes with the next writing, and nothing else does', async ({
  directory,
  file,
}) => {
  const left = `credentials.yaml.${'a0'.repeat(16)}.new`;
  for (const name of [left, 'credentials.yaml.bak', 'other.yaml']) writeFileSync(join(directory, name), '');
  await replacePrivateFile(file, 'x');
  assert.equal(readdirSync(directory).sort(), ['credentials.yaml', 'credentials.yaml.bak', 'other.yaml']);
});

/** The ways that do not give the event loop a turn. */
const AT_ONCE: Record<string, (path: string, theirs: string) => void> = {
  'a text': (path) => createPrivateFileNow(path, 'secret'),
  'nothing yet': (path) => createPrivateFileNow(path),
  'a copy': (path, theirs) => copyToPrivateFileNow(theirs, path),
};

for (const [what, make] of Object.entries(AT_ONCE)) {
  test(`one that gets ${what} is private whatever the umask, and takes the place of nothing`, (context) => {
    const { directory, file } = context;
    const theirs = join(directory, 'theirs');
    writeFileSync(theirs, 'theirs', { mode: 0o644 });
    const before = process.umask(0o277);
    try {
      make(file, theirs);
    } finally {
      process.umask(before);
    }
    assert.is(modeOf(file), 0o600);
    const link = join(directory, 'link');
    symlinkSync(join(directory, 'made'), link);
    for (const taken of [theirs, link]) assert.throws(() => make(taken, theirs), /EEXIST/);
    assert.not(existsSync(join(directory, 'made')));
    assert.is(readFileSync(theirs, 'utf8'), 'theirs');
  });
}

test('a copy is whole, however long it is, and half of one is removed again', ({ directory, file }) => {
  const from = join(directory, 'from');
  const content = Buffer.alloc((2 << 20) + 12_345, 'snitch');
  writeFileSync(from, content);
  copyToPrivateFileNow(from, file);
  assert.ok(readFileSync(file).equals(content));
  const half = join(directory, 'half');
  assert.throws(() => copyToPrivateFileNow(directory, half), /EISDIR/);
  assert.not(existsSync(half));
});

test('who may write into a directory, and read a file, goes by all directories above', ({
  directory,
  file,
}) => {
  const inner = join(directory, 'inner');
  mkdirSync(inner);
  const uid = statSync(inner).uid;
  const writersAt = (mode: number, above: number, asked = uid) => {
    chmodSync(inner, mode);
    chmodSync(directory, above);
    return otherWriters(inner, asked);
  };
  assert.is(writersAt(0o700, 0o755), 'nobody');
  assert.is(writersAt(0o755, 0o755), 'nobody');
  assert.is(writersAt(0o775, 0o755), 'group');
  assert.is(writersAt(0o777, 0o755), 'everybody');
  assert.is(writersAt(0o1777, 0o755), 'everybody, beside ours');
  assert.is(writersAt(0o707, 0o700), 'nobody');
  assert.is(writersAt(0o700, 0o755, uid + 1), uid === 0 ? 'nobody' : 'owner');
  writeFileSync(file, '');
  chmodSync(file, 0o640);
  chmodSync(directory, 0o755);
  assert.not(everybodyMayRead(file));
  chmodSync(file, 0o644);
  assert.ok(everybodyMayRead(file));
  chmodSync(directory, 0o750);
  assert.not(everybodyMayRead(file));
});

test.run();
