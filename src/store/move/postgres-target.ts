/** A database that must be empty, and is filled in one transaction. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Session } from '../postgres/hosts/session.ts';
import { migrateInTransaction, NewerSchema } from '../postgres/migrate.ts';
import { NODES } from '../postgres/nodes/schema.ts';
import { MoveFailed } from './move.ts';
import { haveAlone, refuseLiving, refuseUnfollowed, tablesIn } from './postgres-session.ts';
import { LEFT, listOf, MOVED } from './tables.ts';

const OWN: readonly string[] = [...MOVED, ...Object.keys(LEFT)];

/**
 * Begins the transaction and creates missing tables in it.
 *
 * @throws MoveFailed if the database is not empty, or is in use
 */
export async function begin(session: Session, shown: string): Promise<void> {
  await haveAlone(session, shown);
  await refuseUnfollowed(session, shown);
  const { client } = session;
  await client.query('BEGIN');
  const before = await tablesIn(session);
  const foreign = [...before].filter((name) => !OWN.includes(name));
  if (before.has('schema_version')) await refuseNewer(session, shown);
  else if (before.size > 0)
    throw notEmpty(shown, `it has tables that Snitch did not make (${some([...before])})`);
  if (foreign.length > 0) throw notEmpty(shown, `it has tables that are not Snitch's (${some(foreign)})`);
  // Checked first because the locks would hold up living nodes, and again after the locks.
  if (before.has('nodes')) await refuseLiving(session, shown);
  await migrateInTransaction(client, NODES);
  // From here on, anybody who wants to write waits, and then finds everything or nothing.
  await client.query(`LOCK TABLE ${listOf(OWN)} IN EXCLUSIVE MODE`);
  await refuseLiving(session, shown);
  await refuseRows(session, shown);
}

async function refuseNewer({ client }: Session, shown: string): Promise<void> {
  const { migrations } = await import('../migrations/index.ts');
  const { rows } = await client.query<{ version: number }>('SELECT version FROM schema_version');
  const version = rows[0]?.version ?? 0;
  if (version <= migrations.length) return;
  const { message } = new NewerSchema(version, migrations.length);
  throw new MoveFailed(`${shown}: ${message}`);
}

async function refuseRows({ client }: Session, shown: string): Promise<void> {
  const counted = MOVED.map((name) => `SELECT '${name}' AS name WHERE EXISTS (SELECT 1 FROM "${name}")`);
  const { rows } = await client.query<{ name: string }>(counted.join(' UNION ALL '));
  const filled = rows.map(({ name }) => name);
  if (filled.length === 0) return;
  const isLived = filled.includes('cases')
    ? 'a daemon has begun there, or something was moved there before'
    : '';
  throw notEmpty(shown, `it has rows in ${some(filled)}${isLived && `: ${isLived}`}`);
}

function some(names: readonly string[]): string {
  const more = names.length - 5;
  return `${names.slice(0, 5).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function notEmpty(shown: string, why: string): MoveFailed {
  return new MoveFailed(
    `${shown} is not empty: ${why}. A move replaces nothing: create an empty database with \`createdb\`, and name that`,
  );
}

/**
 * As if a node had ended when the old database's daemon was last alive: the first node that starts finds that nobody
 * has accepted check-ins since then, and opens a blind window for that time.
 */
export async function carryLiveness({ client }: Session, at: number, version: string): Promise<void> {
  await client.query(
    `INSERT INTO nodes (id, name, version, started_at, alive_at, stopped_at) VALUES ($1, $2, $3, $4, $4, $4)`,
    [randomUUID(), `${hostname()} (moved)`, version, at],
  );
}

/** The commit was cut short while it waited for a standby. */
const UNKNOWN = /^(01000|57P01)$/;

/** @throws MoveFailed if nothing was committed, or if that is unknown */
export async function commit({ client }: Session, shown: string): Promise<void> {
  let warned: string | null = null;
  const onNotice = ({ code, message }: { code?: string | undefined; message?: string | undefined }) => {
    if (UNKNOWN.test(code ?? '')) warned = message ?? 'a warning';
  };
  client.on('notice', onNotice);
  const unknown = (why: unknown) =>
    new MoveFailed(
      `whether ${shown} has everything is not known, because the answer to the commit is missing (${String(why)}): move again. If the database is refused then because it is not empty, it has everything`,
      'unreachable',
      why,
    );
  try {
    const { command } = await client.query('COMMIT').catch((error: unknown) => {
      throw unknown(error instanceof Error ? error.message : error);
    });
    if (command !== 'COMMIT')
      throw new MoveFailed(`${shown} did not commit, and is empty as before: move again`);
    if (warned !== null) throw unknown(warned);
  } finally {
    client.off('notice', onNotice);
  }
}
