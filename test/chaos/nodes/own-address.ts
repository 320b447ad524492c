/**
 * The built program on a host with an address of its own, as far as receivers see it: a few lines that run before the
 * program, which itself knows nothing of them. Everything below 127.0.0.0/8 is this host.
 */

/** For `nodeOptions` of a process. */
export function ownAddress(address: string): string[] {
  const code = `
    import { Socket } from 'node:net';
    const connect = Socket.prototype.connect;
    Socket.prototype.connect = function (...given) {
      const options = Array.isArray(given[0]) ? given[0][0] : given[0];
      if (options?.port && !options.path) options.localAddress = '${address}';
      return connect.apply(this, given);
    };`;
  return ['--import', `data:text/javascript,${encodeURIComponent(code)}`];
}
