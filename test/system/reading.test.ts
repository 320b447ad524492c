/** Files that are no files: pipes, devices, directories, and such as are far too large. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { faultOfReading, readWholeMeanwhile, readWholeText } from '../../src/system/reading.ts';

const test = suite<{ directory: string; pipe: string }>('reading what somebody named');

test.before.each((context) => {
  context.directory = mkdtempSync(join(tmpdir(), 'snitch-reading-'));
  context.pipe = join(context.directory, 'pipe');
  spawnSync('mkfifo', [context.pipe]);
});
test.after.each(({ directory }) => rmSync(directory, { recursive: true }));

const faultOf = (read: () => unknown) => {
  try {
    read();
  } catch (error) {
    return faultOfReading(error);
  }
  return null;
};

test('a file is read up to its bound, and not a byte beyond', ({ directory }) => {
  const file = join(directory, 'file');
  for (const size of [0, 1, 4_096, 65_536, 200_000]) {
    writeFileSync(file, 'x'.repeat(size));
    assert.is(readWholeText(file, size).length, size);
    if (size > 0) {
      assert.is(
        faultOf(() => readWholeText(file, size - 1)),
        `it is larger than ${size - 1} bytes`,
      );
    }
  }
  assert.is(
    faultOf(() => readWholeText('/dev/zero', 2 * 1024 * 1024)),
    'it is larger than 2 MiB',
  );
});

test('what is no file is told in words', async ({ directory, pipe }) => {
  assert.is(
    faultOf(() => readWholeText(directory, 100)),
    'it is a directory',
  );
  assert.is(
    faultOf(() => readWholeText(join(directory, 'none'), 100)),
    'ENOENT',
  );
  const silent = 'it is a pipe, and nobody writes into it';
  assert.is(
    faultOf(() => readWholeText(pipe, 100)),
    silent,
  );
  const meanwhile = await readWholeMeanwhile(pipe, 100).catch((error: unknown) => faultOfReading(error));
  assert.is(meanwhile, silent);
});

test('a pipe is read to its end, however slowly and in whatever pieces it is written', async ({ pipe }) => {
  const writer = spawn('sh', ['-c', 'sleep 0.3; exec 3>"$0"; printf a >&3; sleep 0.3; printf b >&3', pipe]);
  const ended = once(writer, 'exit');
  try {
    assert.is(String(await readWholeMeanwhile(pipe, 100)), 'ab');
  } finally {
    writer.kill();
    await ended;
  }
});

test.run();
