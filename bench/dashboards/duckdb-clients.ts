import { DuckDBInstance } from '@duckdb/node-api';

/*
 * Clients of DuckDB in a process of their own, which was started with a thread of libuv for each of them: a message says how many ask
 * which statements for how long, and the answer is how long each took.
 */
export interface ClientsRequest {
  readonly database: string;
  readonly threads: number;
  readonly clients: number;
  readonly seconds: number;
  readonly statements: readonly string[];
}

/** Statement by its place, and milliseconds. */
export type Taken = readonly [statement: number, milliseconds: number];

process.once('message', (request: ClientsRequest) => {
  run(request).then(
    (taken) => process.send?.(taken, () => process.exit()),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});

async function run({ database, threads, clients, seconds, statements }: ClientsRequest): Promise<readonly Taken[]> {
  const instance = await DuckDBInstance.create(database, { access_mode: 'READ_ONLY', threads: String(threads) });
  const connections = await Promise.all(Array.from({ length: clients }, () => instance.connect()));
  const taken: Taken[] = [];
  let next = 0;
  const endMs = performance.now() + seconds * 1000;
  await Promise.all(
    connections.map(async (connection) => {
      while (performance.now() < endMs) {
        const statement = next++ % statements.length;
        const startMs = performance.now();
        await connection.runAndReadAll(statements[statement] ?? '');
        taken.push([statement, performance.now() - startMs]);
      }
    }),
  );
  return taken;
}
