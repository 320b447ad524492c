/** A process that opens the store in the directory it is given, writes, and ends without closing it. */
import { openStore } from '../acting.ts';

const store = openStore({ dataDir: process.argv[2] ?? '', clock: Date.now });
for (const value of ['on', 'off', 'on']) await store.setSetting('maintenance', value);
