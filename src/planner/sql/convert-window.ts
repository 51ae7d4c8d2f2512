import type { FrameBound, WindowFrame } from '../../model/window.js';
import { type Conversion, convertExpression } from './convert-expression.js';
import { orderItem } from './convert-query.js';
import { type Node, offsetOf } from './cst.js';
import { numberLiteral } from './rewrite.js';
import type { SqlWindow } from './syntax.js';

type Definition = Extract<Node, { type: 'window_definition' }>;

/** OVER (...) or OVER name. */
export function convertOver(conversion: Conversion, node: Node): SqlWindow | string {
  if (node.type === 'identifier') return node.name;
  if (node.type === 'paren_expr' && node.expr.type === 'window_definition') return convertWindow(conversion, node.expr);
  throw conversion.source.unsupported(offsetOf(conversion.text, node), 'this form of OVER');
}

export function convertWindow(conversion: Conversion, node: Definition): SqlWindow {
  return {
    at: offsetOf(conversion.text, node),
    base: node.baseWindowName?.name ?? null,
    partitionBy: (node.partitionBy?.specifications.items ?? []).map((item) => convertExpression(conversion, item)),
    orderBy: (node.orderBy?.specifications.items ?? []).map((item) => orderItem(conversion, item)),
    frame: node.frame === undefined ? null : frameOf(conversion, node.frame),
  };
}

function frameOf(conversion: Conversion, node: Extract<Node, { type: 'frame_clause' }>): WindowFrame {
  const { source } = conversion;
  const at = offsetOf(conversion.text, node);
  if (node.exclusion !== undefined) throw source.unsupported(offsetOf(conversion.text, node.exclusion), 'EXCLUDE');
  const unit = node.unitKw.name;
  if (unit === 'GROUPS') throw source.unsupported(at, 'a frame of GROUPS');
  const { extent } = node;
  // A single bound is the other end of a frame that starts or ends with the row itself.
  const isForward = extent.type === 'frame_bound_following';
  const [begin, finish] = extent.type === 'frame_between' ? [extent.begin, extent.end] : isForward ? [null, extent] : [extent, null];
  if (begin !== null && finish !== null && sideOf(begin) > sideOf(finish))
    throw source.error('sql_plan_invalid', at, 'a frame that begins behind its end: it would never have a row');
  const start = begin === null ? 0 : boundOf(conversion, begin, 'start');
  const end = finish === null ? 0 : boundOf(conversion, finish, 'end');
  const isOpen = (bound: FrameBound): boolean => bound === 'unbounded' || bound === 0;
  if (unit === 'RANGE' && (!isOpen(start) || !isOpen(end)))
    throw source.unsupported(at, 'a frame of RANGE with a distance; UNBOUNDED and CURRENT ROW are');
  return { unit: unit === 'ROWS' ? 'rows' : 'range', start, end };
}

/** Of the row itself: before, at or behind it. */
function sideOf(bound: Node): -1 | 0 | 1 {
  return bound.type === 'frame_bound_preceding' ? -1 : bound.type === 'frame_bound_following' ? 1 : 0;
}

/** A frame starts at the first row or ends at the last one where it is unbounded; the other way round it would be nowhere. */
function boundOf(conversion: Conversion, node: Node, edge: 'start' | 'end'): FrameBound {
  const at = offsetOf(conversion.text, node);
  if (node.type === 'frame_bound_current_row') return 0;
  if (node.type !== 'frame_bound_preceding' && node.type !== 'frame_bound_following')
    throw conversion.source.unsupported(at, 'this bound of a frame');
  const isPreceding = node.type === 'frame_bound_preceding';
  if (node.expr.type === 'frame_unbounded') {
    if (isPreceding !== (edge === 'start'))
      throw conversion.source.error(
        'sql_plan_invalid',
        at,
        `a frame cannot ${edge} with UNBOUNDED ${isPreceding ? 'PRECEDING' : 'FOLLOWING'}`,
      );
    return 'unbounded';
  }
  const rows = node.expr.type === 'number_literal' ? numberLiteral(at, node.expr.text) : undefined;
  const count = rows?.kind === 'literal' && typeof rows.value === 'bigint' ? Number(rows.value) : undefined;
  if (count === undefined || count > Number.MAX_SAFE_INTEGER)
    throw conversion.source.error('sql_plan_invalid', at, 'a bound of a frame is a literal number of rows');
  return isPreceding ? -count : count;
}
