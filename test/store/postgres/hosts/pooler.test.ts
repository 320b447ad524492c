/** Things that work but should be known are logged once: a pooler in between, a server that hides its timeline. */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parsePostgresUrl } from '../../../../src/core/database/postgres-url.ts';
import { ending } from '../../../closing.ts';
import { runUnless } from '../../../skipped.ts';
import { startCluster } from '../clusters/cluster.ts';
import { WITHOUT_POSTGRES } from '../clusters/programs.ts';
import { addressOf, primaryAmong } from './fixture.ts';

const test = suite('warnings of a connection');

/** Like every pooler, it sends its own process id in `BackendKeyData`. */
async function startPooler(port: number) {
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) socket.on('error', end).on('close', end);
    client.pipe(upstream);
    upstream.on('data', (chunk: Buffer) => {
      const at = chunk.indexOf(Buffer.from([0x4b, 0, 0, 0, 12]));
      if (at >= 0) chunk.writeInt32BE(1, at + 5);
      client.write(chunk);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const own = typeof address === 'object' && address ? address.port : 0;
  return ending({ port: own }, () => new Promise((resolve) => server.close(resolve)));
}

test('a pooler is reported once, and a plain server is not taken for one', async () => {
  await using cluster = await startCluster();
  await using pooler = await startPooler(cluster.port);
  const warnings: string[] = [];
  const warn = (words: string) => void warnings.push(words);
  const direct = primaryAmong([cluster.port], { warn });
  await (await direct.connect()).end();
  assert.equal(warnings, []);
  const pooled = primaryAmong([pooler.port], { warn });
  for (const _ of [1, 2]) await (await pooled.connect()).end();
  assert.is(warnings.length, 1);
  assert.match(warnings[0] ?? '', /is a connection pooler.*pool_mode = session/);
});

test('if one of several hosts does not reveal its timeline, that is logged, and it is used', async () => {
  await using cluster = await startCluster();
  await cluster.query('CREATE ROLE plain LOGIN');
  await cluster.query('REVOKE EXECUTE ON FUNCTION pg_walfile_name(pg_lsn) FROM PUBLIC');
  const warnings: string[] = [];
  const warn = (words: string) => void warnings.push(words);
  const { hosts } = addressOf([cluster.port, 1]);
  const address = { ...parsePostgresUrl('postgres://plain@a/postgres'), hosts };
  await (await primaryAmong([], { address, warn }).connect()).end();
  assert.is(warnings.length, 1);
  assert.match(warnings[0] ?? '', /does not tell its timeline.*pg_walfile_name/);
});

runUnless(WITHOUT_POSTGRES, test, 'warnings of a connection');
