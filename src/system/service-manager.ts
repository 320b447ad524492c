/**
 * How this service and systemd talk to each other: sockets that systemd passes to us, and the states and signs of life
 * that we report (sd_notify(3), sd_listen_fds(3), sd_watchdog_enabled(3)).
 */
import { sendDatagram } from './libc.ts';

export interface ServiceManager {
  /** Whether there is a service manager that expects messages. */
  readonly listens: boolean;
  /** The descriptor of the socket that it has opened for us; null if we have to open our own. */
  readonly socket: number | null;
  /** After how long without a sign of life the service is killed, in milliseconds; null if nobody watches. */
  readonly watchdogWithin: number | null;
  /** Reports that clients can be served. It also ends a reload. */
  ready(): void;
  reloading(): void;
  stopping(): void;
  alive(): void;
  /** Sets what `systemctl status` shows. */
  status(text: string): void;
  /** Lets a start or a stop take this many milliseconds from now, whatever its limit. */
  extend(within: number): void;
}

/** The service manager passed more sockets than we can serve. The message says what to do. */
export class SocketUnusable extends Error {
  override readonly name = 'SocketUnusable';
}

interface Process {
  pid: number;
  /** `CLOCK_MONOTONIC`, in nanoseconds. */
  monotonic: () => bigint;
  /** Sends one datagram. @returns whether it was handed over */
  send: (address: string, message: string) => boolean;
}

const OURSELVES: Process = { pid: process.pid, monotonic: process.hrtime.bigint, send: sendDatagram };

/** The first descriptor that is passed to a service (`SD_LISTEN_FDS_START`). */
const FIRST_SOCKET = 3;

/** How often an important message is tried while the receiver's queue is full, and the milliseconds in between. */
const TRIES = 50;
const BETWEEN_TRIES = 20;

/**
 * Reads what the service manager has put into the environment. Without a service manager, messages go nowhere.
 *
 * @throws SocketUnusable
 */
export function serviceManager(env: NodeJS.ProcessEnv, ourselves: Process = OURSELVES): ServiceManager {
  const tell = teller(env.NOTIFY_SOCKET, ourselves);
  return {
    listens: Boolean(env.NOTIFY_SOCKET),
    socket: passedSocket(env, ourselves.pid),
    watchdogWithin: watchdogWithin(env, ourselves.pid),
    ready: () => tell({ READY: 1 }, TRIES),
    reloading: () => tell({ RELOADING: 1, MONOTONIC_USEC: ourselves.monotonic() / 1_000n }, TRIES),
    stopping: () => tell({ STOPPING: 1, STATUS: 'Stopping' }, TRIES),
    alive: () => tell({ WATCHDOG: 1 }, 1),
    status: (text) => tell({ STATUS: text }, 1),
    extend: (within) => tell({ EXTEND_TIMEOUT_USEC: Math.ceil(within * 1_000) }, 1),
  };
}

type Fields = Record<string, string | number | bigint>;

/** Sends messages in order: one that has to be retried holds up those after it. */
function teller(address: string | undefined, { send }: Process): (fields: Fields, tries: number) => void {
  if (!address) return () => {};
  const waiting: { message: string; tries: number }[] = [];
  const deliver = () => {
    for (let [first] = waiting; first; [first] = waiting) {
      first.tries -= 1;
      if (!send(address, first.message) && first.tries > 0) {
        setTimeout(deliver, BETWEEN_TRIES).unref();
        return;
      }
      waiting.shift();
    }
  };
  return (fields, tries) => {
    const message = Object.entries(fields)
      .map(([name, value]) => `${name}=${String(value).replaceAll('\n', ' ')}\n`)
      .join('');
    waiting.push({ message, tries });
    if (waiting.length === 1) deliver();
  };
}

/** The variables may be inherited from a parent. LISTEN_PID says whether they are meant for this process. */
function passedSocket(env: NodeJS.ProcessEnv, pid: number): number | null {
  if (!env.LISTEN_FDS || Number(env.LISTEN_PID) !== pid) return null;
  if (env.LISTEN_FDS === '1') return FIRST_SOCKET;
  throw new SocketUnusable(
    `the service manager passed ${env.LISTEN_FDS} sockets, and snitch serves one: leave one ListenStream= in snitch.socket`,
  );
}

function watchdogWithin(env: NodeJS.ProcessEnv, pid: number): number | null {
  const within = Number(env.WATCHDOG_USEC) / 1_000;
  const isOurs = !env.WATCHDOG_PID || Number(env.WATCHDOG_PID) === pid;
  return within > 0 && isOurs ? within : null;
}
