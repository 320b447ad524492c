/** What the form sends, on a real server; and a server that ignores what it does not know. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createClient } from '../../../src/api/client.ts';
import type { WireSnitch } from '../../../src/api/wire.ts';
import { createCommands } from '../../../src/tui/live/commands.ts';
import { createStore, type Store } from '../../../src/tui/live/store.ts';
import type { FormOverlay } from '../../../src/tui/model/form.ts';
import type { Attribute } from '../../../src/tui/model/form-fields.ts';
import { step } from '../../../src/tui/model/step.ts';
import { startFakeServer } from '../../cli/fake-server.ts';
import { ok } from '../../http/expect.ts';
import { type Fixture, hooks, newSnitch } from '../../http/fixture.ts';
import { until } from '../../until.ts';
import { beginning, keys, read, snitch } from '../samples.ts';

const test = suite<Fixture>('saving a form of the dashboard');
test.before.each(hooks.start);
test.after.each(hooks.close);

/** A dashboard without a screen whose keys have their effects. */
function dashboardOf(url: string, apiKey: string, snitches: readonly WireSnitch[]) {
  const store = createStore(beginning());
  const commands = createCommands({
    client: createClient({ url, apiKey }),
    store,
    quit: () => {},
    refresh: () => {},
    copy: () => {},
    program: '/usr/bin/snitch',
    readSilences: () => {},
    foresight: { ask: () => {} },
  });
  store.dispatch(read(snitches));
  const press = (...names: string[]) => {
    for (const event of keys(...names)) {
      for (const effect of step(store.get(), event).effects) commands.carryOut(effect);
      store.dispatch(event);
    }
  };
  return { store, press };
}

type Dashboard = ReturnType<typeof dashboardOf>;

function formIn(store: Store): FormOverlay | null {
  const { overlay } = store.get();
  return overlay?.kind === 'form' ? overlay : null;
}

function fill({ store, press }: Dashboard, texts: Partial<Record<Attribute, string>>): void {
  for (const [attribute, text] of Object.entries(texts)) {
    while (formIn(store)?.fields[formIn(store)?.focus ?? 0]?.attribute !== attribute) press('tab');
    press('ctrl+e', 'ctrl+u', ...text);
  }
}

test('what a run must look like is set, kept and taken back', async ({ port, acme }) => {
  const job = await newSnitch(acme, { name: 'job' });
  const found = async () => ok<WireSnitch>(await acme.read.get(`/v1/snitches/${job.token}`));
  const url = `http://127.0.0.1:${port}`;
  const dashboard = dashboardOf(url, acme.write.key ?? '', [await found()]);
  const { store, press } = dashboard;
  const save = async (texts: Partial<Record<Attribute, string>>) => {
    press('e');
    fill(dashboard, texts);
    press('enter');
    await until(() => formIn(store)?.busy !== true, 'the answer');
  };
  await save({
    max_runtime: '2h',
    min_runtime: '5m',
    failures_before_alert: '3',
    expect: 'bytes>=1k, bytes=0.5x..3x',
  });
  const expect = [{ value: 'bytes', min: 1_000, max: null, of_usual: [0.5, 3] as const, required: true }];
  const rules = { max_runtime: 7_200, min_runtime: 300, failures_before_alert: 3, expect };
  const rulesOf = ({ max_runtime, min_runtime, failures_before_alert, expect: expected }: WireSnitch) => ({
    max_runtime,
    min_runtime,
    failures_before_alert,
    expect: expected,
  });
  assert.equal(rulesOf(await found()), rules);
  await save({ name: 'renamed' });
  assert.equal(rulesOf(await found()), rules, 'an edit of something else keeps them');
  await save({ max_runtime: '1m', expect: 'bytes=9..1' });
  const { problems } = formIn(store) ?? {};
  assert.equal(Object.keys(problems ?? {}), ['expect'], JSON.stringify(problems));
  press('escape');
  await save({ max_runtime: '1m' });
  assert.is(formIn(store)?.problems.min_runtime, 'is longer than max_runtime');
  press('escape');
  await save({ max_runtime: '', min_runtime: '', failures_before_alert: '', expect: '' });
  const none = { max_runtime: null, min_runtime: null, failures_before_alert: 1, expect: null };
  assert.equal([formIn(store), rulesOf(await found())], [null, none]);
});

test('it says what an older server ignored', async () => {
  const server = await startFakeServer({ status: 201, body: snitch('job') });
  try {
    const dashboard = dashboardOf(server.url, 'key', []);
    dashboard.press('n');
    fill(dashboard, {
      name: 'job',
      max_runtime: '2h',
      min_runtime: '5m',
      failures_before_alert: '3',
      expect: 'bytes',
    });
    dashboard.press('enter');
    await until(() => dashboard.store.get().message?.text.startsWith('Created') === true, 'the answer');
    const { text, tone } = dashboard.store.get().message ?? {};
    assert.is(
      text,
      'Created job without its max runtime, min runtime, failures before an alert, expectations: the server is too old for that.',
    );
    assert.is(tone, 'bad');
  } finally {
    await server.stop();
  }
});

test.run();
