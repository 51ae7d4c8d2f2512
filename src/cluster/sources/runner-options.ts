// Options of whoever runs plans over row sources.

import type { Engine } from '../../execution/run/engine.js';
import type { Frame } from '../../model/frame.js';
import type { ExternalSource, RowSource, RowsPlan } from '../../model/row-source.js';
import type { ColumnSchema } from '../../model/schema.js';
import type { KeepingLookups } from './kept-lookups.js';

export interface SourceRunnerOptions extends KeepingLookups {
  readonly engine: Pick<Engine, 'runRows' | 'runUploaded' | 'build' | 'reserveUpload' | 'releaseUpload'>;
  /** Runs a plan over the segments of all these tables together. */
  readonly runTables: (plan: RowsPlan, tables: readonly string[]) => AsyncIterable<Frame>;
  /** Whether all segments of these tables are served by this process, whose kernel memory is shared. */
  readonly isServedHere: (tables: readonly string[]) => boolean;
  /** Rows of a table; null when there is none of the name. */
  readonly rowsOfTable: (name: string) => number | null;
  /** Rows of files; left out: there is nobody to read them. */
  readonly external?: (source: ExternalSource) => AsyncIterable<Frame>;
  /** Known columns of a source. */
  readonly columnsOf: (source: RowSource) => readonly ColumnSchema[];
  /** Rows placed at a time; null: as many as is good. For tests. */
  readonly chunkRows?: number;
}
