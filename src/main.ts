import type { Writable } from 'node:stream';
import { readerGone } from './cli/output/pieces.ts';
import { run } from './cli/program.ts';
import { expectNoAuthorities } from './system/authorities.ts';
import { endOnSignals } from './system/process-one.ts';

// A reader that has seen enough (`snitch … | head`) is not an error. Some commands go on without it.
process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE' && readerGone()) return;
  if (code === 'EPIPE') process.exit(0);
  process.stderr.write(`snitch: the output cannot be written: ${message}\n`);
  process.exit(1);
});

// What a command was asked for does not depend on whether anybody reads its messages.
process.stderr.on('error', () => {});

/** A pipe accepts only what it has room for. The rest waits for its reader, and would be lost with the process. */
async function flushed(stream: Writable): Promise<void> {
  if (stream.writableLength > 0) await new Promise((resolve) => stream.write('', resolve));
}

endOnSignals();
expectNoAuthorities(process.env);
const code = await run(process.argv.slice(2));
await flushed(process.stdout);
await flushed(process.stderr);
// An error of the last write is reported only in the next turn of the event loop.
await new Promise((resolve) => setImmediate(resolve));
process.exit(code);
