/** `snitch serve --demo`: an invented history in a temporary directory that is removed at the end. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireAlert, WireSnitch } from '../../src/api/wire.ts';
import { FLEET } from '../../src/demo/fleet.ts';
import { makePast } from '../../src/demo/past.ts';
import { openStore } from '../store/acting.ts';

const test = suite('the demo');

/** Saturday, 2026-03-14, 12:00 UTC. */
const NOON = Date.UTC(2026, 2, 14, 12);

test('every job of the fleet has its invented history', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'snitch-test-'));
  const store = openStore({ dataDir, clock: () => NOON });
  try {
    await makePast(store, NOON);
    const [demoCase] = await store.listCases();
    const { snitches } = await store.listSnitches(demoCase!.id, { after: 0, limit: 100, tags: [] });
    assert.is(snitches.length, FLEET.length);
    const statusOf = new Map(snitches.map(({ name, state }) => [name, state.status]));
    for (const { name, isNew, isPaused, missed, errors } of FLEET) {
      const expected = isNew ? 'pending' : isPaused ? 'paused' : errors?.includes(0) ? 'errored' : 'healthy';
      const isMissing = missed?.includes(0) && missed.includes(1);
      assert.is(statusOf.get(name), isMissing ? 'failed' : expected, name);
    }
    const named = (those: typeof snitches) => those.map(({ name }) => name);
    assert.equal(named(snitches.filter(({ state }) => state.acknowledged)), ['etl-orders']);
    const [silence, ...others] = await store.listSilences(demoCase!.id, NOON);
    assert.equal([silence?.note, others], ['moving to the new disks', []]);
    assert.is(await store.nextDeliveryAt(), null);
  } finally {
    await store.close();
    rmSync(dataDir, { recursive: true });
  }
});

test('it touches no real store, answers like any daemon, and leaves nothing behind', async () => {
  const place = mkdtempSync(join(tmpdir(), 'snitch-test-'));
  const real = join(place, 'real');
  const program = join(import.meta.dirname, '../../dist/snitch.mjs');
  const child = spawn(process.execPath, [program, 'serve', '--demo'], {
    env: {
      PATH: process.env.PATH,
      TMPDIR: place,
      SNITCH_DATA_DIR: real,
      SNITCH_LISTEN: '127.0.0.1:0',
      SNITCH_LOG_FORMAT: 'json',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  try {
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    await new Promise<void>((resolve) => {
      createInterface({ input: child.stdout }).on('line', (line) => {
        if (line.includes('"msg":"listening"')) resolve();
      });
    });
    const [dataDir = ''] = /\/\S*snitch-demo-\w+/.exec(said) ?? [];
    assert.ok(existsSync(join(dataDir, 'credentials.yaml')));
    const cli = (...args: string[]) => {
      const asked = spawn(process.execPath, [program, ...args, '--json'], {
        env: { PATH: process.env.PATH, SNITCH_DATA_DIR: dataDir },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      return new Response(asked.stdout as never).json();
    };
    const listed = (await cli('list')) as WireSnitch[];
    assert.is(listed.length, FLEET.length);
    const namesOf = (those: WireSnitch[]) => those.map(({ name }) => name);
    assert.equal(namesOf(listed.filter(({ silenced }) => silenced)), ['search-reindex']);
    assert.equal(namesOf(listed.filter(({ held }) => held)), ['backup-verify']);
    assert.ok(((await cli('alerts')) as WireAlert[]).length > 10);
    child.kill('SIGTERM');
    await once(child, 'exit');
    assert.equal(readdirSync(place), []);
  } finally {
    child.kill('SIGKILL');
    rmSync(place, { recursive: true, force: true });
  }
});

test.run();
