// Open connections and statements of JDBC drivers.

import { ServiceError } from '../../base/errors.js';
import type { Identity } from '../../model/access/identity.js';
import type { Cursor } from './cursor.js';

export interface AvaticaLimits {
  readonly maxConnections: number;
  readonly maxStatementsPerConnection: number;
  /** Rows of one answer at most; -1: any number. */
  readonly maxRowsPerFrame: number;
  /** Smallest frame; smaller requests are raised to it. */
  readonly minRowsPerFrame: number;
  /** A connection that nobody used for so long is closed. */
  readonly connectionIdleTimeoutMs: number;
  readonly fetchTimeoutMs: number;
}

/** The connection is unknown: never opened, closed, or expired. Clients that may reconnect do so. */
export class NoSuchConnection extends ServiceError {
  constructor(id: string) {
    super('not_found', `connectionId: no connection ${id} is open; it was closed, or nobody used it for too long`);
  }
}

/** A statement of a connection, from its creation to its end. */
export interface Statement {
  readonly id: number;
  /** Arguments of `prepare`. */
  prepared: { readonly sql: string; readonly parameterCount: number; readonly rowsMax: number | null } | null;
  /** Cursor of the last execution. */
  cursor: Cursor | null;
}

/** A session of a client, over any number of requests. */
export class Connection {
  readonly id: string;
  /** The context of each of its statements. */
  readonly context: Readonly<Record<string, unknown>>;
  properties: Readonly<Record<string, unknown>> = {};
  readonly #statements = new Map<number, Statement>();
  readonly #statementsMax: number;
  #lastStatement = 0;

  constructor(id: string, context: Readonly<Record<string, unknown>>, statementsMax: number) {
    this.id = id;
    this.context = context;
    this.#statementsMax = statementsMax;
  }

  nextStatementId(): number {
    return ++this.#lastStatement;
  }

  /** @throws ServiceError `resource_limit` */
  createStatement(): Statement {
    if (this.#statements.size >= this.#statementsMax)
      throw new ServiceError(
        'resource_limit',
        `connection ${this.id} has ${this.#statements.size} open statements, as many as svc.sql.avatica.maxStatementsPerConnection allows`,
      );
    const statement: Statement = { id: this.nextStatementId(), prepared: null, cursor: null };
    this.#statements.set(statement.id, statement);
    return statement;
  }

  find(statementId: number): Statement | undefined {
    return this.#statements.get(statementId);
  }

  closeStatement(statementId: number): void {
    this.#statements.get(statementId)?.cursor?.close();
    this.#statements.delete(statementId);
  }

  close(): void {
    for (const id of [...this.#statements.keys()]) this.closeStatement(id);
  }
}

interface Held {
  readonly connection: Connection;
  /** Who opened it: to others it is not there. */
  readonly owner: Identity;
  /** Requests that are under way: a connection in use does not expire. */
  users: number;
  expiry: NodeJS.Timeout | undefined;
}

function isSameUser(one: Identity, other: Identity): boolean {
  return one.user === other.user && one.authorizer === other.authorizer;
}

/** The open connections of this broker. */
export class Connections {
  readonly #limits: AvaticaLimits;
  readonly #held = new Map<string, Held>();

  constructor(limits: AvaticaLimits) {
    this.#limits = limits;
  }

  /** @throws ServiceError `conflict` for an id that is taken, `resource_limit` */
  open(id: string, context: Readonly<Record<string, unknown>>, owner: Identity): void {
    const { maxConnections, maxStatementsPerConnection } = this.#limits;
    if (this.#held.has(id)) throw new ServiceError('conflict', `connectionId: a connection ${id} is open already`);
    if (this.#held.size >= maxConnections)
      throw new ServiceError('resource_limit', `${this.#held.size} connections are open, as many as svc.sql.avatica.maxConnections allows`);
    const held: Held = { connection: new Connection(id, context, maxStatementsPerConnection), owner, users: 0, expiry: undefined };
    this.#held.set(id, held);
    this.#rest(held);
  }

  /**
   * Works with a connection, which lives at least as long as the work takes.
   * @throws NoSuchConnection
   */
  async use<Result>(user: Identity, id: string, work: (connection: Connection) => Promise<Result> | Result): Promise<Result> {
    const held = this.#held.get(id);
    if (held === undefined || !isSameUser(held.owner, user)) throw new NoSuchConnection(id);
    clearTimeout(held.expiry);
    held.users++;
    try {
      return await work(held.connection);
    } finally {
      held.users--;
      if (held.users === 0 && this.#held.get(id) === held) this.#rest(held);
    }
  }

  /** Another's connection stays as it is. */
  closeOf(user: Identity, id: string): void {
    const held = this.#held.get(id);
    if (held !== undefined && isSameUser(held.owner, user)) this.close(id);
  }

  /** An unknown one is closed already. */
  close(id: string): void {
    const held = this.#held.get(id);
    if (held === undefined) return;
    clearTimeout(held.expiry);
    this.#held.delete(id);
    held.connection.close();
  }

  closeAll(): void {
    for (const id of [...this.#held.keys()]) this.close(id);
  }

  /** A timer of its own keeps no process alive. */
  #rest(held: Held): void {
    held.expiry = setTimeout(() => this.close(held.connection.id), this.#limits.connectionIdleTimeoutMs);
    held.expiry.unref();
  }
}
