// Converts windows and ORDER BY items.

import { own } from '../../../base/names.js';
import type { FrameBound, WindowFrame } from '../../../model/window.js';
import type { Conversion } from './conversion.js';
import { type Node, offsetOf } from './cst.js';
import type { OrderItem, SqlDistance, SqlWindow } from './syntax.js';

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
    partitionBy: (node.partitionBy?.specifications.items ?? []).map((item) => conversion.expression(conversion, item)),
    orderBy: (node.orderBy?.specifications.items ?? []).map((item) => orderItem(conversion, item)),
    frame: node.frame === undefined ? null : frameOf(conversion, node.frame),
  };
}

type Frame = WindowFrame<SqlDistance>;

const EXCLUSIONS: Readonly<Record<string, Frame['exclude']>> = { 'CURRENT ROW': 'row', GROUP: 'peers', TIES: 'ties', 'NO OTHERS': null };

function frameOf(conversion: Conversion, node: Extract<Node, { type: 'frame_clause' }>): Frame {
  const { source, marks } = conversion;
  const at = offsetOf(conversion.text, node.unitKw);
  const unit = marks.get(at)?.kind === 'groups' ? 'groups' : node.unitKw.name === 'ROWS' ? 'rows' : 'range';
  const { extent } = node;
  // A single bound is the other end of a frame that starts or ends with the row itself.
  const isForward = extent.type === 'frame_bound_following';
  const [begin, finish] = extent.type === 'frame_between' ? [extent.begin, extent.end] : isForward ? [null, extent] : [extent, null];
  if (begin !== null && finish !== null && sideOf(begin) > sideOf(finish))
    throw source.error('sql_plan_invalid', at, 'a frame that begins behind its end: it would never have a row');
  const start = begin === null ? 0 : boundOf(conversion, begin, unit, 'start');
  const end = finish === null ? 0 : boundOf(conversion, finish, unit, 'end');
  const { exclusion } = node;
  const words =
    exclusion === undefined
      ? 'NO OTHERS'
      : [exclusion.kindKw]
          .flat()
          .map((word) => word.name)
          .join(' ');
  const exclude = own(EXCLUSIONS, words);
  if (exclude === undefined) throw source.unsupported(at, `EXCLUDE ${words}`);
  return { unit, start, end, exclude };
}

/** Side of the current row that a bound lies on: before, at or behind it. */
function sideOf(bound: Node): -1 | 0 | 1 {
  return bound.type === 'frame_bound_preceding' ? -1 : bound.type === 'frame_bound_following' ? 1 : 0;
}

/** A frame starts at the first row or ends at the last one where it is unbounded; the other way round it would be nowhere. */
function boundOf(conversion: Conversion, node: Node, unit: Frame['unit'], edge: 'start' | 'end'): FrameBound<SqlDistance> {
  const { source } = conversion;
  const at = offsetOf(conversion.text, node);
  if (node.type === 'frame_bound_current_row') return 0;
  if (node.type !== 'frame_bound_preceding' && node.type !== 'frame_bound_following') throw source.unsupported(at, 'this bound of a frame');
  const preceding = node.type === 'frame_bound_preceding';
  if (node.expr.type === 'frame_unbounded') {
    if (preceding !== (edge === 'start'))
      throw source.error('sql_plan_invalid', at, `a frame cannot ${edge} with UNBOUNDED ${preceding ? 'PRECEDING' : 'FOLLOWING'}`);
    return 'unbounded';
  }
  if (node.expr.type !== 'number_literal' && node.expr.type !== 'interval_literal')
    throw source.error('sql_plan_invalid', at, 'a bound of a frame is a literal number, or of RANGE an INTERVAL');
  const distance = conversion.expression(conversion, node.expr);
  if (unit === 'range') return { reach: { at, preceding, distance } };
  const count = distance.kind === 'literal' && typeof distance.value === 'bigint' ? Number(distance.value) : undefined;
  if (count === undefined || count > Number.MAX_SAFE_INTEGER)
    throw source.error('sql_plan_invalid', at, `a bound of a frame is a literal number of ${unit}`);
  return preceding ? 0 - count : count;
}

export function orderItem(conversion: Conversion, node: Node): OrderItem {
  if (node.type !== 'sort_specification') return { expression: conversion.expression(conversion, node), descending: false, nulls: null };
  const { direction, nullHandlingKw } = node;
  if (direction?.type === 'sort_direction_using_operator')
    throw conversion.source.unsupported(offsetOf(conversion.text, direction), 'ORDER BY USING');
  const nulls = nullHandlingKw === undefined ? null : nullHandlingKw[1].name === 'FIRST' ? 'first' : 'last';
  return { expression: conversion.expression(conversion, node.expr), descending: direction?.type === 'sort_direction_desc', nulls };
}
