import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sendDatagram } from '../../src/system/libc.ts';
import { SocketUnusable, serviceManager } from '../../src/system/service-manager.ts';
import { ownDirectory } from '../data-directory.ts';
import { openNotifySocket } from './raw-sockets.ts';

const manager = suite('the service manager');

/** What is told to a manager at `/run/notify`, by a process with the number 42. */
function recorded(env: NodeJS.ProcessEnv = {}, answers: boolean[] = []) {
  const sent: string[] = [];
  const send = (address: string, message: string) => {
    sent.push(`${address} ${message}`);
    return answers.shift() ?? true;
  };
  const ourselves = { pid: 42, monotonic: () => 5_000_007_000n, send };
  return { sent, manager: serviceManager({ NOTIFY_SOCKET: '/run/notify', ...env }, ourselves) };
}

manager('is told each state in the words of sd_notify(3)', () => {
  const { sent, manager } = recorded();
  assert.ok(manager.listens);
  manager.status('3 snitches\nREADY=1');
  manager.ready();
  manager.reloading();
  manager.alive();
  manager.stopping();
  manager.extend(1_500.0001);
  assert.equal(sent, [
    '/run/notify STATUS=3 snitches READY=1\n',
    '/run/notify READY=1\n',
    '/run/notify RELOADING=1\nMONOTONIC_USEC=5000007\n',
    '/run/notify WATCHDOG=1\n',
    '/run/notify STOPPING=1\nSTATUS=Stopping\n',
    '/run/notify EXTEND_TIMEOUT_USEC=1500001\n',
  ]);
});

manager('is told nothing where there is none', () => {
  const { sent, manager } = recorded({ NOTIFY_SOCKET: '' });
  manager.ready();
  manager.alive();
  assert.not(manager.listens);
  assert.equal(sent, []);
});

manager('is told again where its queue was full, but a sign of life is not repeated', async () => {
  const { sent, manager } = recorded({}, [false, true]);
  manager.ready();
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.is(sent.length, 2);
  const busy = recorded({}, [false]);
  busy.manager.alive();
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.is(busy.sent.length, 1);
});

manager('is told in order, also where the first message had to wait', async () => {
  const { sent, manager } = recorded({}, [false, true]);
  manager.reloading();
  manager.ready();
  await new Promise((resolve) => setTimeout(resolve, 100));
  const names = sent.map((message) => /(\w+)=/.exec(message)?.[1]);
  assert.equal(names, ['RELOADING', 'RELOADING', 'READY']);
});

manager('passes a socket and a watchdog only to the process that it names', () => {
  const of = (env: NodeJS.ProcessEnv) => recorded(env).manager;
  assert.is(of({ LISTEN_FDS: '1', LISTEN_PID: '42' }).socket, 3);
  assert.is(of({ LISTEN_FDS: '1', LISTEN_PID: '43' }).socket, null);
  assert.is(of({ LISTEN_FDS: '1' }).socket, null);
  assert.is(of({}).socket, null);
  assert.is(of({ WATCHDOG_USEC: '60000000', WATCHDOG_PID: '42' }).watchdogWithin, 60_000);
  assert.is(of({ WATCHDOG_USEC: '60000000' }).watchdogWithin, 60_000);
  assert.is(of({ WATCHDOG_USEC: '60000000', WATCHDOG_PID: '43' }).watchdogWithin, null);
  assert.is(of({ WATCHDOG_USEC: 'often' }).watchdogWithin, null);
  assert.is(of({}).watchdogWithin, null);
});

manager('with more sockets than one is refused, and told what to change', () => {
  assert.throws(
    () => recorded({ LISTEN_FDS: '2', LISTEN_PID: '42' }),
    (error: Error) => error instanceof SocketUnusable && /one ListenStream=/.test(error.message),
  );
});

manager('hears a datagram at a path and at an abstract address', async () => {
  using directory = ownDirectory();
  for (const address of [join(directory.path, 'notify'), `@snitch-${randomUUID()}`]) {
    using socket = openNotifySocket(address);
    assert.ok(sendDatagram(address, 'READY=1\nSTATUS=näher\n'));
    await socket.until('STATUS=näher');
    assert.equal(socket.fields, ['READY=1', 'STATUS=näher']);
    socket.close();
    assert.not(sendDatagram(address, 'READY=1\n'), 'nobody is there any more');
  }
});

manager('whose queue is full does not hold up the daemon', () => {
  const address = `@snitch-${randomUUID()}`;
  using _socket = openNotifySocket(address);
  let sent = 0;
  // The event loop is blocked, so nobody reads.
  while (sendDatagram(address, 'WATCHDOG=1\n') && sent < 100_000) sent += 1;
  assert.ok(sent < 100_000, 'the queue never filled');
});

manager.run();
