/** The network between one node and the database, which a test can stop: it hangs, or also refuses connections. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** More connections than the kernel queues for a program that does not accept them. */
const MORE_THAN_TAKEN = 50;

/** Longer than any successful connection on this host takes, in milliseconds. */
const NOT_TAKEN = 300;

export interface Network extends AsyncDisposable {
  readonly port: number;
  /** Data is accepted and goes nowhere. */
  hang(): void;
  /** Likewise, and new connections get no answer either. */
  swallow(): Promise<void>;
  heal(): void;
}

export async function openNetwork(target: number): Promise<Network> {
  const proxy = spawn(process.execPath, [join(import.meta.dirname, 'proxy.ts'), String(target)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(proxy.stdout, 'data')) as [Buffer];
  const port = Number(String(line));
  const filling: Socket[] = [];
  return {
    port,
    hang: () => void proxy.kill('SIGSTOP'),
    swallow: async () => {
      proxy.kill('SIGSTOP');
      await fill(port, filling);
    },
    heal: () => {
      for (const socket of filling.splice(0)) socket.destroy();
      proxy.kill('SIGCONT');
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of filling) socket.destroy();
      await end(proxy);
    },
  };
}

/** Opens connections until no more are accepted. */
async function fill(port: number, sockets: Socket[]): Promise<void> {
  while (sockets.length < MORE_THAN_TAKEN) {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    sockets.push(socket);
    const taken = await Promise.race([once(socket, 'connect'), sleep(NOT_TAKEN, null)]);
    if (taken === null) return;
  }
  throw new Error('connections are taken all the same');
}

async function end(proxy: ChildProcess): Promise<void> {
  const ended = once(proxy, 'exit');
  proxy.kill('SIGKILL');
  await ended;
}
