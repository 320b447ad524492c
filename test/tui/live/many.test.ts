/** Actions on many marked snitches: they wait for a key that others blocked, and say what is left undone. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createClient } from '../../../src/api/client.ts';
import { RateLimiter } from '../../../src/http/endpoint/rate-limit.ts';
import { type Commands, createCommands } from '../../../src/tui/live/commands.ts';
import { patienceOf } from '../../../src/tui/live/patience.ts';
import { createStore } from '../../../src/tui/live/store.ts';
import type { Event } from '../../../src/tui/model/state.ts';
import { type Fixture, newSnitch, startFixture } from '../../http/fixture.ts';
import { until } from '../../until.ts';
import { beginning } from '../samples.ts';

const test = suite('actions on many');

interface Rig {
  fixture: Fixture;
  tokens: string[];
  commands: Commands;
  told: Extract<Event, { kind: 'said' }>[];
  unfinished: Extract<Event, { kind: 'unfinished' }>[];
  quit: AbortController;
}

/** A dashboard without a screen, on a server with this many snitches and a limit that blocks a key for a second. */
async function withRig(count: number, use: (rig: Rig) => Promise<void>): Promise<void> {
  const limiter = new RateLimiter({ perMinute: 0, burst: 0, blockS: 0 });
  const fixture = await startFixture({ limiter });
  const quit = new AbortController();
  try {
    const tokens: string[] = [];
    for (let index = 0; index < count; index += 1) {
      tokens.push((await newSnitch(fixture.acme, { name: `job-${index}` })).token);
    }
    limiter.configure({ perMinute: 1_200, burst: 20, blockS: 1 });
    const store = createStore(beginning());
    const told: Rig['told'] = [];
    const unfinished: Rig['unfinished'] = [];
    const listening = {
      ...store,
      dispatch: (event: Event) => {
        if (event.kind === 'said') told.push(event);
        if (event.kind === 'unfinished') unfinished.push(event);
        store.dispatch(event);
      },
    };
    const apiKey = fixture.acme.write.key ?? '';
    const patience = patienceOf(listening, quit.signal);
    const client = createClient({ url: `http://127.0.0.1:${fixture.port}`, apiKey, patience });
    const commands = createCommands({
      client,
      store: listening,
      quit: () => {},
      refresh: () => {},
      copy: () => {},
      program: '/usr/bin/snitch',
      readSilences: () => {},
      foresight: { ask: () => {} },
    });
    await use({ fixture, tokens, commands, told, unfinished, quit });
  } finally {
    quit.abort(new Error('the test is over'));
    await fixture.close();
  }
}

/** Uses up the rate limit of the key, as another program with the same key would. */
async function block({ acme }: Fixture): Promise<void> {
  for (let count = 0; count < 100; count += 1) {
    if ((await acme.write.get('/v1/case')).status === 429) return;
  }
  throw new Error('the key was never blocked');
}

async function countTagged({ store, acme }: Fixture): Promise<number> {
  const page = { tags: ['web'], after: 0, limit: 1_000 };
  return (await store.listSnitches(acme.id, page)).snitches.length;
}

test('all are changed, even if another program blocks the key meanwhile', async () => {
  await withRig(60, async (rig) => {
    const { fixture, tokens, commands, told, unfinished } = rig;
    await block(fixture);
    commands.carryOut({ do: 'tag', tokens, add: ['web'], remove: [] });
    await until(() => unfinished.length > 0, 'the end of the action');
    assert.equal(unfinished, [{ kind: 'unfinished', tokens: [] }]);
    assert.is(told[0]?.text, 'This key made too many calls: continuing in 1s.');
    assert.is(told.at(-1)?.text, 'Tagged 60 snitches.');
    assert.is(told.filter(({ tone }) => tone === 'bad').length, 0);
    assert.equal(commands.unfinished(), []);
    assert.is(await countTagged(fixture), 60);
  });
});

test('whoever quits meanwhile is told how many were changed', async () => {
  await withRig(60, async (rig) => {
    const { fixture, tokens, commands, quit, unfinished } = rig;
    commands.carryOut({ do: 'tag', tokens, add: ['web'], remove: [] });
    // The limit of the key makes all of them take two seconds and more.
    let done = 0;
    await until(() => {
      const [line = ''] = commands.unfinished();
      const text = /^the dashboard was quit when (\d+) of 60 were tagged: do it again for the rest$/;
      done = Number(text.exec(line)?.[1] ?? 0);
      return done > 0;
    }, 'the first are done');
    assert.ok(done < 60, `${done} were done at once`);
    quit.abort(new Error('quit'));
    await until(() => unfinished.length > 0, 'the end of the action');
    assert.ok((await countTagged(fixture)) >= done);
  });
});

test('whoever quits before a single request is answered is told what to look at', async () => {
  await withRig(1, async ({ fixture, tokens: [token = ''], commands, quit }) => {
    await block(fixture);
    const until = new Date(Date.now() + 3_600_000).toISOString();
    commands.carryOut({ do: 'silence', tokens: [token], until });
    commands.carryOut({ do: 'end-silences', ids: ['sil_a'] });
    commands.carryOut({ do: 'save', token: null, input: { name: 'new', interval: 'daily' } });
    commands.carryOut({ do: 'retry', delivery: '1' });
    const look = 'the dashboard was quit before the server had answered: look whether';
    assert.equal(commands.unfinished(), [
      `${look} ${token} is silenced`,
      `${look} the silence has ended`,
      `${look} new is saved`,
      `${look} the delivery is sent again`,
    ]);
    quit.abort(new Error('quit'));
  });
});

test('what somebody else deleted while the question was open is deleted', async () => {
  await withRig(1, async ({ fixture, tokens: [token = ''], commands, told }) => {
    await fixture.acme.write.delete(`/v1/snitches/${token}`);
    commands.carryOut({ do: 'delete', token });
    await until(() => told.length > 0, 'the end of the action');
    assert.equal(
      told.map(({ text, tone }) => ({ text, tone })),
      [{ text: `Deleted ${token}.`, tone: 'good' }],
    );
  });
});

test.run();
