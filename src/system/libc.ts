/**
 * The calls of the C library that Node does not offer. `node:ffi` reaches them without a compiler and without another
 * native addon. It is still called experimental, but the executable contains exactly the Node that it was tested with.
 * The alternative for `sd_notify` is the program `systemd-notify`. It is another process, whose messages systemd drops
 * unless it is configured to accept those of every process in the service.
 */

/** Programs that this one starts do not inherit the descriptor. */
const MFD_CLOEXEC = 0x1;
const SOCK_CLOEXEC = 0o2000000;
const SOCK_DGRAM = 2;
const AF_UNIX = 1;
/** A peer that is gone is reported as an error instead of a signal, and the call never blocks. */
const MSG_NOSIGNAL = 0x4000;
const MSG_DONTWAIT = 0x40;
const LOCK_EX = 2;
const LOCK_NB = 4;
const WNOHANG = 1;

const SIGNATURES = {
  memfd_create: { return: 'i32', arguments: ['string', 'u32'] },
  socket: { return: 'i32', arguments: ['i32', 'i32', 'i32'] },
  flock: { return: 'i32', arguments: ['i32', 'i32'] },
  waitpid: { return: 'i32', arguments: ['i32', 'buffer', 'i32'] },
  sendto: { return: 'i64', arguments: ['i32', 'buffer', 'u64', 'i32', 'buffer', 'u32'] },
} as const;

/** Only the GNU library has it, so it is looked up on its own. */
const GNU_SIGNATURES = { malloc_trim: { return: 'i32', arguments: ['u64'] } } as const;

let library: ReturnType<typeof open> | null = null;

function open() {
  // Not imported, because merely loading it prints a warning about an experimental feature.
  const { DynamicLibrary } = process.getBuiltinModule('node:ffi');
  // Null stands for the program itself, which has the C library loaded already.
  return new DynamicLibrary(null).getFunctions(SIGNATURES);
}

function libc() {
  library ??= open();
  return library;
}

/** Returns free memory of all threads to the system. @throws Error if the C library has no such function */
export function releaseFreeMemory(): void {
  const { DynamicLibrary } = process.getBuiltinModule('node:ffi');
  new DynamicLibrary(null).getFunctions(GNU_SIGNATURES).malloc_trim(0n);
}

/**
 * Makes an unnamed file that exists only in memory, so nothing is left of it however the process ends.
 *
 * @returns the descriptor
 * @throws Error if the kernel refuses
 */
export function createMemoryFile(name: string): number {
  const fd = libc().memfd_create(name, MFD_CLOEXEC);
  if (fd < 0) throw new Error('the kernel refused a file in memory (memfd_create)');
  return fd;
}

/**
 * Locks an open file for this process until it is closed, which the kernel does however the process ends.
 *
 * @returns whether it is ours; another process may have it
 */
export function lockFile(fd: number): boolean {
  return libc().flock(fd, LOCK_EX | LOCK_NB) === 0;
}

/** Reaps a child that has ended, so the kernel forgets it. Its exit status is lost. Never waits. */
export function takeLeave(pid: number): void {
  libc().waitpid(pid, Buffer.alloc(4), WNOHANG);
}

/**
 * Sends one datagram to a Unix socket. It never waits, so a receiver whose queue is full does not get it.
 *
 * @param address the path of the socket, or `@name` for an abstract one
 * @returns whether it was handed over
 */
export function sendDatagram(address: string, message: string): boolean {
  const { socket, sendto } = libc();
  datagrams ??= socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const to = socketAddress(address);
  const data = Buffer.from(message);
  const length = BigInt(data.length);
  return sendto(datagrams, data, length, MSG_NOSIGNAL | MSG_DONTWAIT, to, to.length) === length;
}

let datagrams: number | null = null;

/** A `struct sockaddr_un`: the family in the byte order of the machine, then the path. */
function socketAddress(address: string): Buffer {
  const family = Buffer.from(new Uint16Array([AF_UNIX]).buffer);
  const isAbstract = address.startsWith('@');
  const path = isAbstract ? `\0${address.slice(1)}` : `${address}\0`;
  return Buffer.concat([family, Buffer.from(path)]);
}
