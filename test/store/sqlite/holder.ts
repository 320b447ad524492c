/** A process that opens the store in the directory it is given, says so, and holds it until it is killed. */
import { openStore } from '../acting.ts';

try {
  const store = openStore({ dataDir: process.argv[2] ?? '', clock: Date.now });
  await store.setSetting('maintenance', 'on');
  process.stdout.write('holding\n');
  setInterval(() => {}, 1_000_000);
} catch (error) {
  process.stdout.write(`${error instanceof Error ? error.name : error}\n`);
}
