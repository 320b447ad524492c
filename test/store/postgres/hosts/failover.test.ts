/** The host that takes writes is found, and found again; an old primary is not taken for it. Time limit: 240 s. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SessionPool } from '../../../../src/store/postgres/hosts/pool.ts';
import { seenMemory } from '../../../../src/store/postgres/hosts/seen-file.ts';
import type { Session } from '../../../../src/store/postgres/hosts/session.ts';
import { closing } from '../../../closing.ts';
import { ownDirectory } from '../../../data-directory.ts';
import { runUnless } from '../../../skipped.ts';
import { until } from '../../../until.ts';
import { startCluster } from '../clusters/cluster.ts';
import { openLink } from '../clusters/link.ts';
import { WITHOUT_POSTGRES } from '../clusters/programs.ts';
import { addressOf, primaryAmong } from './fixture.ts';

const test = suite('failover');

const closed = (session: Session) => closing(Object.assign(session, { close: () => session.destroy() }));

const silent = () => undefined;

/** The first session lent may be one whose end was not noticed yet, as any caller must expect. */
async function isWritten(pool: SessionPool): Promise<boolean> {
  const client = await pool.connect();
  const error = await client.query('INSERT INTO t VALUES (1)').then(
    () => undefined,
    (failure: Error) => failure,
  );
  client.release(error);
  return error === undefined;
}

test('writes go on at the standby that was promoted, and never again to the old primary', async () => {
  using directory = ownDirectory();
  await using first = await startCluster({ fsync: true });
  const second = await first.standby({ synchronous: true });
  const ports = [first.port, second.port];
  const primary = primaryAmong(ports, { memory: seenMemory(directory.path, silent) });
  const pool = new SessionPool({ primary, size: 4, waitMs: 60_000 });
  try {
    const before = await pool.connect();
    await before.query('CREATE TABLE t (n integer)');
    before.release();
    assert.is(primary.known?.port, first.port);

    await first.server.kill();
    // Whoever asks meanwhile waits, and is served as soon as somebody takes writes.
    const written = until(() => isWritten(pool), 'somebody takes writes', 120_000);
    await second.promote();
    await written;
    assert.is(primary.known?.port, second.port);

    await first.server.start();
    await second.server.kill();
    const refused = await primary.connect().catch((error: Error) => error.message);
    assert.match(String(refused), new RegExp(`127.0.0.1:${first.port} is an old primary \\(timeline 1;`));

    // Nor after a restart of the node, which knows it from its disk.
    const restarted = primaryAmong(ports, { memory: seenMemory(directory.path, silent) });
    assert.match(
      String(await restarted.connect().catch((error: Error) => error.message)),
      /is an old primary/,
    );
    await second.server.start();
    using found = closed(await restarted.connect());
    assert.is(found.host.port, second.port);
  } finally {
    await pool.end();
  }
});

test('if two accept writes at once, the one promoted last is chosen, even while the other is in use', async () => {
  await using first = await startCluster();
  const second = await first.standby();
  const ports = [first.port, second.port];
  const primary = primaryAmong(ports);
  using early = closed(await primary.connect());
  assert.is(early.host.port, first.port);
  await primary.lookAround();
  assert.not(early.isBroken);

  await second.promote();
  const stopLooking = primary.keepLooking(20);
  try {
    await until(() => early.isBroken, 'the session with the old primary is given up');
  } finally {
    stopLooking();
  }
  using late = closed(await primary.connect());
  assert.is(late.host.port, second.port);
  // A node that has never been there before finds both.
  using stranger = closed(await primaryAmong(ports).connect());
  assert.is(stranger.host.port, second.port);
});

test('a host that hangs is noticed in time, and costs nothing where another one is the primary', async () => {
  await using cluster = await startCluster();
  await using hanging = await openLink(cluster.port);
  hanging.hang();
  using session = closed(await primaryAmong([hanging.port, cluster.port]).connect());
  assert.is(session.host.port, cluster.port);
  const alone = primaryAmong([hanging.port], {
    address: addressOf([hanging.port], { options: 'connect_timeout=1' }),
  });
  const refused = await alone.connect().catch((error: Error) => error.message);
  assert.is(refused, `127.0.0.1:${hanging.port} did not answer within 1 s`);
});

test('a partition breaks the sessions in use and those that lie idle, and ends no process', async () => {
  await using cluster = await startCluster();
  await using link = await openLink(cluster.port);
  const primary = primaryAmong([link.port], { answerWithinMs: 2_000 });
  const pool = new SessionPool({ primary, size: 3, waitMs: 60_000 });
  try {
    const clients = await Promise.all([pool.connect(), pool.connect(), pool.connect()]);
    const [one, ...others] = clients;
    for (const other of others) other?.release();
    link.hang();
    const failed = await one?.query('SELECT 1').catch((error: Error) => error.message);
    assert.is(failed, `127.0.0.1:${link.port} did not answer within 2 s`);
    one?.release();
    link.restore();
    const again = await pool.connect();
    assert.not(clients.includes(again));
    assert.equal((await again.query('SELECT 2 AS two')).rows, [{ two: 2 }]);
    again.release();

    // The server is stopped while no query is running.
    await cluster.server.stop();
    await until(() => primary.known === null, 'the end of the idle session is noticed');
    await cluster.server.start();
    const last = await pool.connect();
    last.release();
  } finally {
    await pool.end();
  }
});

runUnless(WITHOUT_POSTGRES, test, 'failover');
