/** A real server on a real store in its own directory, with a clock that tests move. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import * as assert from 'uvu/assert';
import type { WireSnitch } from '../../src/api/wire.ts';
import { signedLinks } from '../../src/daemon/alarm-links.ts';
import { urlRefusal } from '../../src/delivery/http/address-guard.ts';
import { RateLimiter } from '../../src/http/endpoint/rate-limit.ts';
import type { RouteContext } from '../../src/http/endpoint/route-context.ts';
import { Metrics } from '../../src/http/metrics/metrics.ts';
import { newCaseSettings } from '../../src/http/resources/case-schema.ts';
import { buildServer } from '../../src/http/server.ts';
import { createProxyTest, createSourceReader } from '../../src/http/source.ts';
import type { Store } from '../store/acting.ts';
import { openEmptyStore, replaced } from '../store/acting.ts';
import { Client } from './client.ts';
import { ok } from './expect.ts';

/** A Wednesday, in the middle of an hour. */
export const START = Date.UTC(2026, 10, 18, 10, 20, 30, 123);
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;

const BASE_URL = 'https://snitch.example.com';
/** What the server signs the links of alarms with. */
export const LINK_KEY = 'a key of the tests';

export const CHECK_IN_BASE = 'https://in.example.com/c';

export interface Clock {
  now: number;
}

/** A case with a key of each scope. */
export interface Team {
  id: string;
  write: Client;
  read: Client;
}

export interface Fixture extends AsyncDisposable {
  port: number;
  clock: Clock;
  store: Store;
  acme: Team;
  rival: Team;
  admin: Client;
  /** Sends no key. */
  nobody: Client;
  /** What the server says that keeps it from being ready. */
  problems: string[];
  /** What it does that takes a while. */
  progress: string[];
  /** Lines that the server logged at the level `warn` and above. */
  logged: LogLine[];
  /** Every path below `/v1` that is served. */
  routes: Set<string>;
  close(): Promise<void>;
}

export interface LogLine {
  level: number;
  msg: string;
}

export interface FixtureOptions {
  limiter?: RateLimiter;
  /** Puts something between the server and its store. */
  through?: (store: Store) => Store;
  checkInPath?: string;
  metricsArePublic?: boolean;
  checkMail?: RouteContext['checkMail'];
  sendsEmail?: boolean;
  commands?: readonly string[];
  allowPrivate?: boolean;
  isStarting?: boolean;
  trustedProxies?: readonly string[];
  maxConnections?: number;
}

/** How long a server that is closed waits for its clients, in milliseconds. */
const PATIENCE = 2_000;

const OFF = { perMinute: 0, burst: 0, blockS: 0 };

export async function startFixture(options: FixtureOptions = {}): Promise<Fixture> {
  const { limiter = new RateLimiter(OFF), through = (store) => store, checkInPath = '/c' } = options;
  const dataDir = mkdtempSync(join(tmpdir(), 'snitch-http-'));
  const clock: Clock = { now: START };
  const store = openEmptyStore({ dataDir, clock: () => clock.now });
  const logged: LogLine[] = [];
  const problems: string[] = [];
  const progress: string[] = [];
  const app = buildServer({
    store: replaced(store, through(store)),
    clock: () => clock.now,
    limiter,
    links: signedLinks(() => LINK_KEY),
    addresses: () => ({ baseUrl: BASE_URL, checkInBase: CHECK_IN_BASE }),
    readiness: () => ({ problems, progress, isStarting: options.isStarting ?? false }),
    metrics: new Metrics(),
    metricsArePublic: () => options.metricsArePublic ?? false,
    checkMail: options.checkMail ?? (async () => null),
    sendsEmail: () => options.sendsEmail ?? true,
    commands: () => options.commands ?? [],
    refusalOf: (url) => urlRefusal(url, options.allowPrivate ?? true),
    sourceOf: createSourceReader(options.trustedProxies ?? []),
    isProxied: createProxyTest(options.trustedProxies ?? []),
    checkInPath,
    ...(options.maxConnections === undefined ? {} : { maxConnections: options.maxConnections }),
    logger: pino({ level: 'warn' }, { write: (line) => void logged.push(JSON.parse(line) as LogLine) }),
  });
  const routes = new Set<string>();
  app.addHook('onRoute', ({ url }) => {
    if (url.startsWith('/v1/')) routes.add(url);
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const address = app.server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const clients: Client[] = [];
  let closed = false;
  const client = (key: string | null) => {
    const made = new Client(port, key);
    clients.push(made);
    return made;
  };
  const keyOf = async (caseId: string | null, scope: 'read' | 'write' | 'admin') =>
    client((await store.createApiKey({ caseId, name: `${scope} key`, scope }, clock.now)).key);
  const close = async () => {
    if (closed) return;
    closed = true;
    for (const one of clients) one.close();
    // A test that failed may hold an answer that it does not read to its end.
    const late = setTimeout(() => app.server.closeAllConnections(), PATIENCE);
    await app.close();
    clearTimeout(late);
    await store.close();
    rmSync(dataDir, { recursive: true });
    assert.equal(errorsIn(logged), [], 'the server logged no error');
  };
  const team = async (name: string): Promise<Team> => {
    const { id } = await store.createCase(newCaseSettings(name), clock.now);
    return { id, write: await keyOf(id, 'write'), read: await keyOf(id, 'read') };
  };
  return {
    port,
    clock,
    store,
    acme: await team('Acme'),
    rival: await team('Rival'),
    admin: await keyOf(null, 'admin'),
    nobody: client(null),
    problems,
    progress,
    logged,
    routes,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Gives a server to `use`, and closes it whatever happens: one that stays open would keep the test file from ending. */
export async function withFixture(
  options: FixtureOptions,
  use: (fixture: Fixture) => Promise<void>,
): Promise<void> {
  const fixture = await startFixture(options);
  try {
    await use(fixture);
  } finally {
    await fixture.close();
  }
}

/** What it logged as its own failure. A bad request is not one. */
function errorsIn(logged: readonly LogLine[]): LogLine[] {
  return logged.filter(({ level }) => level >= 50);
}

/** Before and after each test of a suite. */
export const hooks = {
  async start(context: Fixture): Promise<void> {
    Object.assign(context, await startFixture());
  },
  async close(context: Fixture): Promise<void> {
    await context.close();
  },
};

/** Creates a snitch: an hourly one, unless `fields` say otherwise. */
export async function newSnitch({ write }: Team, fields: Record<string, unknown> = {}): Promise<WireSnitch> {
  return ok(await write.post('/v1/snitches', { name: 'nightly-backup', interval: 'hourly', ...fields }));
}

/** The snitch as GET shows it now. */
export async function snitchNow({ write }: Team, token: string): Promise<WireSnitch> {
  return ok(await write.get(`/v1/snitches/${token}`));
}

export async function checkIn({ nobody }: Fixture, token: string, query = ''): Promise<void> {
  const answer = await nobody.get(`/c/${token}${query}`);
  const isOk = /^\/\w|[?&]rid=/.test(query);
  assert.is(answer.status, isOk ? 200 : 202, answer.text);
}

/** One pass of everything that the sweeper does, in its order. */
export async function wholePass({ store, clock: { now } }: Fixture): Promise<void> {
  while (await store.rescheduleSlice(now));
  while (await store.relieveSlice(now));
  for (;;) {
    const { more, failures } = await store.endSilencesSlice(now);
    assert.equal(failures, []);
    if (!more) break;
  }
  let after = null;
  do {
    const { next, failures } = await store.applyDue(now, after, 1_000);
    assert.equal(failures, []);
    after = next;
  } while (after);
  await store.moveLooks(now + 10 * MINUTE, null);
}

/** Lets the sweep pass at the present time. */
export async function sweep({ store, clock }: Fixture): Promise<void> {
  const { failures } = await store.applyDue(clock.now, null, 1_000);
  assert.equal(failures, []);
}
