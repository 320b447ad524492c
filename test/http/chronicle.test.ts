/**
 * A life of a case, written down: what people and jobs did at random, and all that followed from it. Whatever this test
 * finds is a change of behaviour. If it is wanted, write it down again with
 * `TEST_KEEP=1 npm run test:file http/chronicle`, and read the difference line by line.
 * Also on PostgreSQL with CHAOS=full.
 */
import { join } from 'node:path';
import { suite } from 'uvu';
import { assertKept } from '../kept-text.ts';
import type { Chronicler } from './chronicle/chronicler.ts';
import type { Life } from './chronicle/life.ts';
import { liveThrough } from './chronicle/live-through.ts';
import { withFixture } from './fixture.ts';

const KEPT = join(import.meta.dirname, 'chronicle/chronicle.txt');
const ACTS = 120;
const SEED = 20_261_024;

/** A Saturday, some hours before the clocks of Europe are set back. */
const BEGIN = Date.UTC(2026, 9, 24, 14, 7, 30);

const chronicle = suite('chronicle');

async function amongOthers(act: number, life: Life, chronicler: Chronicler): Promise<void> {
  if (act % 4 === 0) await life.actOfRival();
  if (act % 40 === 39) await chronicler.read();
}

async function written(): Promise<string[]> {
  let lines: string[] = [];
  await withFixture({}, async (context) => {
    const chronicler = await liveThrough(context, {
      begin: BEGIN,
      seed: SEED,
      acts: ACTS,
      after: amongOthers,
    });
    lines = chronicler.lines;
  });
  return lines;
}

chronicle('the same happens to a case as when it was written down', async () => {
  assertKept(KEPT, await written());
});

chronicle.run();
