import type { ColumnSchema } from '../../../model/schema.js';
import type { SystemRow, SystemTableName } from './system-schema.js';

/** What planning asks of the datasources that are served; the broker's `SchemaSource` is one. */
export interface SqlSchema {
  tables(): readonly string[];
  table(name: string): SqlTable | undefined;
  /** Names of the lookups that are loaded; left out: none. */
  lookups?(): readonly string[];
  /** Rows of a table of `sys`; left out where statements cannot read them. */
  systemRows?(table: SystemTableName): readonly SystemRow[];
}

/** `__time` first. */
export interface SqlTable {
  readonly columns: readonly ColumnSchema[];
  /** As far as it is known. */
  readonly rowCount?: number;
}
