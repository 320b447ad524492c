import { join } from 'node:path';

/**
 * What the test runner lets all processes of Node share, so that the program is compiled once and not by each of them. It goes into the
 * environment of those that get one of their own.
 *
 * The daemon sets an option of V8 as it starts. What was compiled with other options is of no use to it, nor what it leaves
 * to anybody else: in one place they would replace each other's without end, at a cost higher than that of compiling.
 */
export function compileCache(program: 'command' | 'daemon' = 'command'): Record<string, string> {
  const { NODE_COMPILE_CACHE } = process.env;
  if (!NODE_COMPILE_CACHE) return {};
  return {
    NODE_COMPILE_CACHE: program === 'daemon' ? join(NODE_COMPILE_CACHE, 'daemon') : NODE_COMPILE_CACHE,
  };
}
