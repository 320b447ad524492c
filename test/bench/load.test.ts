/** The load of the benches, against servers that record their requests. Not with --fast. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { load, pace, writeTokens } from '../../bench/load/wrk.ts';
import { Workplace } from '../../bench/workplace.ts';
import { unless, without } from '../skipped.ts';

const test = suite<{ workplace: Workplace }>('the load of the benches');

test.before.each((context) => {
  context.workplace = new Workplace(tmpdir());
});
test.after.each(({ workplace }) => workplace.end());

async function serving<T>(answer: RequestListener, work: (url: string) => Promise<T>): Promise<T> {
  const server = createServer(answer);
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  try {
    return await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

const TOKENS = Array.from({ length: 500 }, (_, index) => `token${index}`.padEnd(26, 'x'));
const CONNECTIONS = 4;

function partOf(workplace: Workplace, from: number, count: number) {
  const tokens = writeTokens(workplace.path('tokens'), TOKENS);
  return { tokens, connections: CONNECTIONS, seconds: 3, most: 10_000, from, count };
}

const needed = unless(without('wrk', '-v'), test);

needed('a part of the tokens is asked for once, and then it ends', async ({ workplace }) => {
  const asked = new Map<string, number>();
  await serving(
    ({ url = '' }, response) => {
      asked.set(url, (asked.get(url) ?? 0) + 1);
      response.writeHead(202).end();
    },
    async (url) => {
      const part = partOf(workplace, 100, 300);
      const { rate, requests } = await load(workplace, { ...part, url, once: true });
      assert.ok(requests >= 300 - CONNECTIONS && requests <= 300 + CONNECTIONS, `${requests} requests`);
      assert.ok(rate > (1.2 * requests) / part.seconds, 'only the time until it was through counts');
    },
  );
  const expected = TOKENS.slice(100, 400).map((token) => `/c/${token}`);
  assert.equal([...asked.keys()].sort(), expected.sort());
  // Requests after the last token may have started over with the first.
  assert.ok([...asked.values()].filter((times) => times > 1).length <= CONNECTIONS);
});

needed('tokens are asked for again until the time is over', async ({ workplace }) => {
  const asked: string[] = [];
  await serving(
    ({ url = '' }, response) => {
      asked.push(url);
      // At full speed it would make thousands of requests.
      setTimeout(() => response.end(), 20);
    },
    (url) => load(workplace, { ...partOf(workplace, 0, 5), seconds: 1, url, once: false }),
  );
  assert.is(new Set(asked).size, 5);
  assert.ok(asked.length > 10);
});

needed('or until there were so many requests', async ({ workplace }) => {
  let asked = 0;
  await serving(
    (_, response) => {
      asked += 1;
      response.end();
    },
    async (url) => {
      const part = partOf(workplace, 0, 5);
      const { rate, requests } = await load(workplace, { ...part, most: 60, url, once: false });
      assert.ok(requests >= 60 - CONNECTIONS && requests <= 60 + CONNECTIONS, `${requests} requests`);
      assert.ok(rate > (1.2 * requests) / part.seconds, 'only the time until then counts');
    },
  );
  assert.ok(asked <= 60 + CONNECTIONS, `${asked} were asked for`);
});

needed('an answer that is no success fails the measurement', async ({ workplace }) => {
  await serving(
    (_, response) => response.writeHead(404).end(),
    async (url) => {
      const wrong = async (work: Promise<unknown>) =>
        assert.match(String(await work.catch(String)), /refused|not answered/);
      await wrong(load(workplace, { ...partOf(workplace, 0, 5), url, once: true }));
      const beside = pace(workplace, { url, paths: ['/'], rate: 100 });
      await sleep(500);
      await wrong(beside.end());
    },
  );
});

needed('a server that stands still is late for all that was to be asked meanwhile', async ({ workplace }) => {
  const answered = await serving(
    (_, response) => response.end(),
    async (url) => {
      const beside = pace(workplace, { url, paths: ['/a', '/b'], rate: 200 });
      await sleep(500);
      const until = performance.now() + 1_000;
      while (performance.now() < until);
      await sleep(500);
      return beside.end();
    },
  );
  const late = answered.filter(({ took }) => took > 200);
  // Two hundred requests were planned; if they were not all counted, there would be at most one late answer per connection.
  assert.ok(late.length > 100, `${late.length} of ${answered.length} were late`);
  assert.ok(late.some(({ took }) => took > 900));
});

test.run();
