/** A request that is read again because of its target has as much time as any other. */
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createPathReader } from '../../src/http/check-in/target.ts';
import { refuseConnection } from '../../src/http/endpoint/errors.ts';
import { readAgain } from '../../src/http/raw-target.ts';
import { until } from '../until.ts';
import { exchange, parseAnswer } from './raw.ts';

const test = suite('a target that is read again');

/** A head has a tenth of a second, a whole request two seconds. */
const LIMITS = { headersTimeout: 100, requestTimeout: 2_000, connectionsCheckingInterval: 20 };

async function withServer(use: (port: number, open: ReadonlySet<unknown>) => Promise<void>): Promise<void> {
  const server = createServer(LIMITS, (request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    // As from a disk that is slow.
    request.on('end', async () => {
      await sleep(300);
      response.end(`${decodeURIComponent(request.url ?? '')} ${body}`);
    });
    request.on('error', () => {});
  });
  const readPath = createPathReader('/c', () => []);
  const open = new Set();
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  server.on('clientError', (error, socket) => {
    if (!readAgain(error as never, socket as never, server, readPath))
      refuseConnection(error as never, socket as never);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  try {
    await use((server.address() as AddressInfo).port, open);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test('its body, and its answer, may come long after a head would have been too late', async () => {
  await withServer(async (port) => {
    for (const message of ['o', 'ö']) {
      const head = `POST /c/token?m=${message} HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n`;
      const answer = parseAnswer(await exchange(port, [`${head}hello`, 'world'], 150, 500));
      assert.equal([answer.status, answer.body.includes(`m=${message} helloworld`)], [200, true], message);
    }
  });
});

test('a head of which the rest never comes is still refused', async () => {
  await withServer(async (port) => {
    const head = 'GET /c/token?m=ö HTTP/1.1\r\nHost: x\r\n';
    assert.is(parseAnswer(await exchange(port, [head])).status, 408);
  });
});

test('its connection is closed although the client never closes its own side', async () => {
  await withServer(async (port, open) => {
    const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    try {
      const heard = new Promise((resolve) => void client.once('end', resolve).resume());
      client.write('GET /c/token?m=ö HTTP/1.1\r\nHost: x\r\n\r\n');
      await heard;
      await until(() => open.size === 0, 'nothing is left open', 5_000);
    } finally {
      client.destroy();
    }
  });
});

test.run();
