/** Which address a check-in came from: the peer's own, or what a trusted proxy says of it. */
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireCheckIn } from '../../src/api/wire.ts';
import { createSourceReader } from '../../src/http/source.ts';
import { ownDirectory } from '../data-directory.ts';
import { ok } from './expect.ts';
import { newSnitch, startFixture } from './fixture.ts';

const test = suite('source of a check-in');

/** The source that is noted for a check-in through `trustedProxies` with this `X-Forwarded-For`. */
async function sources(trustedProxies: string[], headers: (string | string[])[]): Promise<(string | null)[]> {
  await using context = await startFixture({ trustedProxies });
  const { href, token } = await newSnitch(context.acme);
  const found: (string | null)[] = [];
  for (const header of headers) {
    context.clock.now += 1;
    await context.nobody.ask('GET', `/c/${token}`, { headers: { 'x-forwarded-for': header } });
    const [last] = ok<WireCheckIn[]>(await context.acme.read.get(`${href}/check_ins?limit=1`));
    found.push(last?.source ?? null);
  }
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
    ['0x7f.1', '127.0.0.1'],
    ['fe80::1%br-lan.7', 'fe80::1'],
    ['::%::1', '::'],
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

test('an address is noted in the one form that all who write it otherwise mean', async () => {
  const written = [
    '::ffff:c000:201',
    '::FFFF:192.0.2.1',
    '2001:DB8:0:0::1',
    '192.0.2.1:49152',
    '[2001:db8::1]:443',
  ];
  const found = await sources(['127.0.0.1'], written);
  assert.equal(found, ['192.0.2.1', '192.0.2.1', '2001:db8::1', '192.0.2.1', '2001:db8::1']);
  assert.equal(await sources(['::ffff:127.0.0.1'], ['192.0.2.1']), ['192.0.2.1']);
});

/** What is read from a request that comes over a socket file. */
async function sourceOverSocket(trustedProxies: string[], forwarded?: string): Promise<string> {
  using directory = ownDirectory();
  const sourceOf = createSourceReader(trustedProxies);
  await using server = createServer((incoming, answer) => answer.end(String(sourceOf(incoming))));
  const socketPath = join(directory.path, 'snitch.sock');
  await once(server.listen(socketPath), 'listening');
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  const [answer] = await once(request({ socketPath, headers }).end(), 'response');
  return await text(answer);
}

test('a proxy that comes over a socket file is on this host, and trusted where this host is', async () => {
  for (const loopback of ['127.0.0.1', '127.0.0.0/8', '::1']) {
    assert.is(await sourceOverSocket([loopback], '192.0.2.1'), '192.0.2.1');
  }
  assert.is(await sourceOverSocket(['127.0.0.1']), 'null');
  assert.is(await sourceOverSocket([], '192.0.2.1'), 'null');
  assert.is(await sourceOverSocket(['10.0.0.0/8'], '192.0.2.1'), 'null');
});

test('the interface that a link-local peer came by is no part of its address', () => {
  const sourceOf = createSourceReader(['fe80::/64']);
  const headers = { 'x-forwarded-for': '192.0.2.1' };
  const from = (remoteAddress: string) => sourceOf({ socket: { remoteAddress }, headers } as never);
  assert.is(from('fe80::1%br-lan.7'), '192.0.2.1');
  assert.is(from('fe80:0:0:1::1%br-lan.7'), 'fe80:0:0:1::1');
});

test.run();
