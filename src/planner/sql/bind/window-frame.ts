// Binds the frame of a window.

import type { FrameBound, WindowFrame } from '../../../model/window.js';
import { commonType, isInstant, isNumeric, nativeType } from '../parse/sql-type.js';
import type { SqlCall, SqlDistance, SqlWindow } from '../parse/syntax.js';
import { type Bound, call, integer } from '../relation/bound.js';
import type { RelationSortKey } from '../relation/relation.js';
import { bindExpression } from './bind-expression.js';
import { readInterval } from './expression/arithmetic.js';
import type { Place } from './expression/place.js';
import { describe } from './function-call.js';
import { suggestion } from './scope.js';
import type { Session } from './session.js';
import { addInterval } from './time-arithmetic.js';

const WHOLE: WindowFrame<never> = { unit: 'rows', start: 'unbounded', end: 'unbounded', exclude: null };
const SO_FAR: WindowFrame<never> = { unit: 'range', start: 'unbounded', end: 0, exclude: null };

/**
 * The frame of a window. A distance becomes what the order's key would be that far away, which is computed for each row.
 * @param order  of which constants were left out
 */
export function bindFrame(place: Place, { frame, orderBy }: SqlWindow, order: readonly RelationSortKey[]): WindowFrame<Bound> {
  const { source } = place.session;
  const reaches = [frame?.start, frame?.end].find((bound) => typeof bound === 'object');
  const [key] = order;
  if (reaches !== undefined && (order.length !== 1 || key === undefined))
    throw source.error(
      'sql_plan_invalid',
      reaches.reach.at,
      `RANGE with a distance needs one expression in ORDER BY, found ${order.length}`,
    );
  // Without an order no row is before another: the frame is the partition, whatever it is said to be.
  if (orderBy.length === 0) return WHOLE;
  if (frame === null) return SO_FAR;
  const bound = (each: FrameBound<SqlDistance>): FrameBound<Bound> =>
    typeof each === 'object' && key !== undefined ? { reach: reachOf(place, key, each.reach) } : (each as FrameBound<never>);
  return { ...frame, start: bound(frame.start), end: bound(frame.end) };
}

function reachOf(place: Place, { bound: key, descending }: RelationSortKey, { at, preceding, distance }: SqlDistance): Bound {
  const { session } = place;
  const { source } = session;
  const isBack = preceding !== descending;
  const negative = (): Error => source.error('sql_plan_invalid', at, 'the distance of a frame cannot be negative');
  if (distance.kind === 'interval') {
    if (key.type === 'NULL' || !isInstant(key.type))
      throw source.error('sql_plan_invalid', at, `RANGE with an INTERVAL needs an ORDER BY of a TIMESTAMP or DATE, found ${describe(key)}`);
    const { months, milliseconds } = readInterval(session, distance);
    if (months < 0 || milliseconds < 0) throw negative();
    return addInterval(session, key, isBack ? { months: -months, milliseconds: -milliseconds } : { months, milliseconds });
  }
  const number = bindExpression(place, distance);
  const type = key.type !== 'NULL' && number.type !== 'NULL' && isNumeric(key.type) ? commonType(key.type, number.type) : undefined;
  if (type === undefined)
    throw source.error('sql_plan_invalid', at, `RANGE with a number needs an ORDER BY of a number, found ${describe(key)}`);
  const moved = call(type, isBack ? '-' : '+', key, number);
  return nativeType(type) === 'LONG' && number.kind === 'literal' && typeof number.value === 'bigint'
    ? saturated(key, moved, isBack ? LONG_MIN + number.value : LONG_MAX - number.value)
    : moved;
}

const LONG_MIN = -(2n ** 63n);
const LONG_MAX = 2n ** 63n - 1n;

/**
 * Beyond the last long there is no value: what would wrap to the other end of the order stays at this one.
 * @param edge  the last key from which the distance does not pass it
 */
function saturated(key: Bound, moved: Bound, edge: bigint): Bound {
  const isBack = edge < 0n;
  const isBeyond: Bound = {
    kind: 'compare',
    type: 'BOOLEAN',
    operator: isBack ? '<' : '>',
    domain: 'BIGINT',
    left: key,
    right: integer(edge),
  };
  return call('BIGINT', 'case_searched', isBeyond, integer(isBack ? LONG_MIN : LONG_MAX), moved);
}

/** OVER (...) or OVER name, with what the windows it names say. */
export function namedWindow(session: Session, named: ReadonlyMap<string, SqlWindow>, over: SqlCall['over'], at: number): SqlWindow {
  const { source } = session;
  const invalid = (message: string): Error => source.error('sql_plan_invalid', at, message);
  const find = (name: string, within: readonly string[]): SqlWindow => {
    const found = named.get(name);
    if (found === undefined) throw invalid(`unknown window ${name}${suggestion(name, [...named.keys()])}`);
    if (within.includes(name)) throw invalid(`window ${name} is defined by itself`);
    return merged(found, [...within, name]);
  };
  const merged = (window: SqlWindow, within: readonly string[]): SqlWindow => {
    if (window.base === null) return window;
    const base = find(window.base, within);
    if (window.partitionBy.length > 0) throw invalid(`PARTITION BY cannot be added to window ${window.base}`);
    if (window.orderBy.length > 0 && base.orderBy.length > 0) throw invalid(`window ${window.base} has an ORDER BY already`);
    if (base.frame !== null) throw invalid(`window ${window.base} has a frame: nothing can be added to it`);
    const orderBy = base.orderBy.length > 0 ? base.orderBy : window.orderBy;
    return { ...window, base: null, partitionBy: base.partitionBy, orderBy };
  };
  if (over === null) throw source.error('internal', at, 'a window function without a window');
  return typeof over === 'string' ? find(over, []) : merged(over, []);
}
