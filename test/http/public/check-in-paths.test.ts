/** Servers whose check-in addresses begin like those of pages: lines in crontabs go on working, and so do the pages. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireSnitch } from '../../../src/api/wire.ts';
import { ok } from '../expect.ts';
import { type Fixture, newSnitch, START, withFixture } from '../fixture.ts';
import { put } from './status-page/page.ts';

const test = suite('check-in paths of pages');

async function statusOf({ acme }: Fixture, href: string): Promise<string> {
  return ok<WireSnitch>(await acme.read.get(href)).status;
}

/** Imports a snitch with the token that another service gave it, which may look like the name of a page. */
async function imported({ store, acme }: Fixture, token: string): Promise<string> {
  const fields = { name: token, token, notes: '', tags: [], alertEmail: [] };
  const snitch = { ...fields, interval: 'daily', alertType: 'basic' } as const;
  await store.importSnitches(
    acme.id,
    { imported: [{ ...snitch, tags: [], alertEmail: [] }], owner: null },
    START,
  );
  return token;
}

for (const checkInPath of ['/s', '/a']) {
  test(`check-in addresses that begin with ${checkInPath}/ go on working`, () =>
    withFixture({ checkInPath }, async (context) => {
      const { nobody, acme } = context;
      const { token, href } = await newSnitch(acme);
      const at = `${checkInPath}/${token}`;
      assert.is((await nobody.get(at)).status, 202);
      assert.is(await statusOf(context, href), 'healthy');
      assert.is((await nobody.post(`${at}/fail`)).status, 200);
      assert.is(await statusOf(context, href), 'errored');
      for (const ending of ['?m=fine', '/start', '/0', '/', '/log']) {
        const answer = await nobody.get(`${at}${ending}`);
        assert.match(answer.text, /^(Got it, thanks!|OK)/, ending);
      }
      assert.is((await nobody.ask('PUT', at)).status, 202);
      assert.is((await nobody.ask('HEAD', at)).status, 202);
      assert.is((await nobody.get(`${checkInPath}/${await imported(context, 'old-token-7')}`)).status, 202);
      assert.is((await nobody.get(`${checkInPath}/${await imported(context, 'alert_old')}`)).status, 202);
      const key = { name: 'by name', scope: 'provision' };
      const made = ok<{ key: string }>(await acme.write.post('/v1/api_keys', key));
      const named = `${checkInPath}/${made.key}/nightly-backup?s=3`;
      assert.match((await nobody.get(named)).text, /^(Got it, thanks!|OK)/, named);
      assert.is((await nobody.get(`${checkInPath}/Unknown7`)).text, 'There is no snitch with this token.\n');
    }));
}

test('the status page is there beside check-in addresses that begin with /s/', () =>
  withFixture({ checkInPath: '/s' }, async (context) => {
    const { acme, nobody } = context;
    await newSnitch(acme, { tags: ['public'] });
    await put(context, { password: 'correct horse' });
    assert.match((await nobody.get('/s/acme')).text, /This page has a password/);
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const form = { headers, body: 'password=correct+horse' };
    assert.is((await nobody.ask('POST', '/s/acme', form)).status, 303);
    await put(context, { password: null });
    for (const path of ['/s/acme', '/s/acme.json', '/s/acme/feed.xml', '/s/acme?refresh=off'])
      assert.is((await nobody.get(path)).status, 200, path);
    assert.is((await nobody.get('/s/acme/')).status, 308);
    assert.is((await nobody.ask('DELETE', '/s/acme')).status, 405);
    assert.match((await nobody.get('/s/elsewhere')).text, /There is no page at this address/);
    await imported(context, 'acme');
    assert.is((await nobody.get('/s/acme')).status, 202, 'a job goes before a page');
  }));

test.run();
