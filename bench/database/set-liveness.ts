/**
 * Sets back the time at which the daemon of a database was last seen alive, and leaves the write-ahead log as it is.
 *
 *   node bench/database/set-liveness.ts FILE INSTANT
 */
import Database from 'better-sqlite3';
import { setLiveness } from './statements.ts';

const [, , path = '', instant = ''] = process.argv;
const db = new Database(path, { fileMustExist: true });
db.pragma('wal_autocheckpoint = 0');
setLiveness(db, Number(instant));
process.kill(process.pid, 'SIGKILL');
