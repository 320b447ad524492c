/** Runs the suites of the one file that is named, with uvu, and says what is still running when they are done. */
import { enableCompileCache } from 'node:module';
import { run } from 'uvu/run';

/** How long sockets that were kept alive may take to close, in milliseconds. */
const CLOSING = 10_000;

const [, , file = ''] = process.argv;
enableCompileCache();
await run([{ name: file, file: file.replace(/^\//, '') }]);
setTimeout(() => {
  console.error(`still running after the tests: ${process.getActiveResourcesInfo().join(', ')}`);
}, CLOSING).unref();
