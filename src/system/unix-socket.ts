/** The longest path of a Unix socket in bytes: `sun_path` of Linux holds 108, with the zero that ends it. */
export const LONGEST_SOCKET_PATH = 107;

/** Whether the kernel would take this as the path of a socket. It answers a longer one with nothing but `EINVAL`. */
export function fitsSocket(path: string): boolean {
  return Buffer.byteLength(path) <= LONGEST_SOCKET_PATH;
}
