/** How much a command reads to find a snitch by its name: a server may have a million of them. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Client, createClient } from '../../../src/api/client.ts';
import { FEW_NAMES, resolveSnitch, resolveSnitches } from '../../../src/cli/command/resolve.ts';
import { NotFoundError } from '../../../src/cli/failure/failure.ts';
import type { ImportedSnitch } from '../../../src/store/ownership.ts';
import { type Fixture, startFixture } from '../../http/fixture.ts';
import { rejection } from '../../store/fixture.ts';
import { runSnitchWith } from '../piped.ts';

const COUNT = 120;
const TOKEN = 'from-another-service';

interface Context extends Fixture {
  client: Client;
  env: Record<string, string>;
  /** Snitches that were read for lists since this was asked last. */
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

test('a check-in by name reads one, and of a name that none has none', async ({ env, read }) => {
  // The address that the server of the tests gives leads nowhere, so that it is only looked up.
  await runSnitchWith('', ['check-in', 'job 9', '--timeout', '1s'], env);
  assert.is(read(), 1);
  const { stderr } = await runSnitchWith('', ['check-in', 'job nine', '--timeout', '1s'], env);
  assert.match(stderr, 'no snitch has the token or the name "job nine"');
  assert.is(read(), 0);
});

test.run();
