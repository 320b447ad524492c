/** Starts the dashboard on a terminal, and leaves the terminal as it was on every way out. */
import type { ReadStream, WriteStream } from 'node:tty';
import { render } from 'ink';
import { type Client, createClient } from '../api/client.ts';
import { createCommands } from './live/commands.ts';
import { Feed } from './live/feed.ts';
import { RowLoader } from './live/row-loader.ts';
import { initialState } from './model/state.ts';
import { snapshot } from './snapshot.ts';
import { createStore, type Store } from './store.ts';
import { clipboardSequence, lookOf } from './terminal/capabilities.ts';
import { MOUSE_OFF, MOUSE_ON, withoutMouse } from './terminal/mouse-input.ts';
import { Dashboard } from './view/dashboard.tsx';

export interface DashboardOptions {
  url: string;
  apiKey: string;
  timeoutMs: number;
  readonly: boolean;
}

/** How often relative times move on, in milliseconds. */
const TICK = 1_000;

/** Frames a second at most; a key waits for at most one frame. */
const FRAMES = 60;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** @returns the exit code, once it was quit */
export async function runDashboard(options: DashboardOptions): Promise<number> {
  const { stdin, stdout } = process;
  const client = createClient(options);
  const look = lookOf(process.env);
  if (!stdin.isTTY || !stdout.isTTY) {
    process.stdout.write(snapshot(await client.listSnitches(), Date.now(), look.glyphs));
    return 0;
  }
  const store = createStore(
    initialState({ now: Date.now(), size: sizeOf(stdout), server: options.url, readonly: options.readonly }),
  );
  const screen = openScreen(stdin, stdout, store);
  const app = render(<Dashboard store={store} look={look} />, {
    stdin: screen.input,
    stdout,
    exitOnCtrlC: false,
    alternateScreen: true,
    interactive: true,
    incrementalRendering: true,
    maxFps: FRAMES,
    patchConsole: false,
  });
  const exited = app.waitUntilExit();
  const crash = onCrash(app.unmount);
  // Ink restores the screen on a signal too, but not the mouse; this way everything is restored by the one way out.
  for (const signal of SIGNALS) process.once(signal, () => app.unmount());
  const live = goLive(client, store, { quit: app.unmount, write: (text) => stdout.write(text) });
  try {
    await Promise.race([exited, crash]);
    return 0;
  } finally {
    live.stop();
    app.unmount();
    screen.close();
  }
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

/** Rejects with the first defect, once the terminal is restored, so that its message is not lost with the screen. */
function onCrash(restore: () => void): Promise<never> {
  return new Promise((_, reject) => {
    const fail = (error: unknown) => {
      restore();
      reject(error instanceof Error ? error : new Error(String(error)));
    };
    process.once('uncaughtException', fail);
    process.once('unhandledRejection', fail);
  });
}

interface Ends {
  quit: () => void;
  write: (text: string) => void;
}

function goLive(client: Client, store: Store, { quit, write }: Ends): { stop: () => void } {
  const feed = new Feed({ client, clock: Date.now, wait, random: Math.random, emit: store.dispatch });
  const rows = new RowLoader({ client, store, clock: Date.now });
  const copy = (text: string) => write(clipboardSequence(text, process.env));
  store.onEffect(createCommands({ client, store, quit, refresh: () => feed.refresh(), copy }));
  const ticking = setInterval(() => store.dispatch({ kind: 'tick', now: Date.now() }), TICK);
  void feed.run();
  rows.start();
  client.getCase().then(
    ({ name }) => store.dispatch({ kind: 'case', name }),
    // The name is a nicety; that the server cannot be reached is said by the feed.
    () => {},
  );
  return {
    stop: () => {
      clearInterval(ticking);
      feed.stop();
      rows.stop();
    },
  };
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}
