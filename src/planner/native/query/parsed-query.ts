// A native query as its parser returns it, with its source and context.

import type { Query } from '../../../model/query.js';
import type { RowSource } from '../../../model/row-source.js';
import type { QueryContext } from '../context.js';

export interface ParsedQuery {
  readonly query: Query;
  /** Source of the rows; `query.dataSource` is only a name. */
  readonly source: RowSource;
  readonly context: QueryContext;
  /** Unknown keys that a lenient reading accepted, by path. */
  readonly ignoredKeys: readonly string[];
}
