/** What the dashboard copies so that a job checks in, from a real server. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createClient } from '../../../src/api/client.ts';
import type { WireBadge } from '../../../src/api/wire-badge.ts';
import { SNIPPET_KINDS } from '../../../src/core/snippets/snippet.ts';
import { createCommands } from '../../../src/tui/live/commands.ts';
import { createStore } from '../../../src/tui/live/store.ts';
import { step } from '../../../src/tui/model/step.ts';
import { ok } from '../../http/expect.ts';
import { type Fixture, hooks, newSnitch, type Team } from '../../http/fixture.ts';
import { until } from '../../until.ts';
import { beginning, keys, read } from '../samples.ts';

const test = suite<Fixture>('what the dashboard copies');
test.before.each(hooks.start);
test.after.each(hooks.close);

async function dashboardOf(port: number, { write }: Team, fields: Record<string, unknown>) {
  const snitch = await newSnitch({ write } as Team, fields);
  const store = createStore(beginning());
  const copied: string[] = [];
  const commands = createCommands({
    client: createClient({ url: `http://127.0.0.1:${port}`, apiKey: write.key ?? '' }),
    store,
    quit: () => {},
    refresh: () => {},
    copy: (text) => void copied.push(text),
    program: '/usr/bin/snitch',
    readSilences: () => {},
    foresight: { ask: () => {} },
  });
  store.dispatch(read([snitch]));
  const press = (...names: string[]) => {
    for (const event of keys(...names)) {
      for (const effect of step(store.get(), event).effects) commands.carryOut(effect);
      store.dispatch(event);
    }
  };
  const said = async (pattern: RegExp) => {
    await until(() => pattern.test(store.get().message?.text ?? ''), `it says ${pattern}`);
  };
  return { snitch, copied, press, said };
}

test('the chosen text, made from the current snitch', async ({ port, acme }) => {
  const { snitch, copied, press, said } = await dashboardOf(port, acme, { name: 'job' });
  ok(await acme.write.patch(snitch.href, { schedule: { cron: '5 4 * * *' } }));
  press('Y', 'enter');
  await said(/^Copied for job: Crontab\./);
  assert.match(copied[0] ?? '', `5 4 * * * /usr/bin/snitch exec ${snitch.check_in_url} -- /path/to/job`);
  press('Y', 'down', 'down', 'escape', 'Y', 'down', 'j', 'up', 'enter');
  await said(/^Copied for job: Shell script/);
  assert.match(copied[1] ?? '', /^#!\/bin\/sh\n/);
});

test('the badge if there is one, and otherwise how to make one', async ({ port, acme }) => {
  const { snitch, copied, press, said } = await dashboardOf(port, acme, { name: 'job' });
  press('Y', 'up', 'enter');
  assert.is(SNIPPET_KINDS.at(-1), 'badge');
  await said(/snitch badge add/);
  assert.equal(copied, []);
  const { url } = ok<WireBadge>(await acme.write.post('/v1/badges', { token: snitch.token }));
  press('Y', 'up', 'enter');
  await said(/^Copied for job: Badge/);
  assert.equal(copied, [`![job](${url})`]);
});

test('nothing is copied for a snitch that is gone', async ({ port, acme }) => {
  const { snitch, copied, press, said } = await dashboardOf(port, acme, { name: 'job' });
  await acme.write.delete(snitch.href);
  press('Y', 'enter');
  await said(/^Nothing was copied: /);
  assert.equal(copied, []);
});

test.run();
