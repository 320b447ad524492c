/** Locks the rows of all snitches in a transaction, and commits it on SIGUSR2. */
import pg from 'pg';
import { Session } from '../../../src/store/postgres/session.ts';

const pool = new pg.Pool(JSON.parse(process.env.SETTINGS ?? '{}') as pg.PoolConfig);
pool.on('error', () => {});
const session = await Session.open(pool, Number(process.argv[2]));
await session.control('BEGIN');
await session.control('SELECT id FROM snitch_states FOR UPDATE');
process.on('SIGUSR2', () => {
  session.commit().then(
    () => console.log('committed'),
    (error: Error) => console.log(error.constructor.name),
  );
});
console.log('holds');
setInterval(() => {}, 1_000);
