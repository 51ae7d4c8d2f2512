// The tables of `sys` and their columns.

import type { Frame } from '../../../model/frame.js';
import type { PrimitiveType } from '../../../model/schema.js';

export const SYSTEM_SCHEMA = 'sys';

export type SystemCell = string | bigint | null;
/** Values in the order of the table's columns. */
export type SystemRow = readonly SystemCell[];
/** Rows of a table, or a frame with its columns. */
export type SystemRows = readonly SystemRow[] | Frame;
type Column = readonly [name: string, type: PrimitiveType];

const text = (...names: readonly string[]): readonly Column[] => names.map((name) => [name, 'STRING']);
const long = (...names: readonly string[]): readonly Column[] => names.map((name) => [name, 'LONG']);

/** System tables about the cluster; truth values are 1 and 0. */
export const SYSTEM_TABLES = {
  segments: [
    ...text('segment_id', 'datasource', 'start', 'end'),
    ...long('size'),
    ...text('version'),
    ...long('partition_num', 'num_replicas', 'num_rows', 'is_active', 'is_published', 'is_available', 'is_realtime', 'is_overshadowed'),
    ...text('shard_spec', 'dimensions', 'metrics', 'last_compaction_state'),
    ...long('replication_factor'),
    ...text('projections'),
  ],
  servers: [
    ...text('server', 'host'),
    ...long('plaintext_port', 'tls_port'),
    ...text('server_type', 'tier'),
    ...long('current_size', 'max_size', 'is_leader'),
    ...text('start_time', 'version', 'build_revision', 'labels'),
    ...long('available_processors', 'total_memory'),
    // Not documented; clients read the size in use and the size of storage by these names.
    ...long('curr_size', 'storage_size'),
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
