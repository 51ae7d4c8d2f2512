// The metadata store of a simulation: one SQLite database in memory, whose statements are events.

import sqlite from 'node-sqlite3-wasm';
import { ServiceError } from '../../src/base/errors.js';
import type { Binding, Database, Queries } from '../../src/metadata/database.js';
import { MetadataFaults } from '../../src/metadata/faults.js';
import { migrate } from '../../src/metadata/migrations.js';
import type { Process, World } from './world.js';

export interface Statement {
  readonly sql: string;
  readonly bindings: readonly Binding[];
}

export type Row = Readonly<Record<string, unknown>>;

/** A committed transaction, with the statements of it that write. */
export interface Commit {
  readonly process: Process;
  readonly writes: readonly Statement[];
}

/** Time that a transaction waits for those of other processes, as in PostgreSQL and SQLite. */
const LOCK_MS = 15_000;
const SELECT = /^\s*SELECT\b/i;
const WRITE = /^\s*(INSERT|UPDATE|DELETE)\b/i;

/** The tables of all simulations of this process: making them takes longer than emptying them. */
let made: Promise<Tables> | undefined;

/** Statements over the database, each run at once. */
class Tables {
  readonly #database = new sqlite.Database(':memory:');
  readonly #prepared = new Map<string, ReturnType<sqlite.Database['prepare']>>();
  #first: readonly Statement[] = [];
  #names: readonly string[] = [];
  readonly #mentioned = new Map<string, readonly string[]>();
  /** Rows of SELECTs: most of what processes ask for has not changed since it was asked for last. */
  readonly #read = new Map<string, { readonly atWrite: number; readonly rows: readonly Row[] }>();
  readonly #writtenAt = new Map<string, number>();
  #writes = 0;

  static async make(): Promise<Tables> {
    const tables = new Tables();
    const faults = new MetadataFaults();
    const rows: Queries['rows'] = async <Found extends object>(sql: string, bindings: readonly Binding[] = []) =>
      tables.run(sql, bindings) as unknown as readonly Found[];
    await migrate({ ...UNLIMITED, faults, rows, transaction: (work) => work({ rows, faults }), close: async () => undefined });
    const names = tables.run("SELECT name FROM sqlite_master WHERE type = 'table'", []).map(({ name }) => String(name));
    tables.#names = names;
    tables.#mentioned.clear();
    const written = names.flatMap((name) => tables.run(`SELECT * FROM ${name}`, []).map((row) => insertOf(name, row)));
    tables.#first = [...names.map((name) => ({ sql: `DELETE FROM ${name}`, bindings: [] })), ...written];
    return tables;
  }

  /** Empties them, but for what the migrations wrote. */
  reset(): void {
    for (const { sql, bindings } of this.#first) this.run(sql, bindings);
    this.#read.clear();
  }

  run(sql: string, bindings: readonly Binding[]): readonly Row[] {
    const tables = this.#tablesIn(sql);
    if (!SELECT.test(sql)) {
      this.#writes++;
      for (const table of sql === 'ROLLBACK' ? this.#names : tables) this.#writtenAt.set(table, this.#writes);
      return this.#execute(sql, bindings);
    }
    if (tables.length === 0) return this.#execute(sql, bindings);
    const key = `${sql} ${JSON.stringify(bindings, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))}`;
    const known = this.#read.get(key);
    const isCurrent = known !== undefined && tables.every((table) => (this.#writtenAt.get(table) ?? 0) <= known.atWrite);
    const rows = isCurrent ? known.rows : this.#execute(sql, bindings);
    if (!isCurrent) this.#read.set(key, { atWrite: this.#writes, rows });
    return rows.map((row) => ({ ...row }));
  }

  /** Tables whose names occur in a statement. */
  #tablesIn(sql: string): readonly string[] {
    let found = this.#mentioned.get(sql);
    if (found === undefined || this.#names.length === 0) {
      found = this.#names.filter((name) => new RegExp(`\\b${name}\\b`).test(sql));
      this.#mentioned.set(sql, found);
    }
    return found;
  }

  #execute(sql: string, bindings: readonly Binding[]): readonly Row[] {
    let statement = this.#prepared.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      this.#prepared.set(sql, statement);
    }
    const rows = statement.all([...bindings]) as Record<string, unknown>[];
    for (const row of rows) for (const name in row) if (typeof row[name] === 'bigint') row[name] = Number(row[name]);
    return rows;
  }
}

function insertOf(table: string, row: Row): Statement {
  const names = Object.keys(row);
  return {
    sql: `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
    bindings: Object.values(row) as Binding[],
  };
}

const UNLIMITED = { schemaStatement: (sql: string) => sql, counterStatement: () => null, createsTables: true } as const;

interface Transaction {
  readonly process: Process;
  readonly writes: Statement[];
  isOpen: boolean;
}

export interface StoreOptions {
  /** Told of each commit before anybody else sees it. */
  readonly committed: (commit: Commit) => void;
  /** Rows of a statement as the process is shown them: variants that are broken on purpose show others. */
  readonly shown: (process: Process, statement: Statement, rows: readonly Row[]) => readonly Row[];
  /** Share of commits whose answer is lost. */
  readonly lostAnswers: () => number;
  /** Whether the process reaches the database. */
  readonly isReached: (process: Process) => boolean;
}

/**
 * The store, with one transaction at a time. A statement takes a while to get there and its answer a while to come back; what else reads
 * waits for the end of an open transaction, which is as if it had come before or after it.
 */
export class Store {
  readonly #world: World;
  readonly #tables: Tables;
  readonly #options: StoreOptions;
  #open: Transaction | undefined;
  readonly #waiting: (() => void)[] = [];

  static async open(world: World, options: StoreOptions): Promise<Store> {
    made ??= Tables.make();
    const tables = await made;
    tables.reset();
    return new Store(world, tables, options);
  }

  private constructor(world: World, tables: Tables, options: StoreOptions) {
    this.#world = world;
    this.#tables = tables;
    this.#options = options;
  }

  /** Committed rows, for the checks, which look between two transactions only. */
  peek(sql: string, bindings: readonly Binding[] = []): readonly Row[] {
    return this.#tables.run(sql, bindings);
  }

  /** The database as a process has it. */
  databaseOf(process: Process): Database {
    const faults = new MetadataFaults();
    let last: Promise<unknown> = Promise.resolve();
    const transaction = <Result>(work: (queries: Queries) => Promise<Result>): Promise<Result> => {
      const result = last.then(() => this.#transact(process, faults, work));
      last = result.catch(() => undefined);
      return result;
    };
    process.onEnd(() => this.#abandon(process));
    const rows: Queries['rows'] = <Found extends object>(sql: string, bindings: readonly Binding[] = []) =>
      WRITE.test(sql)
        ? transaction((queries) => queries.rows<Found>(sql, bindings))
        : this.#ask(process, () => this.#shown<Found>(process, { sql, bindings }));
    return { ...UNLIMITED, faults, rows, transaction, close: async () => undefined };
  }

  #shown<Found extends object>(process: Process, statement: Statement): readonly Found[] {
    const rows = this.#tables.run(statement.sql, statement.bindings);
    return this.#options.shown(process, statement, rows) as unknown as readonly Found[];
  }

  #delay(): number {
    const { chance } = this.#world;
    return chance.is(0.03) ? chance.between(5, 1500) : chance.between(0, 4);
  }

  /** Asks and answers over a connection; work is done while no transaction is open. */
  #ask<Result>(process: Process, work: () => Result): Promise<Result> {
    return new Promise((resolve, reject) => {
      const fail = (error: unknown): void => this.#world.after(this.#delay(), () => process.deliver(() => reject(error)));
      const run = (): void => {
        try {
          const result = work();
          this.#world.after(this.#delay(), () => process.deliver(() => resolve(result)));
        } catch (error) {
          fail(error);
        }
      };
      this.#world.after(this.#delay(), () => {
        if (!this.#options.isReached(process)) this.#world.after(this.#world.chance.between(100, 2500), () => fail(unreachable()));
        else if (this.#open === undefined) run();
        else this.#waiting.push(run);
      });
    });
  }

  async #transact<Result>(process: Process, faults: MetadataFaults, work: (queries: Queries) => Promise<Result>): Promise<Result> {
    const transaction = await this.#begin(process);
    const { chance } = this.#world;
    const rows: Queries['rows'] = async <Found extends object>(sql: string, bindings: readonly Binding[] = []) => {
      if (chance.is(0.05)) await process.sleep(this.#delay());
      if (!transaction.isOpen || !this.#options.isReached(process)) {
        this.#end(transaction, 'ROLLBACK');
        throw unreachable();
      }
      if (WRITE.test(sql)) transaction.writes.push({ sql, bindings });
      return this.#shown<Found>(process, { sql, bindings });
    };
    let result: Result;
    try {
      result = await work({ rows, faults });
    } catch (error) {
      this.#end(transaction, 'ROLLBACK');
      throw error;
    }
    return this.#commit(transaction, result);
  }

  #begin(process: Process): Promise<Transaction> {
    return new Promise((resolve, reject) => {
      let isLate = false;
      const begin = (): void => {
        if (isLate || !process.isAlive) return this.#next();
        isLate = true;
        this.#tables.run('BEGIN', []);
        const transaction: Transaction = { process, writes: [], isOpen: true };
        this.#open = transaction;
        this.#world.after(0, () => process.deliver(() => resolve(transaction)));
      };
      const giveUp = (): void | false => {
        if (isLate) return false;
        isLate = true;
        return process.deliver(() => reject(new ServiceError('unavailable', 'metadata: another transaction holds the lock')));
      };
      this.#world.after(this.#delay(), () => {
        if (!this.#options.isReached(process)) {
          this.#world.after(this.#world.chance.between(100, 2500), () => process.deliver(() => reject(unreachable())));
          return;
        }
        this.#world.after(LOCK_MS, giveUp);
        if (this.#open === undefined) begin();
        else this.#waiting.push(begin);
      });
    });
  }

  #commit<Result>(transaction: Transaction, result: Result): Promise<Result> {
    const { process } = transaction;
    return new Promise((resolve, reject) => {
      const fail = (): void => {
        process.deliver(() => reject(unreachable()));
      };
      this.#world.after(this.#world.chance.between(0, 2), () => {
        if (!transaction.isOpen || !this.#options.isReached(process)) {
          this.#end(transaction, 'ROLLBACK');
          fail();
          return;
        }
        this.#end(transaction, 'COMMIT');
        if (this.#world.chance.is(this.#options.lostAnswers())) {
          this.#world.note(`${process.name} never hears of its commit`);
          this.#world.after(this.#world.chance.between(1, 3000), fail);
        } else this.#world.after(this.#delay(), () => process.deliver(() => resolve(result)));
      });
    });
  }

  #end(transaction: Transaction, how: 'COMMIT' | 'ROLLBACK'): void {
    if (!transaction.isOpen) return;
    transaction.isOpen = false;
    this.#tables.run(how, []);
    this.#open = undefined;
    if (how === 'COMMIT' && transaction.writes.length > 0) this.#options.committed(transaction);
    this.#next();
  }

  /** Statements that waited run until one of them is a transaction. */
  #next(): void {
    while (this.#open === undefined) {
      const run = this.#waiting.shift();
      if (run === undefined) return;
      run();
    }
  }

  /** The server sees that the connection is gone. */
  #abandon(process: Process): void {
    const transaction = this.#open;
    if (transaction?.process === process) this.#world.after(1, () => this.#end(transaction, 'ROLLBACK'));
  }
}

const unreachable = (): ServiceError => new ServiceError('unavailable', 'metadata: the connection is lost');
