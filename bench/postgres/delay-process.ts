/** Passes on what it receives, `MS` milliseconds later and in the same order: `node delay-process.ts PORT MS`. */
import { connect, createServer, type Socket } from 'node:net';

const [port, ms] = process.argv.slice(2).map(Number);

const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
  const other = connect({ port: port ?? 0, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
  pass(client, other);
  pass(other, client);
});

function pass(from: Socket, to: Socket): void {
  from.on('error', () => to.destroy());
  // Timers of the same length fire in the order in which they were set.
  from.on('data', (chunk) => setTimeout(() => to.write(chunk), ms));
  from.on('end', () => setTimeout(() => to.end(), ms));
}

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object') console.log(address?.port);
});
