import type { Writable } from 'node:stream';
import { run } from './cli/program.ts';

// A reader that has seen enough (`snitch … | head`) is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

/** A pipe takes only what it has room for: the rest waits for its reader, and would be lost with the process. */
async function flushed(stream: Writable): Promise<void> {
  if (stream.writableLength > 0) await new Promise((resolve) => stream.write('', resolve));
}

const code = await run(process.argv.slice(2));
await flushed(process.stdout);
await flushed(process.stderr);
process.exit(code);
