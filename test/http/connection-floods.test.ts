import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { connectionLimit, sourceOf } from '../../src/http/connections.ts';
import { informed, open as openStream } from './event-stream.ts';
import { type Fixture, newSnitch, startFixture } from './fixture.ts';

const LIMIT = 20;

interface Context extends Fixture {
  sockets: Socket[];
}

const test = suite<Context>('connection floods');

test.before.each(async (context) => {
  Object.assign(context, await startFixture({ maxConnections: LIMIT }), { sockets: [] });
});

test.after.each(async (context) => {
  for (const socket of context.sockets) socket.destroy();
  await context.close();
});

/** A connection that comes from `address`, one of the many that loopback has. */
async function open({ port, sockets }: Context, address: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: address });
  socket.on('error', () => undefined);
  sockets.push(socket);
  await once(socket, 'connect');
  return socket;
}

/** The status line that a request on `socket` is answered with. */
async function ask(socket: Socket): Promise<string> {
  if (socket.closed) return 'closed';
  socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
  const [chunk] = (await Promise.race([once(socket, 'data'), once(socket, 'close')])) as [Buffer | boolean];
  return Buffer.isBuffer(chunk) ? (chunk.toString().split('\r\n', 1)[0] ?? '') : 'closed';
}

test('an address that takes all connections locks nobody else out', async (context) => {
  const early = await open(context, '127.0.0.2');
  assert.is(await ask(early), 'HTTP/1.1 200 OK');
  const flood: Socket[] = [];
  for (let count = 0; count < 3 * LIMIT; count += 1) flood.push(await open(context, '127.0.0.66'));
  assert.is(await ask(early), 'HTTP/1.1 200 OK', 'a connection from before it');
  for (let count = 0; count < LIMIT / 4; count += 1) {
    assert.is(await ask(await open(context, '127.0.0.3')), 'HTTP/1.1 200 OK', 'a connection during it');
  }
  await sleep(50);
  assert.ok(flood.filter((socket) => !socket.closed).length <= LIMIT);
});

test('the flooding address itself, which may be a proxy, still gets new connections', async (context) => {
  for (let count = 0; count < 2 * LIMIT; count += 1) {
    assert.is(await ask(await open(context, '127.0.0.66')), 'HTTP/1.1 200 OK');
  }
});

/** One connection from each of so many addresses of 127.0.0.0/8. */
async function floodFromMany(
  context: Context,
  count: number,
  use: (socket: Socket) => unknown,
): Promise<Socket[]> {
  const flood: Socket[] = [];
  for (let index = 0; index < count; index += 1) {
    const socket = await open(context, `127.1.${index >> 8}.${index & 255 || 1}`);
    await use(socket);
    flood.push(socket);
  }
  await sleep(50);
  return flood;
}

test('those that never ask for anything go first, however many addresses they come from', async (context) => {
  const early = await open(context, '127.0.0.2');
  assert.is(await ask(early), 'HTTP/1.1 200 OK');
  const flood = await floodFromMany(context, 700, () => undefined);
  assert.is(await ask(early), 'HTTP/1.1 200 OK');
  assert.ok(flood.filter((socket) => !socket.closed).length < LIMIT);
  assert.is(await ask(await open(context, '127.0.0.3')), 'HTTP/1.1 200 OK');
});

test('half a request is none', async (context) => {
  const early = await open(context, '127.0.0.2');
  assert.is(await ask(early), 'HTTP/1.1 200 OK');
  await floodFromMany(context, 3 * LIMIT, (socket) => socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nX'));
  assert.is(await ask(early), 'HTTP/1.1 200 OK');
});

test('a flood of connections that ask keeps no newcomer from asking, and ends no stream', async (context) => {
  const stream = await openStream(context.acme.read);
  await stream.next();
  await floodFromMany(context, 3 * LIMIT, async (socket) => assert.is(await ask(socket), 'HTTP/1.1 200 OK'));
  const newcomer = await open(context, '127.0.0.3');
  for (let count = 0; count < 2; count += 1) await open(context, '127.0.0.4');
  assert.is(await ask(newcomer), 'HTTP/1.1 200 OK');
  const { token } = await newSnitch(context.acme);
  await informed(stream);
  assert.match(stream.text, token);
});

test('what one client has without effort is one source', () => {
  for (const address of ['127.0.0.1', '127.255.1.2', '::1', '::ffff:127.0.0.9', undefined]) {
    assert.is(sourceOf(address), 'loopback', address);
  }
  assert.is(sourceOf('2001:db8:0:1::1'), sourceOf('2001:db8:0:1:ffff::2'));
  assert.is.not(sourceOf('2001:db8:0:1::1'), sourceOf('2001:db8:0:2::1'));
  assert.is(sourceOf('::ffff:192.0.2.1'), sourceOf('192.0.2.1'));
  assert.is.not(sourceOf('192.0.2.1'), sourceOf('192.0.2.2'));
  assert.is(sourceOf('fe80::1%eth0'), sourceOf('fe80::2%eth0'));
});

test('connections that ended count no more', async (context) => {
  const kept = await open(context, '127.0.0.2');
  assert.is(await ask(kept), 'HTTP/1.1 200 OK');
  for (let count = 0; count < 3 * LIMIT; count += 1) {
    const brief = await open(context, '127.0.0.2');
    brief.destroy();
    await once(brief, 'close');
    await sleep(2);
  }
  assert.is(await ask(kept), 'HTTP/1.1 200 OK');
});

test('descriptors are left for everything else', () => {
  const limits = (soft: number) =>
    `Limit  Soft Limit  Hard Limit  Units\nMax open files            ${soft}  524288  files \n`;
  assert.is(connectionLimit(limits(256)), 128);
  assert.is(connectionLimit(limits(1_024)), 512);
  assert.is(connectionLimit(limits(4_096)), 3_584);
  assert.is(connectionLimit(limits(1_048_576)), 10_000);
  assert.is(connectionLimit(''), 512);
});

test.run();
