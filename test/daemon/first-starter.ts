/** A process that makes the first start in the directory it is given. */
import { completeFirstStart } from '../../src/daemon/first-start.ts';
import { openStore } from '../store/acting.ts';

const dataDir = process.argv[2] ?? '';
const store = openStore({ dataDir, clock: Date.now });
await completeFirstStart(store, { dataDir, url: 'http://localhost', adminKey: null }, Date.now());
await store.close();
