/** `wrk` makes the load, because a generator that is as slow as the server itself would flatter it. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Workplace } from '../workplace.ts';

const CHECK_INS = join(import.meta.dirname, 'check-ins.lua');
const PACED = join(import.meta.dirname, 'paced.lua');

/** A generator that is busy for more than this share of the time measures itself. */
const BUSY = 0.9;

/**
 * How long requests that are under way when a steady load ends, the slowest of all, may still take, in milliseconds.
 */
const GRACE = 1_000;

/** Half of the cores at most: the server needs the others. */
const THREADS = Math.max(1, Math.floor(availableParallelism() / 2));

/** Connections of a steady load, each with a thread that mostly waits: enough that requests seldom wait for one. */
const PACED_CONNECTIONS = 64;

/** Seconds. Nothing that is measured takes longer. */
const ENDLESS = 3_600;

/** Seconds after which an answer counts as missing. `wrk` keeps eight bytes for each microsecond of this. */
const PATIENCE = 30;

/** What `wrk` calls itself, such as `wrk debian/4.1.0`, or null if it is not installed. */
export function wrkVersion(): string | null {
  const { error, stdout } = spawnSync('wrk', ['-v'], { encoding: 'utf8' });
  return error ? null : (/^(wrk \S+)/.exec(stdout)?.[1] ?? 'wrk');
}

/** A file of tokens as the scripts read them: lines of equal length. */
export function writeTokens(path: string, tokens: readonly string[]): string {
  writeFileSync(path, tokens.map((token) => `${token}\n`).join(''));
  return path;
}

export interface Asked {
  url: string;
  tokens: string;
  connections: number;
  seconds: number;
  /** It ends early after this many requests. */
  most: number;
  /** The part of the file that is used. */
  from: number;
  count: number;
  /** Whether to stop when each token was used once, instead of starting over. */
  once: boolean;
}

export interface Load {
  /** Answers a second. */
  rate: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  slowest: number;
  requests: number;
}

/**
 * Check-ins as fast as they are answered.
 *
 * @throws Error if one was not answered with success
 */
export async function load(workplace: Workplace, asked: Asked): Promise<Load> {
  const report = workplace.path('load.json');
  // A thread without any token would have nothing to request.
  const threads = Math.min(THREADS, asked.connections, asked.count);
  const options = ['-t', threads, '-c', asked.connections, '-d', `${asked.seconds}s`];
  const mode = asked.once ? 'once' : 'again';
  const most = Math.ceil(asked.most / threads);
  const script = [asked.tokens, report, threads, asked.from, asked.count, mode, most];
  const wrk = start(workplace, options, CHECK_INS, asked.url, script);
  await wrk.ended;
  const read = JSON.parse(readFileSync(report, 'utf8')) as Record<keyof Load, number> & {
    microseconds: number;
    /** The share of the time in which its threads had work. */
    busy: number;
    failed: number;
    refused: number;
  };
  if (read.busy > BUSY) {
    const share = Math.round(100 * read.busy);
    console.warn(`wrk was busy ${share} % of the time: it may be slower than what it measures`);
  }
  if (read.failed + read.refused > 0) {
    throw new Error(`${read.refused} of ${read.requests} requests were refused, and ${read.failed} failed`);
  }
  return {
    rate: read.requests / (read.microseconds / 1e6),
    p50: read.p50 / 1e3,
    p99: read.p99 / 1e3,
    slowest: read.slowest / 1e3,
    requests: read.requests,
  };
}

/** One request of a steady load: when it should have been made, and the milliseconds until it was answered. */
export interface Answered {
  at: number;
  took: number;
}

export interface Pace {
  /** Ends the load. @returns all of its requests @throws Error if one was not answered with success */
  end(): Promise<Answered[]>;
}

export interface PacedLoad {
  url: string;
  paths: readonly string[];
  /** Requests a second. */
  rate: number;
  key?: string;
  headers?: readonly string[];
}

/** GETs of `paths` in turn, `rate` a second, until they are ended. */
export function pace(workplace: Workplace, { url, paths, rate, key, headers = [] }: PacedLoad): Pace {
  const [file, report] = [workplace.path('paths'), workplace.path('paced')];
  writeFileSync(file, paths.map((path) => `${path}\n`).join(''));
  const connections = Math.max(1, Math.min(PACED_CONNECTIONS, rate));
  const options = ['-t', connections, '-c', connections, '-d', `${ENDLESS}s`];
  for (const header of headers) options.push('-H', header);
  if (key !== undefined) options.push('-H', `Authorization: Basic ${btoa(`${key}:`)}`);
  const wrk = start(workplace, options, PACED, url, [file, report, rate, connections]);
  return {
    end: async () => {
      await sleep(GRACE);
      wrk.child.kill('SIGINT');
      await wrk.ended;
      return readPaced(report);
    },
  };
}

function start(
  workplace: Workplace,
  options: readonly (string | number)[],
  script: string,
  url: string,
  args: readonly (string | number)[],
) {
  const all = [...options, '--timeout', `${PATIENCE}s`, '-s', script, url, '--', ...args].map(String);
  const child = workplace.holds(spawn('wrk', all, { stdio: ['ignore', 'pipe', 'pipe'] }));
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  }
  const ended = once(child, 'close').then(([code, signal]) => {
    if (code !== 0) throw new Error(`wrk ended with ${signal ?? code}: ${said}`);
  });
  // Whoever ends the load gets the error; until then nobody awaits it.
  ended.catch(() => {});
  return { child, ended };
}

function readPaced(report: string): Answered[] {
  const lines = readFileSync(report, 'utf8').trimEnd().split('\n');
  const failed = Number(/^failed (\d+)$/.exec(lines.pop() ?? '')?.[1]);
  if (failed !== 0) throw new Error(`${failed} requests of the steady load were not answered with success`);
  return lines.map((line) => {
    const [at, took] = line.split(' ').map(Number);
    return { at: at ?? Number.NaN, took: took ?? Number.NaN };
  });
}
