/** Runs the image as its users do with podman or, if that cannot run, the same root in namespaces made by hand. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { buildRootfs } from '../../packaging/container/build-rootfs.ts';
import { until } from '../until.ts';
import { namespaces } from './container-namespaces.ts';
import { podman } from './container-podman.ts';

/** The settings of a container. */
export interface Run {
  /** The name of a volume for the data, or the path of a directory of the host. */
  volume: string;
  env?: Record<string, string>;
  /** Files and directories of the host, by their places in the container. */
  mounts?: Record<string, string>;
  /** The command to run; the daemon if absent. */
  args?: readonly string[];
}

/** One way to run containers, whose process 1 is user 65534, without rights, on a read-only root. */
export interface Engine {
  /** Its name for people. */
  name: string;
  /** The command that runs it in the foreground and ends with it. */
  command(name: string, run: Run): string[];
  /** The process id of its process 1 on the host. */
  pidOf(name: string, child: ChildProcess): number | null;
  /** A command that runs `snitch` with these arguments in a running container. */
  exec(pid: number, name: string, args: readonly string[]): string[];
  /** Its address for the host. */
  addressOf(name: string, log: readonly string[]): string;
  env: NodeJS.ProcessEnv;
  /** Runs a line of the documents in a shell, on any port; null if the line calls another engine. */
  paste: ((line: string) => Ended) | null;
  remove(): void;
}

export interface Ended {
  status: number | null;
  stdout: string;
  stderr: string;
}

export interface Container extends AsyncDisposable {
  /** Its process 1, as the host sees it. */
  pid: number;
  url: string;
  log: string[];
  snitch(...args: string[]): Ended;
  /** Sends a signal to process 1. @returns the exit code of the container */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

export interface Containers {
  engine: Engine;
  /** The archive that the image was made from. */
  archive: string;
  /** @param isReady whether the wait is over; by default once the daemon listens */
  start(run: Run, isReady?: (log: readonly string[]) => boolean): Promise<Container>;
  /** Runs something to its end. */
  run(run: Run): Ended;
  remove(): void;
}

/** Builds the image once for all. */
export function makeContainers(): Containers {
  const work = mkdtempSync(join(tmpdir(), 'snitch-container-'));
  try {
    mkdirSync(join(work, 'context'));
    const archive = buildRootfs(join(work, 'context'));
    const engine = podman(work) ?? namespaces(work, archive);
    let count = 0;
    return {
      engine,
      archive,
      start: (run, isReady) => start(engine, `one-${++count}`, run, isReady),
      run: (run) => {
        const [program = '', ...args] = engine.command(`one-${++count}`, run);
        return spawnSync(program, args, { encoding: 'utf8', env: engine.env, timeout: 60_000 });
      },
      remove: () => {
        engine.remove();
        rmSync(work, { recursive: true, force: true });
      },
    };
  } catch (error) {
    rmSync(work, { recursive: true, force: true });
    throw error;
  }
}

function listens(log: readonly string[]): boolean {
  return log.some((line) => line.includes('"msg":"listening"'));
}

async function start(engine: Engine, name: string, run: Run, isReady = listens): Promise<Container> {
  const [program = '', ...args] = engine.command(name, run);
  const child = spawn(program, args, { env: engine.env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  const log: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', (line) => log.push(line));
  const isOver = () => child.exitCode !== null || child.signalCode !== null;
  await until(() => isOver() || isReady(log), 'the container is ready');
  if (isOver()) throw new Error(`the container ended:\n${log.join('\n')}`);
  const pid = engine.pidOf(name, child);
  if (pid === null || pid <= 1) throw new Error('the container has no process 1');
  const end = async (signal: NodeJS.Signals) => {
    if (!isOver()) process.kill(pid, signal);
    return await ended;
  };
  return {
    pid,
    log,
    url: engine.addressOf(name, log),
    snitch: (...words) => {
      const [command = '', ...rest] = engine.exec(pid, name, words);
      return spawnSync(command, rest, { encoding: 'utf8', env: engine.env, timeout: 60_000 });
    },
    end,
    [Symbol.asyncDispose]: async () => void (await end('SIGKILL')),
  };
}
