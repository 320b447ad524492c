/** `snitch backup` that is told to stop in the middle of the copy. */
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { databasePath } from '../../../src/store/sqlite/connection.ts';
import { closing } from '../../closing.ts';
import { openStore } from '../../store/acting.ts';
import { SnitchProcess, temporaryDirectory } from '../snitch-process.ts';

const test = suite('snitch backup, stopped');

const NOW = Date.parse('2025-07-09T12:00:00Z');
/** Copied in many steps, so that a signal arrives between two of them. */
const BYTES = 200 << 20;

/** A large database, and where its copies go. */
async function placesIn(directory: string): Promise<{ dataDir: string; copies: string; file: string }> {
  const [dataDir, copies] = [join(directory, 'data'), join(directory, 'copies')];
  for (const path of [dataDir, copies]) mkdirSync(path, { mode: 0o700 });
  await openStore({ dataDir, clock: () => NOW }).close();
  using db = closing(new Database(databasePath(dataDir)));
  db.exec('CREATE TABLE ballast (bytes BLOB)');
  const add = db.prepare('INSERT INTO ballast VALUES (zeroblob(?))');
  for (let added = 0; added < BYTES; added += 1 << 20) add.run(1 << 20);
  return { dataDir, copies, file: join(copies, 'copy.db') };
}

/** Waits until something was copied. */
async function begun(copies: string): Promise<void> {
  const isDraft = (name: string) => name.startsWith('copy.db.partial') && sizeOf(join(copies, name)) > 0;
  while (!readdirSync(copies).some(isDraft)) await sleep(1);
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

for (const [signal, code] of [
  ['SIGTERM', 143],
  ['SIGINT', 130],
  ['SIGHUP', 129],
] as const) {
  test(`${signal} leaves no half of a copy, and the copy from before as it was`, async () => {
    using directory = temporaryDirectory();
    const { dataDir, copies, file } = await placesIn(directory.path);
    writeFileSync(file, 'the copy from before');
    using running = new SnitchProcess(['backup', '-f', '--data-dir', dataDir, file], {});
    await begun(copies);
    running.kill(signal);
    const ended = await running.ended();
    assert.equal(readdirSync(copies), ['copy.db']);
    assert.is(statSync(file).size, 'the copy from before'.length);
    assert.equal(ended, {
      code,
      stdout: '',
      stderr: `snitch: stopped: ${file} was not written; what was copied is removed\n`,
    });
  });
}

test('two backups to one file at the same time are both whole, and what killed ones left is removed', async () => {
  using directory = temporaryDirectory();
  const { dataDir, copies, file } = await placesIn(directory.path);
  using killed = new SnitchProcess(['backup', '--data-dir', dataDir, file], {});
  await begun(copies);
  killed.kill('SIGKILL');
  await killed.ended();
  for (const left of ['copy.db.partial', 'copy.db.partial-journal', 'copy.db.partials', 'other.db.partial'])
    writeFileSync(join(copies, left), 'left');
  using first = new SnitchProcess(['backup', '-f', '--data-dir', dataDir, file], {});
  using second = new SnitchProcess(['backup', '-f', '--data-dir', dataDir, file], {});
  for (const { code, stderr } of await Promise.all([first.ended(), second.ended()]))
    assert.is(code, 0, stderr);
  assert.equal(readdirSync(copies).sort(), ['copy.db', 'copy.db.partials', 'other.db.partial']);
  using db = closing(new Database(file, { readonly: true }));
  assert.equal(db.pragma('integrity_check', { simple: true }), 'ok');
});

test.run();
