/** A process that opens the store in the directory it is given, which upgrades it, and closes it again. */
import { openStore } from '../acting.ts';

await openStore({ dataDir: process.argv[2] ?? '', clock: Date.now }).close();
