/** The clock of the dashboard. Alone in its process: it sets the clock. */
import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import type { ReadStream, WriteStream } from 'node:tty';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createClient } from '../../src/api/client.ts';
import { startApp } from '../../src/tui/app.tsx';
import { UNICODE } from '../../src/tui/drawing/glyphs.ts';
import { startFakeServer } from '../cli/fake-server.ts';
import { until } from '../until.ts';
import { HOUR, MINUTE } from './samples.ts';

const test = suite('the clock of the dashboard');

/** A terminal that nobody looks at. */
function terminal() {
  const stdin = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: () => stdin,
    ref: () => stdin,
    unref: () => stdin,
  });
  const write = (_text: string, done?: unknown) => {
    if (typeof done === 'function') done();
    return true;
  };
  const stdout = Object.assign(new EventEmitter(), {
    isTTY: true,
    columns: 80,
    rows: 24,
    writable: true,
    write,
  });
  return { stdin: stdin as unknown as ReadStream, stdout: stdout as unknown as WriteStream };
}

test("is the server's again soon after that of this host was set", async () => {
  const real = Date.now;
  let ahead = 0;
  Date.now = () => real() + ahead;
  await using server = await startFakeServer(({ url }) => ({
    status: url?.startsWith('/v1/snitches') || url?.startsWith('/v1/silences') ? 200 : 404,
    headers: { date: new Date(real()).toUTCString(), snitch: '1' },
    body: [],
  }));
  const app = startApp({
    connect: () => createClient({ url: server.url, apiKey: 'snk_key', timeoutMs: 5_000 }),
    server: server.url,
    readonly: false,
    ...terminal(),
    look: { glyphs: UNICODE, styling: 'none' },
    clock: () => Date.now(),
    env: {},
    program: '/usr/bin/snitch',
  });
  const isRight = () => Math.abs(app.store.get().now - real()) < MINUTE;
  try {
    await until(() => app.store.get().heardAt !== null, 'the list');
    ahead = -2 * HOUR;
    await until(() => !isRight(), 'the next tick');
    // This reads everything again, as the dashboard itself does now and then.
    app.store.dispatch({ kind: 'key', key: 'r' });
    await until(isRight, 'the time of the server', 10_000);
    assert.ok(isRight());
  } finally {
    Date.now = real;
    app.close();
  }
});

test.run();
