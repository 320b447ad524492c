import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { checkInElsewhere } from '../../src/daemon/outbound-check-in.ts';
import { Watchdog } from '../../src/daemon/watchdog.ts';
import { ending } from '../closing.ts';
import { until } from '../until.ts';

interface Context {
  log: { msg: string; reason?: string }[];
  watchdog: Watchdog;
  problems: string[];
  given: number;
}

const test = suite<Context>('the watchdog');

test.before.each((context) => {
  context.log = [];
  context.problems = [];
  context.given = 0;
  context.watchdog = new Watchdog(pino({}, { write: (line) => void context.log.push(JSON.parse(line)) }));
});
test.after.each(({ watchdog }) => watchdog.stop());

const turns = (count: number) => new Promise((resolve) => setTimeout(resolve, count * 10));

function giveSigns(context: Context, give: () => Promise<void> = async () => {}): void {
  const sign = {
    to: 'somebody',
    every: 10,
    problems: () => context.problems,
    give: () => {
      context.given += 1;
      return give();
    },
  };
  context.watchdog.give([sign]);
}

test('gives a sign at once, and again and again', async (context) => {
  giveSigns(context);
  assert.is(context.given, 1);
  await until(() => context.given >= 3);
  assert.equal(context.log, []);
});

test('gives none while there is a problem, says so once, and goes on after it', async (context) => {
  giveSigns(context);
  context.problems = ['no sweep has ended for 31 s', 'another'];
  const before = context.given;
  await turns(10);
  assert.is(context.given, before);
  assert.equal(
    context.log.map(({ msg, reason }) => [msg, reason]),
    [['no sign of life is given', 'no sweep has ended for 31 s']],
  );
  context.problems = [];
  await until(() => context.given > before && context.log.length === 2);
  assert.is(context.log[1]?.msg, 'signs of life are given again');
});

test('a failing sign is reported once, and tried again', async (context) => {
  let works = false;
  giveSigns(context, async () => {
    if (!works) throw new Error('watchdog.url answered with 500');
  });
  await until(() => context.given >= 4);
  assert.is(context.log.length, 1);
  assert.is(context.log[0]?.reason, 'watchdog.url answered with 500');
  works = true;
  await until(() => context.log.length === 2);
});

test('while a sign hangs, no second one is started', async (context) => {
  giveSigns(context, () => new Promise(() => {}));
  await turns(10);
  assert.is(context.given, 1);
});

test('the signs can be replaced', async (context) => {
  giveSigns(context);
  context.watchdog.give([]);
  const before = context.given;
  await turns(5);
  assert.is(context.given, before);
});

test('a check-in elsewhere is a GET, and failures are reported without the address', async () => {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url} ${request.headers['user-agent']}`);
    if (request.url === '/hangs') request.socket.destroy();
    else response.writeHead(request.url === '/c/s3cret' ? 202 : 404).end('x'.repeat(100_000));
  });
  const stop = async () => {
    server.closeAllConnections();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  };
  await using _server = ending(server, stop);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await checkInElsewhere(`${base}/c/s3cret`, 'Snitch/1');
  assert.equal(requests, ['GET /c/s3cret Snitch/1']);
  const failure = (url: string) =>
    checkInElsewhere(url, 'Snitch/1').then(
      () => 'none',
      (error: Error) => error.message,
    );
  assert.is(await failure(`${base}/c/s3cret-and-wrong`), 'watchdog.url answered with 404');
  assert.match(await failure(`${base}/hangs`), /^watchdog\.url cannot be reached: \w+$/);
  await stop();
  assert.is(await failure(`${base}/c/s3cret`), 'watchdog.url cannot be reached: ECONNREFUSED');
  assert.is(
    await failure('http://no-such-host.invalid/c/s3cret'),
    'watchdog.url cannot be reached: ENOTFOUND',
  );
});

test.run();
