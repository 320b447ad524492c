/** The dashboard on a given terminal: connects the screen, the incoming data and the keys. */
import type { ReadStream, WriteStream } from 'node:tty';
import { render } from 'ink';
import type { Client } from '../api/client.ts';
import type { Patience } from '../api/turns.ts';
import { clipboardSequence } from '../text/clipboard.ts';
import { createCommands } from './live/commands.ts';
import { Feed } from './live/feed.ts';
import { Foresight } from './live/foresight.ts';
import { patienceOf } from './live/patience.ts';
import { watchReach } from './live/reach.ts';
import { RowLoader } from './live/row-loader.ts';
import { SilenceReader } from './live/silences.ts';
import { createStore, type Store } from './live/store.ts';
import { initialState } from './model/state.ts';
import { MOUSE_OFF, MOUSE_ON, withoutMouse } from './terminal/mouse-input.ts';
import { Dashboard } from './view/dashboard.tsx';
import type { Look } from './view/look.ts';

export interface AppParts {
  connect: (patience?: Patience) => Client;
  /** The address of the server, which the header shows. */
  server: string;
  readonly: boolean;
  stdin: ReadStream;
  stdout: WriteStream;
  look: Look;
  clock: () => number;
  env: NodeJS.ProcessEnv;
  /** The path by which cron and systemd on this host call this program. */
  program: string;
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
  /** Gives the terminal back, and stops everything. */
  close: () => void;
}

/** How often relative times are updated, in milliseconds. */
const TICK = 1_000;

/** The most frames per second. The effect of a key is delayed by one frame at most. */
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
    // Without this, Ink draws nothing if the environment looks like a CI system.
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

/** We switch the mouse on and off. Ink itself does that for the alternate screen, the cursor and raw mode. */
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

function goLive(parts: AppParts, store: Store, quit: () => void) {
  const { connect, clock: ownClock, stdout, env, program } = parts;
  const ending = new AbortController();
  const client = connect(patienceOf(store, ending.signal));
  // Deadlines are by the server's clock, so what is left until then is by it too.
  const clock = () => ownClock() + client.now() - Date.now();
  // The feed does its own waiting, and shows it in the header.
  const silences = new SilenceReader({ client: connect(), store });
  const readSilences = () => silences.read();
  const feed = feedOf(connect(), store, clock, readSilences);
  const rows = new RowLoader({ client, store, clock });
  const copy = (text: string) => stdout.write(clipboardSequence(text, env) ?? '');
  const foresight = new Foresight({
    client: connect(),
    tell: (foreseen) => store.dispatch({ kind: 'foreseen', foreseen }),
  });
  const refresh = () => {
    feed.refresh();
    readSilences();
  };
  const commands = createCommands({ client, store, quit, refresh, copy, program, foresight, readSilences });
  store.onEffect(commands.carryOut);
  const ticking = setInterval(() => store.dispatch({ kind: 'tick', now: clock() }), TICK);
  const refused = new Promise<never>((_, reject) => {
    feed.run().catch(reject);
  });
  rows.start();
  const stopAsking = watchReach({ client: connect(), store });
  silences.start();
  client.getCase().then(
    ({ name }) => store.dispatch({ kind: 'case', name }),
    // The name is a nicety. If the server cannot be reached, the feed says so.
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
      stopAsking();
      silences.stop();
      foresight.stop();
    },
  };
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
