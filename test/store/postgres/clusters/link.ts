/** A stretch of network between a client and a server, or between a primary and its standby, that a test may spoil. */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

export interface Link extends AsyncDisposable {
  readonly port: number;
  /** Delays every byte by this many milliseconds from now on, each way. */
  delay(ms: number): void;
  /** Lets nothing through any more, without closing a connection: what a partition looks like from both sides. */
  hang(): void;
  /** Ends all connections and refuses new ones. */
  cut(): void;
  /** Lets everything through again, including what was held. */
  restore(): void;
}

interface State {
  mode: 'open' | 'hanging' | 'cut';
  delayMs: number;
  readonly sockets: Set<Socket>;
  readonly waiting: Set<() => void>;
}

/** Listens on a free port of 127.0.0.1 and passes everything on to `target`. */
export async function openLink(target: number): Promise<Link> {
  const state: State = { mode: 'open', delayMs: 0, sockets: new Set(), waiting: new Set() };
  const server = createServer({ pauseOnConnect: true, allowHalfOpen: true }, (client) =>
    accept(state, client, target),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    port,
    delay: (ms) => {
      state.delayMs = ms;
    },
    hang: () => {
      state.mode = 'hanging';
    },
    cut: () => {
      state.mode = 'cut';
      for (const socket of state.sockets) socket.destroy();
    },
    restore: () => {
      state.mode = 'open';
      for (const resume of state.waiting) resume();
      state.waiting.clear();
    },
    [Symbol.asyncDispose]: () => close(state, server),
  };
}

async function close(state: State, server: Server): Promise<void> {
  for (const socket of state.sockets) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
}

function accept(state: State, client: Socket, target: number): void {
  if (state.mode === 'cut') {
    client.resetAndDestroy();
    return;
  }
  const open = () => {
    const server = connect({ port: target, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    client.setNoDelay(true);
    join(state, client, server);
  };
  remember(state, client);
  if (state.mode === 'hanging') state.waiting.add(open);
  else open();
}

function join(state: State, client: Socket, server: Socket): void {
  remember(state, server);
  pass(state, client, server);
  pass(state, server, client);
}

function remember(state: State, socket: Socket): void {
  state.sockets.add(socket);
  socket.on('error', () => undefined).on('close', () => state.sockets.delete(socket));
}

/** Passes on in order, each piece after its delay, and none while the link hangs. */
function pass(state: State, from: Socket, to: Socket): void {
  let last = Promise.resolve();
  const send = (act: () => void) => {
    const arrived = performance.now() + state.delayMs;
    last = last.then(async () => {
      const rest = arrived - performance.now();
      if (rest > 0) await new Promise((resolve) => setTimeout(resolve, rest));
      if (state.mode === 'hanging') await new Promise<void>((resume) => state.waiting.add(resume));
      act();
    });
  };
  from.on('data', (chunk) => send(() => to.write(chunk)));
  from.on('end', () => send(() => to.end()));
  from.on('close', () => send(() => to.destroy()));
  from.resume();
}
