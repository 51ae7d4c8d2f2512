// Opens the metadata store that the configuration names.

import { type Database, openSqlite } from './database.js';
import type { PostgresqlSettings } from './postgresql/connection.js';
import { openPostgresql } from './postgresql/database.js';

/** Kind and address of the metadata store, as plain data that threads are given. */
export type MetadataSettings =
  | { readonly type: 'sqlite'; readonly file: string }
  | { readonly type: 'postgresql'; readonly postgresql: PostgresqlSettings };

export function openDatabase(settings: MetadataSettings): Promise<Database> {
  return settings.type === 'sqlite' ? openSqlite(settings.file) : openPostgresql(settings.postgresql);
}
