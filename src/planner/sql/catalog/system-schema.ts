import type { PrimitiveType } from '../../../model/schema.js';
import type { PlannedStatement } from '../../../model/statement.js';
import type { SqlSchema } from './schema.js';

export const SYSTEM_SCHEMA = 'sys';

export type SystemCell = string | bigint | null;
/** Values in the order of the table's columns. */
export type SystemRow = readonly SystemCell[];
type Column = readonly [name: string, type: PrimitiveType];

const text = (...names: readonly string[]): readonly Column[] => names.map((name) => [name, 'STRING']);
const long = (...names: readonly string[]): readonly Column[] => names.map((name) => [name, 'LONG']);

/** What the cluster knows of itself, as tables; truth values are 1 and 0. */
export const SYSTEM_TABLES = {
  segments: [
    ...text('segment_id', 'datasource', 'start', 'end'),
    ...long('size'),
    ...text('version'),
    ...long('partition_num', 'num_replicas', 'num_rows', 'is_active', 'is_published', 'is_available', 'is_realtime', 'is_overshadowed'),
    ...text('shard_spec', 'dimensions', 'metrics', 'last_compaction_state'),
    ...long('replication_factor'),
  ],
  servers: [
    ...text('server', 'host'),
    ...long('plaintext_port', 'tls_port'),
    ...text('server_type', 'tier'),
    ...long('current_size', 'max_size', 'is_leader'),
    ...text('start_time', 'version', 'build_revision', 'labels'),
    ...long('available_processors', 'total_memory'),
  ],
  server_segments: text('server', 'segment_id'),
  tasks: [
    ...text('task_id', 'group_id', 'type', 'datasource', 'created_time', 'queue_insertion_time', 'status', 'runner_status'),
    ...long('duration'),
    ...text('location', 'host'),
    ...long('plaintext_port', 'tls_port'),
    ...text('error_msg'),
  ],
  supervisors: [
    ...text('supervisor_id', 'datasource', 'state', 'detailed_state'),
    ...long('healthy'),
    ...text('type', 'source'),
    ...long('suspended'),
    ...text('spec'),
  ],
  server_properties: text('server', 'service_name', 'node_roles', 'property', 'value'),
  queries: text('id', 'engine', 'state', 'info'),
} as const satisfies Readonly<Record<string, readonly Column[]>>;

export type SystemTableName = keyof typeof SYSTEM_TABLES;
export const SYSTEM_TABLE_NAMES = Object.keys(SYSTEM_TABLES) as readonly SystemTableName[];

export function isSystemTable(name: string): name is SystemTableName {
  return Object.hasOwn(SYSTEM_TABLES, name);
}

/**
 * Plans a statement that may read `sys`. Its rows are asked of other processes, and planning is pure and synchronous:
 * so the statement is planned over empty tables first, which tells their names, and once more over the rows. Reading
 * them when a source is opened would let one table differ between two places of a statement, and hide its size from
 * the order of joins. Statements without such a table are planned once.
 */
export async function planOverSystem(
  schema: SqlSchema,
  fetch: (table: SystemTableName) => Promise<readonly SystemRow[]>,
  plan: (schema: SqlSchema) => PlannedStatement | Promise<PlannedStatement>,
): Promise<PlannedStatement> {
  const asked = new Set<SystemTableName>();
  const over = (systemRows: NonNullable<SqlSchema['systemRows']>): SqlSchema => ({
    tables: () => schema.tables(),
    table: (name) => schema.table(name),
    lookups: () => schema.lookups?.() ?? [],
    systemRows,
  });
  const draft = await plan(
    over((name) => {
      asked.add(name);
      return [];
    }),
  );
  if (asked.size === 0) return draft;
  const rows = new Map(await Promise.all([...asked].map(async (name) => [name, await fetch(name)] as const)));
  return plan(over((name) => rows.get(name) ?? []));
}
