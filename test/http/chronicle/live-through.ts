import type { Fixture } from '../fixture.ts';
import { Chronicler } from './chronicler.ts';
import { Life } from './life.ts';

interface Way {
  /** When it begins: ms since the epoch. */
  begin: number;
  seed: number;
  acts: number;
  /** What else happens after an act; the first has the number 0. */
  after?: (act: number, life: Life, chronicler: Chronicler) => Promise<void>;
}

/** Lets a case live through so many acts of people and jobs; gives who wrote it all down. */
export async function liveThrough(context: Fixture, { begin, seed, acts, after }: Way): Promise<Chronicler> {
  context.clock.now = begin;
  const life = new Life(context, seed);
  const chronicler = new Chronicler(context);
  await life.beginRival();
  for (const act of await life.begin()) await chronicler.write(act);
  for (let count = 0; count < acts; count += 1) {
    await chronicler.wait(life.nextAt(chronicler.deadline, chronicler.attempt));
    await chronicler.write(await life.act());
    await after?.(count, life, chronicler);
  }
  return chronicler;
}
