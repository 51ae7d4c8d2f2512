import type { ColumnSchema } from '../../model/schema.js';

/** What planning asks of the datasources that are served; the broker's `SchemaSource` is one. */
export interface SqlSchema {
  tables(): readonly string[];
  table(name: string): SqlTable | undefined;
  /** Names of the lookups that are loaded; left out: none. */
  lookups?(): readonly string[];
}

/** `__time` first. */
export interface SqlTable {
  readonly columns: readonly ColumnSchema[];
  /** As far as it is known. */
  readonly rowCount?: number;
}
