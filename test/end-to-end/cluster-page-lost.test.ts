/** The HAProxy of docs/cluster.md before its health checks have noticed that two of three nodes are lost. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { freePort } from '../free-port.ts';
import { runUnless } from '../skipped.ts';
import { startProxy, WITHOUT_HAPROXY } from './cluster-page/proxy.ts';

test('check-ins reach the third of three nodes at once when the two others are lost', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'snitch-proxy-'));
  const node = createServer((_, response) => void response.end());
  await new Promise<void>((listens) => node.listen(0, '127.0.0.1', listens));
  try {
    const ports = [(node.address() as AddressInfo).port, await freePort(), await freePort()];
    const late = (text: string) => text.replaceAll('inter 1s', 'inter 60s');
    await using proxy = await startProxy(directory, ports, late);
    const statuses = new Set<number>();
    for (let index = 0; index < 20; index += 1) statuses.add(await proxy.status(`/c/${index * 7_919}abc`));
    assert.equal([...statuses], [200]);
  } finally {
    node.close();
    rmSync(directory, { recursive: true, force: true });
  }
});

runUnless(WITHOUT_HAPROXY, test, 'the proxy of the page');
