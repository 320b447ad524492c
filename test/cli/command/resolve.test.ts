/** How much a command reads to find a snitch by its name: a server may have a million of them. */
import { once } from 'node:events';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Client, createClient } from '../../../src/api/client.ts';
import { FEW_NAMES, resolveSnitch, resolveSnitches } from '../../../src/cli/command/resolve.ts';
import { NotFoundError } from '../../../src/cli/failure/failure.ts';
import type { ImportedSnitch } from '../../../src/store/ownership.ts';
import { type Fixture, startFixture } from '../../http/fixture.ts';
import { rejection } from '../../store/fixture.ts';
import { fakeServer } from '../fake-server.ts';
import { runSnitchWith } from '../piped.ts';

const COUNT = 120;
const TOKEN = 'from-another-service';

/** The fields that the client needs besides token and name. */
const REST = JSON.stringify({
  ...{ tags: [], notes: '', status: 'healthy', checked_in_at: null, check_in_url: 'http://localhost/t' },
  ...{ interval: 'daily', alert_type: 'basic', alert_email: [], created_at: '2026-01-01T00:00:00.000Z' },
}).slice(1, -1);

interface Context extends Fixture {
  client: Client;
  env: Record<string, string>;
  /** How many snitches were read for lists since the last call. */
  read(): number;
}

const test = suite<Context>('snitches by name');

test.before.each(async (context) => {
  let count = 0;
  const fixture = await startFixture({
    through: (store) => ({
      ...store,
      listSnitches: async (caseId, slice) => {
        const found = await store.listSnitches(caseId, slice);
        count += found.snitches.length;
        return found;
      },
    }),
  });
  const { acme, store, clock, port } = fixture;
  const imported = Array.from(
    { length: COUNT },
    (_, index): ImportedSnitch => ({
      ...{ name: `job ${index}`, notes: '', tags: [], alertEmail: [] },
      ...{ interval: 'daily', alertType: 'basic', token: index === 0 ? TOKEN : null },
    }),
  );
  await store.importSnitches(acme.id, { imported, owner: null }, clock.now);
  const [url, apiKey] = [`http://127.0.0.1:${port}`, acme.write.key ?? ''];
  const read = () => {
    const before = count;
    count = 0;
    return before;
  };
  const env = { SNITCH_URL: url, SNITCH_API_KEY: apiKey };
  Object.assign(context, fixture, { client: createClient({ url, apiKey }), env, read });
});
test.after.each(({ close }) => close());

test('one is read for each of a few names, and all once for many', async ({ client, read }) => {
  const names = Array.from({ length: FEW_NAMES + 1 }, (_, index) => `job ${index + 5}`);
  assert.is((await resolveSnitch(client, 'job 7')).name, 'job 7');
  assert.is(read(), 1);
  assert.is((await resolveSnitch(client, TOKEN)).name, 'job 0');
  assert.is(read(), 1);
  const namesOf = async (given: string[]) => (await resolveSnitches(client, given)).map(({ name }) => name);
  assert.equal(await namesOf(['job 3', TOKEN, 'job 3']), ['job 3', 'job 0']);
  assert.is(read(), 3);
  assert.equal(await namesOf(names), names);
  assert.is(read(), COUNT);
});

test('a name that none has is told with those that may be meant', async ({ client }) => {
  const error = await rejection(resolveSnitch(client, 'jbo 7'));
  assert.instance(error, NotFoundError);
  assert.match((error as Error).message, 'did you mean "job 7"');
});

test('an address that was pasted reads one, and one of no snitch none', async ({ client, read }) => {
  assert.is((await resolveSnitch(client, `https://elsewhere.example/${TOKEN}`)).name, 'job 0');
  assert.is(read(), 1);
  const error = await rejection(resolveSnitch(client, 'https://elsewhere.example/unknown'));
  assert.match((error as Error).message, 'no snitch has the check-in address');
  assert.is(read(), 0);
});

test('a check-in by name reads one, and of a name that none has none', async ({ env, read }) => {
  // The check-in address that the test server gives leads nowhere, so the snitch is only looked up.
  await runSnitchWith('', ['check-in', 'job 9', '--timeout', '1s'], env);
  assert.is(read(), 1);
  const { stderr } = await runSnitchWith('', ['check-in', 'job nine', '--timeout', '1s'], env);
  assert.match(stderr, 'no snitch has the token or the name "job nine"');
  assert.is(read(), 0);
});

test('a new snitch reads only those of its name to tell of its twins', async ({ env, read }) => {
  const { stderr } = await runSnitchWith('', ['create', 'job 9', '--interval', 'daily'], env);
  assert.match(stderr, 'another snitch has the name "job 9"');
  assert.ok(read() <= 2);
});

test('completion offers the first of very many snitches and their tags', async () => {
  await using server = await fakeServer((_request, response) => {
    const one = (index: number) =>
      `{"token":"t${index}","name":"job-${index}",${REST.replace('[]', '["web"]')}}`;
    // This list has no end.
    response.write(`[${Array.from({ length: 20_000 }, (_, index) => one(index)).join(',')},`);
  });
  const env = { SNITCH_URL: server.url, SNITCH_API_KEY: 'k' };
  const names = await runSnitchWith('', ['__complete', 'show', 'job-12'], env);
  assert.match(names.stdout, /^job-1234\b/m);
  const tags = await runSnitchWith('', ['__complete', 'list', '--tag', ''], env);
  assert.match(tags.stdout, /^web\b/m);
});

test('of very many snitches only the first are looked through for a similar name', async () => {
  const one = (index: number) => `{"token":"t${index}","name":"job ${index}",${REST}}`;
  const closed: Promise<unknown>[] = [];
  await using server = await fakeServer((request, response) => {
    if (request.url !== '/v1/snitches') return void response.end('[]');
    closed.push(once(response, 'close'));
    // This list has no end.
    response.write(`[${Array.from({ length: 20_000 }, (_, index) => one(index)).join(',')},`);
  });
  const client = createClient({ url: server.url, apiKey: 'k' });
  const near = await rejection(resolveSnitch(client, 'jbo 9999'));
  assert.match((near as Error).message, '"job 9999"');
  const far = await rejection(resolveSnitch(client, 'jbo 19999'));
  assert.not.match((far as Error).message, '"job 19999"');
  assert.is(closed.length, 2);
  await Promise.all(closed);
});

test.run();
