/** A node that does what one does at a time, and never ends. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openNode } from './opened.ts';

const [port = '', database = '', name = ''] = process.argv.slice(2);
const { store } = await openNode(Number(port), database, {
  dataDir: process.env.DATA_DIR ?? mkdtempSync(join(tmpdir(), 'snitch-alone-')),
});
await store.node?.alone(name, async () => {
  console.log('holds');
  await new Promise(() => {});
});
