/** Who gets `/metrics` without a key: this host alone, and nobody through it. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { refused } from './expect.ts';
import { type Fixture, type FixtureOptions, startFixture } from './fixture.ts';
import { exchangeOne } from './raw.ts';

const test = suite('the door of /metrics');

async function withFixture(options: FixtureOptions, use: (fixture: Fixture) => Promise<void>): Promise<void> {
  const fixture = await startFixture(options);
  try {
    await use(fixture);
  } finally {
    await fixture.close();
  }
}

async function served({ nobody }: Fixture, headers: Record<string, string> = {}): Promise<void> {
  const answer = await nobody.ask('GET', '/metrics', { headers });
  assert.is(answer.status, 200, JSON.stringify(headers));
  assert.match(answer.text, 'snitch_check_ins_total');
}

async function closed({ nobody }: Fixture, headers: Record<string, string>): Promise<void> {
  refused(
    await nobody.ask('GET', '/metrics', { headers }),
    404,
    'resource_not_found',
    JSON.stringify(headers),
  );
}

const LOOPBACK = [
  '127.0.0.1',
  '127.3.2.1:7676',
  'localhost',
  'LOCALHOST:7676',
  'localhost.',
  'a.localhost',
  '[::1]:7676',
];
const OWN = ['snitch.example.com', 'Snitch.Example.com:443'];
const REBOUND = [
  'evil.example',
  'evil.example:7676',
  '192.0.2.1',
  'localhost.evil.example',
  'notlocalhost',
  'a b',
];
const FORWARDING = [
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-forwarded',
  'forwarded',
  'via',
  'x-real-ip',
  'x-client-ip',
  'true-client-ip',
  'cf-connecting-ip',
];

test('a local name or that of base_url is asked for; a name that was made to lead here is not enough', () =>
  withFixture({}, async (fixture) => {
    for (const host of [...LOOPBACK, ...OWN]) await served(fixture, { host });
    for (const host of REBOUND) await closed(fixture, { host });
  }));

test('whoever says that it asks for somebody else is not this host, trusted or not', async () => {
  for (const trustedProxies of [[], ['127.0.0.1']]) {
    await withFixture({ trustedProxies }, async (fixture) => {
      for (const name of FORWARDING) {
        for (const value of ['127.0.0.1', '192.0.2.1', 'unknown', '', 'for=_hidden', ',,']) {
          await closed(fixture, { [name]: value });
        }
      }
      await served(fixture);
    });
  }
});

test('a proxy that says nothing of whom it asks for opens nothing by the name that it serves', () =>
  withFixture({ trustedProxies: ['127.0.0.1'] }, async (fixture) => {
    for (const host of OWN) await closed(fixture, { host });
    for (const host of LOOPBACK) await served(fixture, { host });
  }));

test('a proxy that says nothing at all speaks an older HTTP than who asks for itself', () =>
  withFixture({}, async ({ port }) => {
    const ask = async (version: string, host: string) => {
      const asked = `GET /metrics HTTP/${version}\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
      return (await exchangeOne(port, asked)).status;
    };
    assert.is(await ask('1.0', `127.0.0.1:${port}`), 404);
    assert.is(await ask('1.1', ''), 404);
    assert.is(await ask('1.1', `127.0.0.1:${port}`), 200);
  }));

test('where it is public, it is served to everybody', () =>
  withFixture({ metricsArePublic: true }, async (fixture) => {
    for (const host of [...LOOPBACK, ...OWN, 'evil.example']) await served(fixture, { host });
    await served(fixture, { 'x-forwarded-for': '192.0.2.1' });
  }));

test.run();
