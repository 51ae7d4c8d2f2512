// Binds window functions.

import { stateTraits } from '../../../model/state-traits.js';
import type { SqlCall } from '../parse/syntax.js';
import type { BoundAggregate } from '../relation/aggregate.js';
import { and, type Bound, isNull, literal, not, settledType } from '../relation/bound.js';
import type { NamedWindowFunction } from '../relation/relation.js';
import { type FunctionCall, unify } from './function-call.js';

/** Functions that only make sense over a window. */
export const WINDOW_FUNCTIONS: readonly string[] = [
  'ROW_NUMBER',
  'RANK',
  'DENSE_RANK',
  'PERCENT_RANK',
  'CUME_DIST',
  'NTILE',
  'LAG',
  'LEAD',
  'FIRST_VALUE',
  'LAST_VALUE',
];

/** Window functions that accept IGNORE NULLS. */
const NULL_HANDLING_FUNCTIONS: readonly string[] = ['LAG', 'LEAD', 'FIRST_VALUE', 'LAST_VALUE'];

type Unframed = Pick<NamedWindowFunction, 'call' | 'operands' | 'type'>;

export function windowFunction(call: FunctionCall, { nulls, distinct, filter }: Pick<SqlCall, 'nulls' | 'distinct' | 'filter'>): Unframed {
  const { name, at } = call;
  if (filter !== null || distinct) throw call.error(at, `${name} takes no DISTINCT and no FILTER`);
  if (nulls !== undefined && !NULL_HANDLING_FUNCTIONS.includes(name)) throw call.error(at, `${name} takes no ${nulls.toUpperCase()} NULLS`);
  const ignoresNulls = nulls === 'ignore';
  const take = (min: number, max: number): void => {
    if (call.count < min || call.count > max)
      throw call.error(at, `${name} takes ${min === max ? min : `${min} to ${max}`} arguments, found ${call.count}`);
  };
  const place = (
    kind: 'rowNumber' | 'rank' | 'denseRank' | 'percentRank' | 'cumulativeDistribution',
    type: 'BIGINT' | 'DOUBLE',
  ): Unframed => {
    take(0, 0);
    return { call: { kind }, operands: [], type };
  };
  switch (name) {
    case 'ROW_NUMBER':
      return place('rowNumber', 'BIGINT');
    case 'RANK':
      return place('rank', 'BIGINT');
    case 'DENSE_RANK':
      return place('denseRank', 'BIGINT');
    case 'PERCENT_RANK':
      return place('percentRank', 'DOUBLE');
    case 'CUME_DIST':
      return place('cumulativeDistribution', 'DOUBLE');
    case 'NTILE': {
      take(1, 1);
      const tiles = call.constantInteger(0, 1);
      if (tiles < 1) throw call.mismatch(0, 'a literal integer from 1 on');
      return { call: { kind: 'tile', tiles }, operands: [], type: 'BIGINT' };
    }
    case 'LAG':
    case 'LEAD': {
      take(1, 3);
      const rows = call.constantInteger(1, 1);
      const { type, operands } = shiftOperands(call);
      return { call: { kind: 'shift', rows: name === 'LAG' ? -rows : rows, ignoresNulls }, operands, type };
    }
    default: {
      take(1, 1);
      const operand = settled(call.any(0));
      return {
        call: { kind: name === 'FIRST_VALUE' ? 'first' : 'last', ignoresNulls },
        operands: [operand],
        type: settledType(operand.type),
      };
    }
  }
}

/** The value, and what stands for it where there is no such row, in their common type. */
function shiftOperands(call: FunctionCall): Pick<Unframed, 'operands' | 'type'> {
  const given = call.count > 2 ? [call.any(0), call.any(2)] : [call.any(0)];
  const { type, arguments: operands } = unify(given, () => call.mismatch(2, `of the type of argument 1`), call.session);
  return { operands: operands.map(settled), type: settledType(type) };
}

function settled(bound: Bound): Bound {
  return bound.type === 'NULL' ? literal('VARCHAR', null) : bound;
}

function withPresent(filter: Bound | null, operand: Bound): Bound {
  const isThere = not(isNull(operand));
  return filter === null ? isThere : and([filter, isThere]);
}

/** An aggregate as a function of frames. */
export function aggregateOverFrame(
  { kind, operands, filter, type, state, fold }: BoundAggregate,
  { name, at, session }: FunctionCall,
): Pick<NamedWindowFunction, 'call' | 'operands' | 'filter' | 'type'> {
  switch (kind) {
    case 'count':
      return { call: { kind }, operands: [], filter: operands.reduce(withPresent, filter), type };
    case 'sum':
    case 'min':
    case 'max':
      return { call: { kind }, operands, filter, type };
    case 'distinct':
      return { call: { kind, fold: fold ?? null }, operands, filter, type };
    case 'state': {
      const { aggregateState, input, output } = state ?? {};
      if (aggregateState?.type === 'min' || aggregateState?.type === 'max')
        return { call: { kind: aggregateState.type }, operands, filter, type };
      if (
        aggregateState !== undefined &&
        input !== undefined &&
        output !== undefined &&
        (input === 'states' || stateTraits(aggregateState).window !== 'none')
      )
        return { call: { kind, aggregateState, input, output }, operands, filter, type };
    }
  }
  throw session.source.unsupported(at, `${name} OVER`);
}
