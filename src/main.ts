import { run } from './cli/program.ts';

// A reader that has seen enough (`snitch … | head`) is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

process.exit(await run(process.argv.slice(2)));
