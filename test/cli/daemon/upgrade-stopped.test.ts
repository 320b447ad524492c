/** `snitch serve` gets SIGTERM while it upgrades its database. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { contentOfFile } from '../../store/sqlite/content.ts';
import { writeVersion1 } from '../../store/sqlite/version-1.ts';
import { SnitchProcess, temporaryDirectory } from '../snitch-process.ts';

/** A log whose last number is so high that walking it takes many seconds, however fast the host is. */
const LONG_LOG = 'UPDATE check_ins SET id = 100000000000 WHERE id = (SELECT MAX(id) FROM check_ins);';

const test = suite('stopping an upgrade');

test('SIGTERM ends it at once with 0, says so, and leaves the database as it was', async () => {
  using directory = temporaryDirectory();
  const dataDir = join(directory.path, 'data');
  mkdirSync(dataDir, { mode: 0o700 });
  const before = writeVersion1(dataDir, LONG_LOG);
  const env = { SNITCH_LISTEN: '127.0.0.1:0', SNITCH_DATA_DIR: dataDir };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const daemon = new SnitchProcess(['serve'], env);
    try {
      for (;;) {
        const upgrading = daemon.log().some(({ msg }) => /^Upgrading the database/.test(String(msg)));
        if (upgrading) break;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      daemon.kill(signal);
      const { code, stderr } = await daemon.ended();
      assert.is(code, 0, stderr);
      const said = daemon.log().map(({ msg }) => String(msg));
      assert.ok(said.includes('stopping'));
      assert.match(said.at(-1) ?? '', 'stopped before the database was open: it was not changed');
      assert.not(said.includes('listening'));
    } finally {
      daemon.kill('SIGKILL');
      await daemon.ended();
    }
    assert.equal(contentOfFile(join(dataDir, 'snitch.db')), before);
  }
});

test.run();
