/** The requests to the server while somebody types a schedule. */
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createClient } from '../../../src/api/client.ts';
import { Foresight } from '../../../src/tui/live/foresight.ts';
import type { Foreseen, Question } from '../../../src/tui/model/foreseen.ts';
import { startFakeServer } from '../../cli/fake-server.ts';
import { type Fixture, hooks } from '../../http/fixture.ts';
import { until } from '../../until.ts';

const test = suite<Fixture>('the next runs of what is typed');
test.before.each(hooks.start);
test.after.each(hooks.close);

const cron = (expression: string): { asked: string; question: Question } => ({
  asked: expression,
  question: { input: { schedule: { cron: expression } } },
});

function clientOf({ port, acme }: Fixture, url = `http://127.0.0.1:${port}`) {
  return createClient({ url, apiKey: acme.read.key ?? '' });
}

test('while somebody types, only the last text is checked', async (context) => {
  const told: Foreseen[] = [];
  const foresight = new Foresight({ client: clientOf(context), tell: (one) => told.push(one), rest: 20 });
  for (const text of ['0', '0 3', '0 3 * * *']) foresight.ask(cron(text));
  await until(() => told.length > 0);
  assert.is(told[0]?.asked, '0 3 * * *');
  assert.is(told[0]?.answer?.runs.length, 5);
  await sleep(60);
  assert.is(told.length, 1);
});

test('mistakes are explained in the words of the server, or locally if they are known here', async (context) => {
  const told: Foreseen[] = [];
  const foresight = new Foresight({ client: clientOf(context), tell: (one) => told.push(one), rest: 1 });
  foresight.ask(cron('0 3'));
  await until(() => told.length === 1);
  assert.equal([told[0]?.answer, told[0]?.validations[0]?.attribute], [null, 'schedule']);
  foresight.ask({ asked: 'x', question: { problems: { grace: 'is no length of time' } } });
  await until(() => told.length === 2);
  assert.equal(told[1]?.validations, [{ attribute: 'grace', message: 'is no length of time' }]);
});

test('a server that hangs gets one request at a time, and then the last text', async (context) => {
  const waiting: (() => void)[] = [];
  const client = {
    checkSchedule: async (input: Parameters<ReturnType<typeof clientOf>['checkSchedule']>[0]) => {
      await new Promise<void>((resolve) => waiting.push(resolve));
      return clientOf(context).checkSchedule(input);
    },
  };
  const told: Foreseen[] = [];
  const foresight = new Foresight({ client, tell: (one) => told.push(one), rest: 1 });
  foresight.ask(cron('@daily'));
  await until(() => waiting.length === 1);
  for (const text of ['@weekly', '@monthly']) {
    foresight.ask(cron(text));
    await sleep(20);
  }
  assert.is(waiting.length, 1);
  waiting[0]?.();
  await until(() => waiting.length === 2);
  waiting[1]?.();
  await until(() => told.length === 2);
  assert.equal(
    told.map(({ asked }) => asked),
    ['@daily', '@monthly'],
  );
});

test('an older server is distinguished from one that is away', async (context) => {
  const told: Foreseen[] = [];
  const body = { type: 'resource_not_found', error: 'There is nothing here.' };
  const server = await startFakeServer({ status: 404, body });
  try {
    const client = clientOf(context, server.url);
    const foresight = new Foresight({ client, tell: (one) => told.push(one), rest: 1 });
    foresight.ask(cron('@daily'));
    await until(() => told.length === 1);
    assert.equal([told[0]?.isUnknown, told[0]?.error], [true, 'There is nothing here.']);
    await server.stop();
    foresight.ask(cron('@weekly'));
    await until(() => told.length === 2);
    assert.is(told[1]?.isUnknown, false);
    assert.match(told[1]?.error ?? '', 'cannot reach');
  } finally {
    await server.stop();
  }
});

test.run();
