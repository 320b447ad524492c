/** The dashboard on a given terminal: connects the screen, the incoming data and the keys. */
import type { ReadStream, WriteStream } from 'node:tty';
import { render } from 'ink';
import type { Client } from '../api/client.ts';
import type { Patience } from '../api/turns.ts';
import { clipboardSequence } from '../text/clipboard.ts';
import { printable } from '../text/printable.ts';
import { type CommandParts, createCommands } from './live/commands.ts';
import { Feed } from './live/feed.ts';
import { Foresight } from './live/foresight.ts';
import { patienceOf } from './live/patience.ts';
import { watchReach } from './live/reach.ts';
import { RowLoader } from './live/row-loader.ts';
import { askAll } from './live/server-health.ts';
import { SilenceReader } from './live/silences.ts';
import { createStore, type Store } from './live/store.ts';
import { initialState } from './model/state.ts';
import { MOUSE_OFF, MOUSE_ON, withoutMouse } from './terminal/mouse-input.ts';
import { stopJob } from './terminal/stop.ts';
import { Dashboard } from './view/dashboard.tsx';
import type { Look } from './view/look.ts';
import { Suspension } from './view/suspension.tsx';

export interface AppParts {
  connect: (patience?: Patience) => Client;
  /** The address of the server, which the header shows. */
  server: string;
  /** Its name and all the servers to choose from, if there are several. */
  serverName?: string | null;
  servers?: readonly Target[];
  readonly: boolean;
  stdin: ReadStream;
  stdout: WriteStream;
  look: Look;
  clock: () => number;
  env: NodeJS.ProcessEnv;
  /** The path by which cron and systemd on this host call this program. */
  program: string;
}

/** A server that the dashboard may show. */
export interface Target {
  name: string;
  url: string;
  /** Null if it cannot be asked; `problem` says why. */
  connect: ((patience?: Patience) => Client) | null;
  /** A client that gives up soon, for checking how the server is. */
  glance: (() => Client) | null;
  problem: string | null;
}

export interface App {
  store: Store;
  /**
   * Resolves once the user has quit and the terminal is restored. Rejects with a defect of the program, or with the
   * refusal of a server that does not accept the key.
   */
  exited: Promise<unknown>;
  /** What quitting now would leave undone, a line for each action. */
  unfinished: () => readonly string[];
  /** Restores the terminal, and stops everything. */
  close: () => void;
}

/** How often relative times are updated, in milliseconds. */
const TICK = 1_000;

/** The most frames per second. The effect of a key is delayed by one frame at most. */
const FRAMES = 60;

export function startApp(parts: AppParts): App {
  const { stdin, stdout, server, serverName = null, servers: targets = [], readonly, look, clock } = parts;
  const servers = targets.map(({ name, url }) => ({ name, url, health: { state: 'asking' } as const }));
  const store = createStore(
    initialState({ now: clock(), size: sizeOf(stdout), server, serverName, servers, readonly }),
  );
  const screen = openScreen(stdin, stdout, store);
  const shown = (
    <>
      <Dashboard store={store} look={look} />
      <Suspension away={screen.away} />
    </>
  );
  const ink = render(shown, {
    stdin: screen.input,
    stdout,
    exitOnCtrlC: false,
    alternateScreen: true,
    // Without this, Ink draws nothing if the environment looks like a CI system.
    interactive: true,
    incrementalRendering: true,
    maxFps: FRAMES,
    patchConsole: false,
  });
  const live = goLiveAtOneOf(parts, store, ink.unmount);
  const exited = Promise.race([ink.waitUntilExit(), live.refused]);
  const close = () => {
    live.stop();
    ink.unmount();
    screen.close();
  };
  return { store, exited, unfinished: live.unfinished, close };
}

function sizeOf({ columns, rows }: WriteStream): { columns: number; rows: number } {
  return { columns: columns || 80, rows: rows || 24 };
}

/** We switch the mouse on and off. Ink itself does that for the alternate screen, the cursor and raw mode. */
function openScreen(stdin: ReadStream, stdout: WriteStream, store: Store) {
  const input = withoutMouse(stdin, (event) => store.dispatch(event));
  const onResize = () => store.dispatch({ kind: 'resized', ...sizeOf(stdout) });
  const mouseOff = () => stdout.write(MOUSE_OFF);
  stdout.on('resize', onResize);
  stdout.write(MOUSE_ON);
  process.on('exit', mouseOff);
  const away = async () => {
    mouseOff();
    await stopJob();
    stdout.write(MOUSE_ON);
    // Only the job in the foreground is told of a new size.
    process.emit('SIGWINCH', 'SIGWINCH');
  };
  return {
    input,
    away,
    close: () => {
      stdout.off('resize', onResize);
      process.off('exit', mouseOff);
      mouseOff();
      stdin.pause();
    },
  };
}

interface Ways {
  quit: () => void;
  servers: NonNullable<CommandParts['servers']>;
}

/** Shows one server at a time, and switches when the user asks. */
function goLiveAtOneOf(parts: AppParts, store: Store, quit: () => void) {
  const targets = parts.servers ?? [];
  const ask = () =>
    askAll(
      targets.map(({ name, glance, problem }) => ({ name, client: glance?.() ?? null, problem })),
      (name, health) => store.dispatch({ kind: 'server', name, health }),
    );
  const show = (name: string): void => {
    const target = targets.find((one) => one.name === name);
    if (!target?.connect) {
      const text = `Still here: ${printable(target?.problem ?? `there is no server ${name}`)}`;
      store.dispatch({ kind: 'said', text, tone: 'bad', at: store.get().now });
      return;
    }
    live.stop();
    store.dispatch({ kind: 'switched', name, url: target.url });
    live = goLive({ ...parts, connect: target.connect }, store, ways);
    // A server that refuses its key is no reason to quit while others accept theirs. The banner shows the refusal.
    live.refused.catch(() => {});
  };
  const ways = { quit, servers: { ask, show } };
  let live = goLive(parts, store, ways);
  return { refused: live.refused, unfinished: () => live.unfinished(), stop: () => live.stop() };
}

/** Late answers from the previous server must not appear among the data of the next one. */
function untilEnd(store: Store, signal: AbortSignal): Store {
  const dispatch: Store['dispatch'] = (event) => {
    if (!signal.aborted) store.dispatch(event);
  };
  return { ...store, dispatch };
}

function goLive(parts: AppParts, whole: Store, ways: Ways) {
  const { connect, clock: ownClock, stdout, env, program } = parts;
  const ending = new AbortController();
  const store = untilEnd(whole, ending.signal);
  const client = connect(patienceOf(store, ending.signal));
  const regular = connect();
  const clock = serverClock(regular, ownClock);
  // The feed does its own waiting, and shows it in the header.
  const silences = new SilenceReader({ client: regular, store });
  const readSilences = () => silences.read();
  const feed = feedOf(connect(), store, clock, readSilences);
  const rows = new RowLoader({ client, store, clock });
  const copy = (text: string) => stdout.write(clipboardSequence(text, env) ?? '');
  const foresight = foresightOf(connect(), store);
  const following = follow(feed, store);
  const refresh = () => {
    following.refresh();
    readSilences();
  };
  const commands = createCommands({
    ...ways,
    client,
    store,
    refresh,
    copy,
    program,
    foresight,
    readSilences,
  });
  store.onEffect(commands.carryOut);
  const ticking = setInterval(() => store.dispatch({ kind: 'tick', now: clock() }), TICK);
  rows.start();
  const stopAsking = watchReach({ client: connect(), store });
  silences.start();
  readName(client, store);
  return {
    refused: following.refused,
    unfinished: commands.unfinished,
    stop: () => {
      ending.abort(new Error('the dashboard was quit'));
      clearInterval(ticking);
      feed.stop();
      rows.stop();
      stopAsking();
      silences.stop();
      foresight.stop();
    },
  };
}

/**
 * Deadlines follow the server's clock, so the time left until them must follow it too.
 *
 * @param regular a client that asks again and again, so that it is right again soon after one of the clocks was set
 */
function serverClock(regular: Client, ownClock: () => number): () => number {
  return () => ownClock() + regular.now() - Date.now();
}

function foresightOf(client: Client, store: Store): Foresight {
  return new Foresight({ client, tell: (foreseen) => store.dispatch({ kind: 'foreseen', foreseen }) });
}

/** The name of the case is a nicety. If the server cannot be reached, the feed says so. */
function readName(client: Client, store: Store): void {
  client.getCase().then(
    ({ name }) => store.dispatch({ kind: 'case', name }),
    () => {},
  );
}

/** A feed ends if the server refuses the key from the start. A refresh starts it again. */
function follow(feed: Feed, store: Store) {
  let hasEnded = false;
  const run = () =>
    feed.run().catch((error: Error) => {
      hasEnded = true;
      store.dispatch({ kind: 'link', link: { state: 'refused', error: error.message, retryAt: null } });
      throw error;
    });
  const refresh = () => {
    if (!hasEnded) return feed.refresh();
    hasEnded = false;
    run().catch(() => {});
  };
  const refused = new Promise<never>((_, reject) => {
    run().catch(reject);
  });
  return { refused, refresh };
}

function feedOf(client: Client, store: Store, clock: () => number, onSilences: () => void): Feed {
  return new Feed({ client, clock, wait, random: Math.random, emit: store.dispatch, onSilences });
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, signal.aborted ? 0 : ms);
    signal.addEventListener('abort', done);
  });
}
