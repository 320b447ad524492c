/** `POST /v1/checks/mail`: for administrators alone, one at a time, with an end, and without a secret in its answer. */
import { createServer, type Socket } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireMailCheck } from '../../src/api/wire.ts';
import { checkMail } from '../../src/delivery/smtp/mail-check.ts';
import { invalidOn, ok, refused } from './expect.ts';
import { type Fixture, startFixture } from './fixture.ts';

const PATH = '/v1/checks/mail';
const FROM = 'snitch@example.com';

const test = suite('a check of the mail server');

async function withFixture(
  check: (recipient: string | null) => Promise<WireMailCheck | null>,
  use: (fixture: Fixture) => Promise<void>,
): Promise<void> {
  const fixture = await startFixture({ checkMail: check });
  try {
    await use(fixture);
  } finally {
    await fixture.close();
  }
}

test('is for administrators, says whom it asked and what came of it, and that email is off', async () => {
  const asked: (string | null)[] = [];
  const answers = [{ server: 'mail:25', problem: null }, { server: 'mail:25', problem: 'refused' }, null];
  const check = async (recipient: string | null) => {
    asked.push(recipient);
    return answers.shift() ?? null;
  };
  await withFixture(check, async ({ admin, acme, nobody }) => {
    refused(await nobody.ask('POST', PATH), 401, 'api_key_invalid');
    refused(await acme.write.post(PATH, {}), 403, 'api_key_forbidden');
    assert.equal(asked, []);
    assert.equal(ok(await admin.ask('POST', PATH)), { server: 'mail:25', problem: null });
    assert.equal(ok(await admin.post(PATH, { recipient: 'a@b.example' })), {
      server: 'mail:25',
      problem: 'refused',
    });
    assert.equal(ok(await admin.post(PATH, { recipient: null })), { server: null, problem: null });
    for (const recipient of ['nobody', 'a@b\r\nc@d', '', 7])
      invalidOn(await admin.post(PATH, { recipient }), 'recipient');
    assert.equal(asked, [null, 'a@b.example', null]);
  });
});

test('runs once at a time, and can be asked for again after it failed', async () => {
  const running = Promise.withResolvers<WireMailCheck>();
  const begun = Promise.withResolvers<void>();
  let asked = 0;
  const check = () => {
    asked += 1;
    begun.resolve();
    return asked === 1 ? running.promise : Promise.resolve(null);
  };
  await withFixture(check, async ({ admin, logged }) => {
    const first = admin.post(PATH, {});
    await begun.promise;
    const second = await admin.post(PATH, {});
    running.reject(new Error('broken'));
    const failed = await first;
    assert.is(logged.length, 1);
    logged.length = 0;
    refused(second, 429, 'rate_limited');
    assert.match(second.headers['retry-after'] ?? '', /^[1-9]\d*$/);
    refused(failed, 500, 'internal_error');
    ok(await admin.post(PATH, {}));
    assert.is(asked, 2);
  });
});

test('has an end with a server that drips, and shows no password that a server quotes', async () => {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    const drip = setInterval(() => socket.write('220-wait\r\n'), 50);
    socket.on('error', () => {}).on('close', () => clearInterval(drip));
  });
  const quoting = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => {}).end('554 not you, s3cret-password\r\n');
  });
  try {
    for (const one of [server, quoting]) await new Promise<void>((done) => one.listen(0, '127.0.0.1', done));
    const urlOf = (one: typeof server) => {
      const address = one.address();
      return `smtp://me:s3cret-password@127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
    };
    const dripping = await checkMail({ url: urlOf(server), from: FROM }, null, 0, 300);
    assert.match(dripping.problem ?? '', 'does not finish answering');
    const quoted = await checkMail({ url: urlOf(quoting), from: FROM }, null, 0);
    assert.match(quoted.problem ?? '', 'not you');
    assert.not.match(JSON.stringify([dripping, quoted]), 's3cret');
  } finally {
    for (const socket of open) socket.destroy();
    server.close();
    quoting.close();
  }
});

test.run();
