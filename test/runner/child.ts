/** Runs the suites of the one file that is named, with uvu, and says what is still running when they are done. */
import { registerHooks } from 'node:module';
import { run } from 'uvu/run';

/** How long sockets that were kept alive may take to close, in milliseconds. */
const CLOSING = 10_000;

const UVU = import.meta.resolve('uvu');
const TOLD_HOOKS = import.meta.resolve('./told-hooks.ts');

registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context);
    // uvu itself runs what was gathered, and is what stands behind the file in its place.
    const isForTests = resolved.url === UVU && !/\/uvu\/|told-hooks/.test(context.parentURL ?? '');
    return isForTests ? { ...resolved, url: TOLD_HOOKS, format: 'module-typescript' } : resolved;
  },
});

const [, , file = ''] = process.argv;
await run([{ name: file, file: file.replace(/^\//, '') }]);
setTimeout(() => {
  console.error(`still running after the tests: ${process.getActiveResourcesInfo().join(', ')}`);
}, CLOSING).unref();
