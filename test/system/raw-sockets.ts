/** Sockets as a service manager has them, which Node cannot open: by the C library itself. */

import { DynamicLibrary } from 'node:ffi';
import { closeSync, rmSync } from 'node:fs';

const libc = new DynamicLibrary(null).getFunctions({
  socket: { return: 'i32', arguments: ['i32', 'i32', 'i32'] },
  bind: { return: 'i32', arguments: ['i32', 'buffer', 'u32'] },
  listen: { return: 'i32', arguments: ['i32', 'i32'] },
  getsockname: { return: 'i32', arguments: ['i32', 'buffer', 'buffer'] },
  recv: { return: 'i64', arguments: ['i32', 'buffer', 'u64', 'i32'] },
});

const AF_UNIX = 1;
const AF_INET = 2;
const SOCK_STREAM = 1;
const SOCK_DGRAM = 2;
const SOCK_CLOEXEC = 0o2000000;
const MSG_DONTWAIT = 0x40;

export interface NotifySocket extends Disposable {
  /** Every field that came, in order: `READY=1`. */
  fields: string[];
  /** Waits until one of them is this one, or begins with it where it ends with `=`. */
  until(field: string, from?: number): Promise<string>;
  close(): void;
}

/** Listens as a service manager does on `$NOTIFY_SOCKET`; `@name` is an abstract address. */
export function openNotifySocket(address: string): NotifySocket {
  const fd = libc.socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const path = address.startsWith('@') ? `\0${address.slice(1)}` : `${address}\0`;
  const name = Buffer.concat([Buffer.from([AF_UNIX, 0]), Buffer.from(path)]);
  if (libc.bind(fd, name, name.length) !== 0) throw new Error(`cannot bind ${address}`);
  const fields: string[] = [];
  const buffer = Buffer.alloc(4_096);
  const timer = setInterval(() => {
    for (;;) {
      const length = Number(libc.recv(fd, buffer, BigInt(buffer.length), MSG_DONTWAIT));
      if (length < 0) return;
      fields.push(...buffer.toString('utf8', 0, length).split('\n').filter(Boolean));
    }
  }, 5);
  const until = async (field: string, from = 0): Promise<string> => {
    for (let waited = 0; waited < 60_000; waited += 10) {
      const found = fields
        .slice(from)
        .find((one) => (field.endsWith('=') ? one.startsWith(field) : one === field));
      if (found) return found;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error(`${field} did not come; there were ${fields.join(', ')}`);
  };
  let isOpen = true;
  const close = () => {
    if (!isOpen) return;
    isOpen = false;
    clearInterval(timer);
    closeSync(fd);
    if (!address.startsWith('@')) rmSync(address, { force: true });
  };
  return { fields, until, close, [Symbol.dispose]: close };
}

export interface Listening extends Disposable {
  fd: number;
}

/** A socket file that accepts connections but does not answer yet. */
export function openListeningFile(path: string): Listening {
  const fd = libc.socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const name = Buffer.concat([Buffer.from([AF_UNIX, 0]), Buffer.from(`${path}\0`)]);
  if (libc.bind(fd, name, name.length) || libc.listen(fd, 4_096)) throw new Error(`cannot listen on ${path}`);
  return { fd, [Symbol.dispose]: () => closeSync(fd) };
}

/** A socket on loopback that accepts connections but does not answer yet. */
export function openListeningSocket(): Listening & { port: number } {
  const fd = libc.socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const address = Buffer.from([AF_INET, 0, 0, 0, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
  const length = Buffer.from(new Uint32Array([address.length]).buffer);
  const failed = libc.bind(fd, address, address.length) || libc.listen(fd, 4_096);
  if (failed || libc.getsockname(fd, address, length) !== 0) throw new Error('cannot listen on loopback');
  return { fd, port: address.readUInt16BE(2), [Symbol.dispose]: () => closeSync(fd) };
}
