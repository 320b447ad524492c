/** The last report about how a run ended, even if other reports of the job came after it. */
import * as assert from 'uvu/assert';
import type { Store } from './acting.ts';
import {
  checkIn,
  contract,
  HOUR,
  MINUTE,
  NOW,
  newCase,
  newSnitch,
  openSqlite,
  SECOND,
  snitchOf,
  sweep,
} from './fixture.ts';

async function notes(store: Store, token: string, count: number, from: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    await checkIn(store, token, from + index * SECOND, {
      outcome: index === 0 ? 'start' : 'log',
      message: 'x',
    });
  }
}

const ERROR = { outcome: 'error', exitStatus: 3, message: 'disk full' } as const;

contract('last report', (test) => {
  test('there is none before a run has ended', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner);
    assert.is((await snitchOf(store, owner, token)).lastReport, null);
    await notes(store, token, 3, NOW);
    assert.is((await snitchOf(store, owner, token)).lastReport, null);
  });

  test('starts and lines of the log are no reports, and the newest end is', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner);
    await checkIn(store, token, NOW, ERROR);
    await notes(store, token, 5, NOW + SECOND);
    assert.equal((await snitchOf(store, owner, token)).lastReport, { at: NOW, ...ERROR });
    await checkIn(store, token, NOW + MINUTE, { message: 'done', exitStatus: 0 });
    const done = { at: NOW + MINUTE, outcome: 'healthy', exitStatus: 0, message: 'done' };
    assert.equal((await snitchOf(store, owner, token)).lastReport, done);
  });

  test('one that was kept back is the last report only where no later one was heard', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner);
    await checkIn(store, token, NOW + 10 * MINUTE, { message: 'later' });
    await checkIn(store, token, NOW, { ...ERROR, now: NOW + 20 * MINUTE });
    const { lastReport } = await snitchOf(store, owner, token);
    assert.equal([lastReport?.at, lastReport?.message], [NOW + 10 * MINUTE, 'later']);
  });

  test('its time and meaning are still known after many later lines', async ({ store }) => {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner);
    await checkIn(store, token, NOW, ERROR);
    await notes(store, token, 19, NOW + SECOND);
    assert.is((await snitchOf(store, owner, token)).lastReport?.message, 'disk full');
    await notes(store, token, 1, NOW + MINUTE);
    const bare = { at: NOW, outcome: 'error', exitStatus: null, message: null };
    assert.equal((await snitchOf(store, owner, token)).lastReport, bare);
    const other = await newSnitch(store, owner);
    await checkIn(store, other.token, NOW, { message: 'done' });
    await notes(store, other.token, 20, NOW + SECOND);
    const healthy = { at: NOW, outcome: 'healthy', exitStatus: null, message: null };
    assert.equal((await snitchOf(store, owner, other.token)).lastReport, healthy);
  });

  test('and so they are where the log keeps it no more', async () => {
    const opened = await openSqlite({ checkInsKept: () => 2 });
    try {
      const { store } = opened;
      const owner = await newCase(store);
      const { token } = await newSnitch(store, owner);
      await checkIn(store, token, NOW, ERROR);
      await notes(store, token, 5, NOW + SECOND);
      const bare = { at: NOW, outcome: 'error', exitStatus: null, message: null };
      assert.equal((await snitchOf(store, owner, token)).lastReport, bare);
    } finally {
      await opened.dispose();
    }
  });
});

contract('a run that has not ended', (test) => {
  /** When the run began that the alarm three hours later is about, in seconds from NOW. */
  async function startedAt(store: Store, steps: (token: string) => Promise<unknown>): Promise<number | null> {
    const owner = await newCase(store);
    const { token } = await newSnitch(store, owner);
    await checkIn(store, token, NOW - MINUTE);
    await steps(token);
    await sweep(store, NOW + 3 * HOUR);
    const [listed] = await store.listAlerts(owner.id, token, { limit: 1, before: null });
    assert.is(listed?.alert.type, 'snitch.missing');
    const began = listed?.alert.details?.startedAt;
    return began === undefined ? null : (began - NOW) / SECOND;
  }

  test('is told by the alarm, also where it logs a lot', async ({ store }) => {
    assert.is(await startedAt(store, async () => {}), null);
    assert.is(await startedAt(store, (token) => notes(store, token, 1, NOW)), 0);
    assert.is(await startedAt(store, (token) => notes(store, token, 30, NOW)), 0);
    assert.is(await startedAt(store, (token) => notes(store, token, 80, NOW)), 0);
    const atOnce = async (token: string) => {
      await checkIn(store, token, NOW);
      await notes(store, token, 80, NOW);
    };
    assert.is(await startedAt(store, atOnce), 0, 'it began in the millisecond in which the last one ended');
  });

  test('one that has ended is not, and of two the later is', async ({ store }) => {
    const ended = async (token: string) => {
      await notes(store, token, 2, NOW);
      await checkIn(store, token, NOW + 5 * SECOND);
    };
    assert.is(await startedAt(store, ended), null);
    const again = async (token: string) => {
      await ended(token);
      await notes(store, token, 2, NOW + 10 * SECOND);
    };
    assert.is(await startedAt(store, again), 10);
    const failed = async (token: string) => {
      await notes(store, token, 2, NOW);
      await checkIn(store, token, NOW + 5 * SECOND, { outcome: 'error' });
      await checkIn(store, token, NOW + 6 * SECOND, { outcome: 'log' });
    };
    assert.is(await startedAt(store, failed), null);
    const long = async (token: string) => {
      await ended(token);
      for (let index = 0; index < 60; index += 1) {
        await checkIn(store, token, NOW + (10 + index) * SECOND, { outcome: 'log' });
      }
    };
    assert.is(await startedAt(store, long), null, 'lines without a start are no run');
  });
});
