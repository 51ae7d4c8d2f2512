import type { ColumnSchema } from '../../model/schema.js';

/** What planning asks of the datasources that are served; the broker's `SchemaSource` is one. */
export interface SqlSchema {
  tables(): readonly string[];
  table(name: string): SqlTable | undefined;
}

/** `__time` first. */
export interface SqlTable {
  readonly columns: readonly ColumnSchema[];
}
