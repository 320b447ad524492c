/** What a process did to the files of a store, read from `strace`, and every state in which a power cut may leave them. */
import { readFileSync } from 'node:fs';

/** The note is where the store remembers what it has acknowledged. */
export type FileName = 'database' | 'log' | 'note';

/** A disk writes this much at once or not at all. */
const SECTOR = 512;

type Change = { at: number; bytes: Buffer } | { size: number };

/** `by` is the thread that did it. */
export type Step =
  | { kind: 'change'; file: FileName; change: Change; by: string }
  | { kind: 'sync'; file: FileName; sync: number; by: string }
  | { kind: 'synced'; sync: number }
  | { kind: 'acknowledged'; count: number };

interface Call {
  by: string;
  name: string;
  fd: string;
  rest: string;
  sync: number;
}

/** @param files by their paths; what is written to `acknowledgements` counts as told to a client */
export function readTrace(trace: string, files: Record<string, FileName>, acknowledgements: string): Step[] {
  const steps: Step[] = [];
  const unfinished = new Map<string, Call>();
  let syncs = 0;
  const begin = (call: Call) => {
    const file = files[call.fd];
    if (file && call.name.endsWith('sync')) steps.push({ kind: 'sync', file, sync: call.sync, by: call.by });
  };
  const end = (call: Call) => {
    const file = files[call.fd];
    if (call.fd === acknowledgements) steps.push({ kind: 'acknowledged', count: bytesOf(call.rest).length });
    else if (!file) return;
    else if (call.name.endsWith('sync')) steps.push({ kind: 'synced', sync: call.sync });
    else steps.push({ kind: 'change', file, change: changeOf(call), by: call.by });
  };
  for (const line of readFileSync(trace, 'latin1').split('\n')) {
    const resumed = /^(\d+) +<\.\.\. \w+ resumed>/.exec(line);
    const called = /^(\d+) +(\w+)\(\d+<([^>]+)>(.*)$/.exec(line);
    if (resumed) {
      const call = unfinished.get(resumed[1] as string);
      unfinished.delete(resumed[1] as string);
      if (call) end(call);
    } else if (called) {
      const [, by = '', name = '', fd = '', rest = ''] = called;
      syncs += 1;
      const call = { by, name, fd: plain(fd), rest, sync: syncs };
      begin(call);
      if (rest.endsWith('<unfinished ...>')) unfinished.set(by, call);
      else end(call);
    }
  }
  return steps;
}

function plain(escaped: string): string {
  return escaped.startsWith('\\x') ? Buffer.from(escaped.replaceAll('\\x', ''), 'hex').toString() : escaped;
}

function bytesOf(rest: string): Buffer {
  return Buffer.from((/"([^"]*)"/.exec(rest)?.[1] ?? '').replaceAll('\\x', ''), 'hex');
}

function changeOf({ name, rest }: Call): Change {
  if (name === 'ftruncate') return { size: Number(/^, (\d+)/.exec(rest)?.[1]) };
  const [, length, at] = /", (\d+), (\d+)/.exec(rest) ?? [];
  const bytes = bytesOf(rest);
  if (name !== 'pwrite64' || bytes.length !== Number(length)) throw new Error(`unknown call ${name}${rest}`);
  return { at: Number(at), bytes };
}

/** One file: what is certainly on the disk, and later writes that may or may not be. */
export class UncertainFile {
  #kept: Buffer;
  #pending: Change[] = [];

  constructor(content: Buffer) {
    this.#kept = content;
  }

  get isCertain(): boolean {
    return this.#pending.length === 0;
  }

  write(change: Change): void {
    this.#pending.push(change);
  }

  /** @returns what makes certain all that was written until now */
  sync(): () => void {
    const covered = [...this.#pending];
    return () => {
      const rest = this.#pending.filter((change) => !covered.includes(change));
      this.#kept = this.#applied(this.#pending.filter((change) => covered.includes(change)));
      this.#pending = rest;
    };
  }

  /** A possible content after a power cut; if every choice is the same, it has none or all of the pending writes. */
  cut(random: () => number): Buffer {
    const mode = Math.floor(random() * 7);
    const share = random();
    const count = this.#pending.length;
    const one = Math.floor(random() * count);
    const takes = (index: number) =>
      [false, true, index < share * count, index >= share * count, index === one, index !== one, null][mode];
    const chosen = this.#pending.flatMap((change, index) => {
      const taken = takes(index);
      if (taken === null) return inSectors(change).filter(() => random() < share);
      return taken ? [change] : [];
    });
    return this.#applied(chosen);
  }

  #applied(changes: readonly Change[]): Buffer {
    let size = this.#kept.length;
    const content = Buffer.alloc(Math.max(size, furthest(changes)));
    this.#kept.copy(content);
    for (const change of changes) {
      if ('size' in change) {
        content.fill(0, change.size);
        size = change.size;
      } else {
        change.bytes.copy(content, change.at);
        size = Math.max(size, change.at + change.bytes.length);
      }
    }
    return content.subarray(0, size);
  }
}

function furthest(changes: readonly Change[]): number {
  return changes.reduce(
    (end, change) => Math.max(end, 'size' in change ? change.size : change.at + change.bytes.length),
    0,
  );
}

function inSectors(change: Change): Change[] {
  if ('size' in change) return [change];
  const pieces: Change[] = [];
  for (let at = 0; at < change.bytes.length; ) {
    const end = Math.min(change.bytes.length, at + SECTOR - ((change.at + at) % SECTOR));
    pieces.push({ at: change.at + at, bytes: change.bytes.subarray(at, end) });
    at = end;
  }
  return pieces;
}
