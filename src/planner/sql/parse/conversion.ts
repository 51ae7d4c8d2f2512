// Context for converting the parser's tree into ours.

import type { Node } from './cst.js';
import type { Marks } from './marks.js';
import type { PivotClauses } from './pivot-clauses.js';
import type { SourceText } from './source-text.js';
import type { SelectItem, SqlExpression, SqlQuery } from './syntax.js';
import type { TokenRange } from './token-range.js';
import type { ParserText } from './token-stream.js';

/** Context of converting the parser's tree into ours. */
export interface Conversion {
  readonly source: SourceText;
  readonly text: ParserText;
  readonly marks: Marks;
  /** Source offset of a `?` to its number, from 0. */
  readonly parameters: ReadonlyMap<number, number>;
  /** The queries of WITH that names in FROM can mean here. */
  readonly named: NamedQueries;
  /** Queries named by each converted WITH clause: that of a set operation is met twice. */
  readonly withClauses: Map<Node, NamedQueries>;
  /** PIVOT and UNPIVOT by the source offset of the table they stand behind. */
  readonly pivots: PivotClauses['byTable'];
  /** `convertExpression`, for the parts of expressions in other files. */
  readonly expression: (conversion: Conversion, node: Node) => SqlExpression;
  /** `convertQuery`, for queries inside of expressions and relations. */
  readonly query: (conversion: Conversion, node: Node, outer: NamedQueries) => SqlQuery;
  /** Tokens that are not part of `text`, read as the list of a SELECT. */
  selectItems(range: TokenRange): readonly SelectItem[];
}

/** CTEs in scope by name; a later one may use an earlier one. */
export type NamedQueries = ReadonlyMap<string, { readonly query: SqlQuery; readonly columnNames: readonly string[] | null }>;
