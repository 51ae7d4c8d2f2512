// Copies a metadata store into an empty one, table by table.

import { ServiceError } from '../base/errors.js';
import { own } from '../base/names.js';
import { type Binding, type Database, placeholders, type Queries } from './database.js';
import { migrate, requireCurrentSchema } from './migrations.js';

interface Table {
  readonly name: string;
  /** Columns that tell rows apart, by which a table is read in parts; none: it is small, and read whole. */
  readonly key: readonly string[];
  /** Column of numbers that count by themselves. */
  readonly counter?: string;
  /** A new store has its one row, with this in `value`. */
  readonly first?: number;
}

/** Tables in the order that references between them need. Announcements are of processes that run, and are not copied. */
export const TABLES: readonly Table[] = [
  { name: 'revision', key: [], first: 0 },
  { name: 'segments', key: ['id'] },
  { name: 'data_sources', key: ['name'] },
  { name: 'tasks', key: ['id'] },
  { name: 'locks', key: [] },
  { name: 'carried_segments', key: ['task_id', 'segment_id'] },
  { name: 'publications', key: ['task_id'] },
  { name: 'killed_partitions', key: ['data_source', 'start_ms', 'end_ms', 'version'] },
  { name: 'pending_segments', key: ['data_source', 'sequence', 'asked_start_ms', 'asked_end_ms'] },
  { name: 'rules', key: ['data_source'] },
  { name: 'config', key: ['name'] },
  { name: 'audit', key: ['sequence'], counter: 'sequence' },
  { name: 'leaders', key: ['role'] },
  { name: 'supervisors', key: ['sequence'], counter: 'sequence' },
  { name: 'stream_offsets', key: ['supervisor_id'] },
  { name: 'stream_publications', key: ['sequence'] },
  { name: 'stream_resets', key: ['supervisor_id'] },
  { name: 'access_records', key: ['kind', 'owner', 'name'] },
  { name: 'access_revision', key: [], first: 0 },
];

/** Tables that are not copied. */
export const OWN_TABLES: readonly string[] = ['announcements', 'schema_version'];

const ROWS_PER_STATEMENT = 200;

export interface CopyProgress {
  readonly table: string;
  /** Rows that are copied, and all that there are. */
  readonly rows: number;
  readonly rowsMax: number;
}

type Row = Readonly<Record<string, Binding>>;

/**
 * Copies all or nothing. Nobody writes to either store meanwhile.
 * @returns  rows by table
 * @throws   ServiceError `conflict` when the target holds anything, `unsupported` when the source is of another version
 */
export async function copyStore(
  source: Database,
  target: Database,
  onProgress: (progress: CopyProgress) => void,
): Promise<ReadonlyMap<string, number>> {
  await requireCurrentSchema(source);
  await migrate(target);
  return source.transaction((from) =>
    target.transaction(async (to) => {
      const counts = new Map<string, number>();
      for (const { name } of TABLES) counts.set(name, await countOf(from, name));
      const rowsMax = [...counts.values()].reduce((sum, count) => sum + count, 0);
      for (const table of TABLES) await requireEmpty(to, table);
      let rows = 0;
      for (const table of TABLES) {
        const { name } = table;
        if (table.first !== undefined) await to.rows(`DELETE FROM ${name}`);
        onProgress({ table: name, rows, rowsMax });
        for await (const part of partsOf(from, table)) {
          await insert(to, name, part);
          rows += part.length;
          onProgress({ table: name, rows, rowsMax });
        }
        const [expected, found] = [counts.get(name), await countOf(to, name)];
        if (found !== expected)
          throw new ServiceError('internal', `metadata: ${name} has ${found} rows after the copy, expected ${expected}`);
        if (table.counter !== undefined) {
          const statement = target.counterStatement(name, table.counter);
          if (statement !== null) await to.rows(statement);
        }
      }
      return counts;
    }),
  );
}

async function requireEmpty(queries: Queries, { name, first }: Table): Promise<void> {
  const count =
    first === undefined
      ? await countOf(queries, name)
      : ((await queries.rows<{ count: number }>(`SELECT COUNT(*) AS count FROM ${name} WHERE value <> ?`, [first]))[0]?.count ?? 0);
  if (count > 0) throw new ServiceError('conflict', `the metadata store to copy into is in use: ${name} has rows; expected a new one`);
}

async function* partsOf(queries: Queries, { name, key }: Table): AsyncGenerator<readonly Row[]> {
  if (key.length === 0) {
    const rows = await queries.rows<Row>(`SELECT * FROM ${name}`);
    for (let at = 0; at < rows.length; at += ROWS_PER_STATEMENT) yield rows.slice(at, at + ROWS_PER_STATEMENT);
    return;
  }
  const columns = key.join(', ');
  for (let last: Row | undefined; ; ) {
    const after = last;
    const where = after === undefined ? '' : `WHERE (${columns}) > (${placeholders(key)})`;
    const bindings = after === undefined ? [] : key.map((column) => own(after, column) ?? null);
    const rows: readonly Row[] = await queries.rows<Row>(
      `SELECT * FROM ${name} ${where} ORDER BY ${columns} LIMIT ${ROWS_PER_STATEMENT}`,
      bindings,
    );
    if (rows.length > 0) yield rows;
    if (rows.length < ROWS_PER_STATEMENT) return;
    last = rows.at(-1);
  }
}

async function insert(queries: Queries, table: string, rows: readonly Row[]): Promise<void> {
  const [first] = rows;
  if (first === undefined) return;
  const columns = Object.keys(first);
  await queries.rows(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${rows.map(() => `(${placeholders(columns)})`).join(', ')}`,
    rows.flatMap((row) => columns.map((column) => own(row, column) ?? null)),
  );
}

async function countOf(queries: Queries, table: string): Promise<number> {
  return (await queries.rows<{ count: number }>(`SELECT COUNT(*) AS count FROM ${table}`))[0]?.count ?? 0;
}
