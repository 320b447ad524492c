/**
 * Several prepared statements that are sent, run and answered together. Statements that are pipelined one by one are
 * answered one by one, and each answer wakes both sides: for small statements, that costs more than running them.
 */
import pg from 'pg';
import { type Parameter, type Statement, TYPES, toParameter } from './dialect.ts';

/** A statement with its values. */
export interface Asked {
  statement: Statement;
  values: readonly Parameter[];
}

/** The connection that a query of `pg` writes to; the types of `pg` do not describe it. */
interface Wire {
  parsedStatements: Readonly<Record<string, string | undefined>>;
  bind(bound: {
    statement: string;
    values: readonly unknown[];
    valueMapper: (value: Parameter) => unknown;
  }): void;
  describe(what: { type: 'P' }): void;
  execute(portal: object): void;
  sync(): void;
}

class Counted extends pg.Query {
  /** One result for each statement. If one of them fails, those after it are not run. */
  readonly answer: Promise<pg.QueryResult[]>;
  /** How many have been run, which is known even if an error followed the last of them. */
  completed = 0;

  constructor(text: string) {
    const { promise, resolve, reject } = Promise.withResolvers<pg.QueryResult[]>();
    super({ text, types: TYPES }, (error, results) => {
      if (error) reject(error);
      else resolve([results].flat() as unknown as pg.QueryResult[]);
    });
    this.answer = promise;
  }

  /** Called by `pg`. */
  handleCommandComplete(message: unknown): void {
    this.completed += 1;
    BASE.handleCommandComplete.call(this, message);
  }
}

/** Commits what was sent before it. */
export class Commit extends Counted {
  constructor() {
    super('COMMIT');
  }
}

export class Batch extends Counted {
  readonly #asked: readonly Asked[];

  /** Whether the connection has already prepared all of them, by running each of them alone once. */
  static isReady(client: pg.ClientBase, asked: readonly Asked[]): boolean {
    const { parsedStatements } = wireOf(client);
    return asked.every(({ statement: { name } }) => parsedStatements[name] !== undefined);
  }

  constructor(asked: readonly Asked[]) {
    super('several');
    this.#asked = asked;
  }

  override submit = (connection: unknown): void => {
    const wire = connection as Wire;
    for (const { statement, values } of this.#asked) {
      wire.bind({ statement: statement.name, values, valueMapper });
      wire.describe({ type: 'P' });
      wire.execute({});
    }
    // After a failed statement, the server skips everything up to this sync.
    wire.sync();
  };
}

const BASE = pg.Query.prototype as unknown as { handleCommandComplete(message: unknown): void };

/** Arrays are bound in their binary form, as `bigintArray` and the others make it. */
function valueMapper(value: Parameter): unknown {
  if (value === null || Buffer.isBuffer(value)) return value;
  if (typeof value === 'object') throw new TypeError('only what has its binary form is sent together');
  return String(toParameter(value));
}

function wireOf(client: pg.ClientBase): Wire {
  return (client as unknown as { connection: Wire }).connection;
}
