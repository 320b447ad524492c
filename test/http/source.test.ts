/** Which address a check-in came from: the peer's own, or what a trusted proxy says of it. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireCheckIn } from '../../src/api/wire.ts';
import { ok } from './expect.ts';
import { newSnitch, startFixture } from './fixture.ts';

const test = suite('source of a check-in');

/** The source that is noted for a check-in through `trustedProxies` with this `X-Forwarded-For`. */
async function sources(trustedProxies: string[], headers: (string | string[])[]): Promise<(string | null)[]> {
  const context = await startFixture({ trustedProxies });
  const { href, token } = await newSnitch(context.acme);
  const found: (string | null)[] = [];
  for (const header of headers) {
    context.clock.now += 1;
    await context.nobody.ask('GET', `/c/${token}`, { headers: { 'x-forwarded-for': header } });
    const [last] = ok<WireCheckIn[]>(await context.acme.read.get(`${href}/check_ins?limit=1`));
    found.push(last?.source ?? null);
  }
  await context.close();
  return found;
}

test('the header means nothing from anybody who is no trusted proxy', async () => {
  assert.equal(await sources([], ['192.0.2.1']), ['127.0.0.1']);
  assert.equal(await sources(['10.0.0.0/8', '::1'], ['192.0.2.1']), ['127.0.0.1']);
});

test('behind trusted proxies it is the last address that is none of them', async () => {
  const expected: [string | string[], string][] = [
    ['192.0.2.1', '192.0.2.1'],
    ['203.0.113.9, 192.0.2.1', '192.0.2.1'],
    ['203.0.113.9, 192.0.2.1, 10.1.2.3', '192.0.2.1'],
    [['203.0.113.9', '192.0.2.1, 10.1.2.3'], '192.0.2.1'],
    ['2001:db8::1', '2001:db8::1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['10.1.1.1, 10.1.2.3', '10.1.1.1'],
    ['192.0.2.1, unknown', '127.0.0.1'],
    ['192.0.2.1, junk, 10.1.2.3', '10.1.2.3'],
    ['', '127.0.0.1'],
    [',,', '127.0.0.1'],
    ['<script>', '127.0.0.1'],
  ];
  const found = await sources(
    ['127.0.0.1', '10.0.0.0/8'],
    expected.map(([header]) => header),
  );
  assert.equal(
    found,
    expected.map(([, source]) => source),
  );
});

test.run();
