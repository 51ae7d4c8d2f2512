import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';

/** Most answers that are kept for comparing. */
const KEPT_MAX = 3000;

/** Compares answers with those of DuckDB over the same rows. */
export class AnswerCheck {
  readonly #instance: DuckDBInstance;
  readonly #connection: DuckDBConnection;
  readonly #answers: { readonly query: string; readonly answer: string }[] = [];

  private constructor(instance: DuckDBInstance, connection: DuckDBConnection) {
    this.#instance = instance;
    this.#connection = connection;
  }

  /** @param csv  the rows of the table `wiki` */
  static async over(csv: string): Promise<AnswerCheck> {
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    await connection.run(`SET TimeZone = 'UTC'; SET threads = 1; SET default_null_order = 'nulls_first'`);
    await connection.run(
      `CREATE TABLE wiki AS SELECT * FROM read_csv('${csv}', header = true, types = {'__time': 'TIMESTAMP', 'isRobot': 'VARCHAR'})`,
    );
    return new AnswerCheck(instance, connection);
  }

  add(query: string, answer: string): void {
    if (this.#answers.length < KEPT_MAX) this.#answers.push({ query, answer });
  }

  /**
   * @returns how many answers were compared
   * @throws Error with the first that differs
   */
  async compare(): Promise<number> {
    for (const { query, answer } of this.#answers) {
      const expected = (await this.#connection.runAndReadAll(query)).getRows();
      const found = JSON.parse(answer) as unknown[][];
      const same =
        expected.length === found.length && expected.every((row, at) => row.every((cell, column) => alike(cell, found[at]?.[column])));
      if (!same) throw new Error(`${query}\nfound ${answer.slice(0, 1000)}\nDuckDB ${JSON.stringify(expected, plain).slice(0, 1000)}`);
    }
    return this.#answers.length;
  }

  close(): void {
    this.#connection.closeSync();
    this.#instance.closeSync();
  }
}

function alike(expected: unknown, found: unknown): boolean {
  const wanted = typeof expected === 'bigint' ? Number(expected) : (expected ?? null);
  if (typeof wanted === 'number' && typeof found === 'number') return Math.abs(wanted - found) <= 1e-9 * Math.max(1, Math.abs(wanted));
  return wanted === (found ?? null);
}

function plain(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}
