/**
 * Several prepared statements that are sent, run and answered together. Statements that are pipelined one by one are
 * answered one by one, and each answer wakes both sides; with small statements that costs more than they do.
 */
import pg from 'pg';
import { type Parameter, type Statement, TYPES, toParameter } from './dialect.ts';

/** A statement with its values. */
export interface Asked {
  statement: Statement;
  values: readonly Parameter[];
}

/** What a query of `pg` writes to, which its types do not tell as it is. */
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
  /** One result for each statement. Where one of them fails, those behind it are not run. */
  readonly answer: Promise<pg.QueryResult[]>;
  /** How many have been run, which is known even where an error came behind the last of them. */
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

/** A commit of what was sent before. */
export class Commit extends Counted {
  constructor() {
    super('COMMIT');
  }
}

export class Batch extends Counted {
  readonly #asked: readonly Asked[];

  /** Whether the connection has prepared all of them already, by asking for each of them alone. */
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
    // Where one failed, the server passes over all that follows until this.
    wire.sync();
  };
}

const BASE = pg.Query.prototype as unknown as { handleCommandComplete(message: unknown): void };

/** Arrays are bound in their binary form, which `bigintArray` and the others make. */
function valueMapper(value: Parameter): unknown {
  if (value === null || Buffer.isBuffer(value)) return value;
  if (typeof value === 'object') throw new TypeError('only what has its binary form is sent together');
  return String(toParameter(value));
}

function wireOf(client: pg.ClientBase): Wire {
  return (client as unknown as { connection: Wire }).connection;
}
