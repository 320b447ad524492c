import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { compileCache } from '../compile-cache.ts';
import type { Ended } from './snitch-process.ts';

const SNITCH = fileURLToPath(new URL('../../bin/snitch', import.meta.url));

/** Runs the built program with `input` on its standard input. */
export async function runSnitchWith(
  input: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<Ended> {
  const child = spawn(SNITCH, args, {
    env: { PATH: process.env.PATH, HOME: '/nonexistent', ...compileCache(), ...env },
  });
  child.stdin.end(input);
  const [[code], stdout, stderr] = await Promise.all([
    once(child, 'close'),
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code, stdout, stderr };
}
