/** The dashboard on a given terminal: the screen, the data that comes in, and what the keys do. */
import type { ReadStream, WriteStream } from 'node:tty';
import { render } from 'ink';
import type { Client } from '../api/client.ts';
import type { Patience } from '../api/turns.ts';
import { createCommands } from './live/commands.ts';
import { Feed } from './live/feed.ts';
import { patienceOf } from './live/patience.ts';
import { RowLoader } from './live/row-loader.ts';
import { createStore, type Store } from './live/store.ts';
import { initialState } from './model/state.ts';
import { clipboardSequence } from './terminal/capabilities.ts';
import { MOUSE_OFF, MOUSE_ON, withoutMouse } from './terminal/mouse-input.ts';
import { Dashboard } from './view/dashboard.tsx';
import type { Look } from './view/look.ts';

export interface AppParts {
  connect: (patience?: Patience) => Client;
  /** Address of the server, as the header shows it. */
  server: string;
  readonly: boolean;
  stdin: ReadStream;
  stdout: WriteStream;
  look: Look;
  clock: () => number;
  env: NodeJS.ProcessEnv;
}

export interface App {
  store: Store;
  /**
   * Settles once it was quit and the terminal is as it was; rejects with a defect of the program, or with the refusal
   * of a server that does not take the key.
   */
  exited: Promise<unknown>;
  /** What is left undone by quitting now, a line for each action. */
  unfinished: () => readonly string[];
  /** Gives the terminal back, and stops everything. */
  close: () => void;
}

/** How often relative times move on, in milliseconds. */
const TICK = 1_000;

/** Frames a second at most; a key waits for at most one frame. */
const FRAMES = 60;

export function startApp(parts: AppParts): App {
  const { stdin, stdout, server, readonly, look, clock } = parts;
  const store = createStore(initialState({ now: clock(), size: sizeOf(stdout), server, readonly }));
  const screen = openScreen(stdin, stdout, store);
  const ink = render(<Dashboard store={store} look={look} />, {
    stdin: screen.input,
    stdout,
    exitOnCtrlC: false,
    alternateScreen: true,
    // Without this, Ink draws nothing on terminals of machines that look like a CI.
    interactive: true,
    incrementalRendering: true,
    maxFps: FRAMES,
    patchConsole: false,
  });
  const live = goLive(parts, store, ink.unmount);
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

/** The mouse is ours; the alternate screen, the cursor and raw mode are Ink's, which gives them back itself. */
function openScreen(stdin: ReadStream, stdout: WriteStream, store: Store) {
  const input = withoutMouse(stdin, (event) => store.dispatch(event));
  const onResize = () => store.dispatch({ kind: 'resized', ...sizeOf(stdout) });
  const mouseOff = () => stdout.write(MOUSE_OFF);
  stdout.on('resize', onResize);
  stdout.write(MOUSE_ON);
  process.on('exit', mouseOff);
  return {
    input,
    close: () => {
      stdout.off('resize', onResize);
      process.off('exit', mouseOff);
      mouseOff();
      stdin.pause();
    },
  };
}

function goLive({ connect, clock, stdout, env }: AppParts, store: Store, quit: () => void) {
  const ending = new AbortController();
  const client = connect(patienceOf(store, ending.signal));
  // The feed waits by itself, and says so in the header.
  const feed = new Feed({ client: connect(), clock, wait, random: Math.random, emit: store.dispatch });
  const rows = new RowLoader({ client, store, clock });
  const copy = (text: string) => stdout.write(clipboardSequence(text, env));
  const commands = createCommands({ client, store, quit, refresh: () => feed.refresh(), copy });
  store.onEffect(commands.carryOut);
  const ticking = setInterval(() => store.dispatch({ kind: 'tick', now: clock() }), TICK);
  const refused = new Promise<never>((_, reject) => {
    feed.run().catch(reject);
  });
  rows.start();
  client.getCase().then(
    ({ name }) => store.dispatch({ kind: 'case', name }),
    // The name is a nicety; that the server cannot be reached is said by the feed.
    () => {},
  );
  return {
    refused,
    unfinished: commands.unfinished,
    stop: () => {
      ending.abort(new Error('the dashboard was quit'));
      clearInterval(ticking);
      feed.stop();
      rows.stop();
    },
  };
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
