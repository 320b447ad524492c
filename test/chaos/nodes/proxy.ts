/**
 * A stretch of network as a process of its own: `node proxy.ts PORT` passes everything on to that port of 127.0.0.1, and
 * prints its own. If a signal stops it, it passes nothing on, and no connection is closed. Only few new
 * connections are then taken for it by the kernel, which drops the others without a word.
 */
import { connect, createServer, type Socket } from 'node:net';

const target = Number(process.argv[2]);

function join(from: Socket, to: Socket): void {
  from.on('error', () => to.destroy()).on('close', () => to.destroy());
  from.pipe(to);
}

const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
  const upstream = connect({ port: target, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
  join(client, upstream);
  join(upstream, client);
});

server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
  const address = server.address();
  console.log(typeof address === 'object' ? address?.port : '');
});
