/**
 * Runs the suites of the files that are named, one file after the other, with uvu, and says what is still running when
 * they are done.
 *
 *     node test/runner/child.ts MARK FILE…
 *
 * As each file but the first begins, a line on both streams has MARK and how many files came before it.
 */
import { registerHooks } from 'node:module';
import { run } from 'uvu/run';

/** How long sockets that were kept alive may take to close, in milliseconds. */
const CLOSING = 10_000;

const UVU = import.meta.resolve('uvu');
const TOLD_HOOKS = import.meta.resolve('./told-hooks.ts');

registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context);
    // uvu's own parts, and the file that replaces it for the tests, still get the real one.
    const isForTests = resolved.url === UVU && !/\/uvu\/|told-hooks/.test(context.parentURL ?? '');
    return isForTests ? { ...resolved, url: TOLD_HOOKS, format: 'module-typescript' } : resolved;
  },
});

/**
 * Importing `node:http` reads whatever it exports, and so loaded Node's second HTTP client for these three: most of the
 * time that such an import took, in every process. Whoever names one of them gets it from the global object instead.
 */
for (const name of ['WebSocket', 'CloseEvent', 'MessageEvent']) {
  Object.defineProperty(process.getBuiltinModule('node:http'), name, { enumerable: false });
}

/** The suites to be run, which uvu fills and never empties. */
const queue: unknown[] = [];
Object.assign(globalThis, { UVU_QUEUE: queue });

const [, , mark = '', ...files] = process.argv;
const left: string[] = [];
let failed = false;
for (const [index, file] of files.entries()) {
  if (index > 0) for (const stream of [process.stdout, process.stderr]) stream.write(`\n${mark} ${index}\n`);
  queue.length = 0;
  await run([{ name: file, file: file.replace(/^\//, '') }]);
  failed ||= process.exitCode !== 0;
  left.push(`${file}: ${process.getActiveResourcesInfo().join(', ')}`);
}
if (failed) process.exitCode = 1;
setTimeout(() => {
  console.error(`still running after the tests: ${process.getActiveResourcesInfo().join(', ')}`);
  if (files.length > 1) console.error(`running when the tests of a file were done:\n${left.join('\n')}`);
}, CLOSING).unref();
