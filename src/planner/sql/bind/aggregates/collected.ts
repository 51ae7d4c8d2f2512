// SQL aggregates that keep values: ARRAY_AGG, STRING_AGG, ANY_VALUE, bits.

import type { AggregateState, ExpressionFold } from '../../../../model/aggregate-state.js';
import { call, type Expression, long, text } from '../../../../model/expression.js';
import type { ColumnType } from '../../../../model/schema.js';
import type { SqlType } from '../../../../model/statement.js';
import { arrayOf, isArray, isInstant, nativeType } from '../../parse/sql-type.js';
import {
  and,
  type Bound,
  call as boundCall,
  boundKey,
  text as boundText,
  isNull,
  literal,
  not,
  settledType,
  TRUE,
} from '../../relation/bound.js';
import { type AggregateFunction, type AggregateUse, stateAggregator } from '../aggregate-list.js';

/** Aggregates that keep values: one of them, a list of them, their bits. */
export const COLLECTED_AGGREGATES: Readonly<Record<string, AggregateFunction>> = {
  EARLIEST: (use) => atExtremeTime(use, 'first', use.time(), 1),
  LATEST: (use) => atExtremeTime(use, 'last', use.time(), 1),
  EARLIEST_BY: (use) => atExtremeTime(use, 'first', use.call.instant(1), 2),
  LATEST_BY: (use) => atExtremeTime(use, 'last', use.call.instant(1), 2),
  ANY_VALUE: anyValue,
  ARRAY_AGG(use) {
    const operand = use.call.any(0);
    const type = settledType(operand.type);
    return listOf(use, { operand, type: arrayOf(type), bytesAt: 1, adds: use.distinct ? 'array_set_add' : 'array_append' });
  },
  ARRAY_CONCAT_AGG(use) {
    const operand = use.call.any(0);
    const type = settledType(operand.type);
    const isText = type === 'VARCHAR';
    if (!isArray(type) && !isText) throw use.call.mismatch(0, 'an ARRAY');
    return listOf(withoutNulls(use, operand), {
      operand,
      type: isArray(type) ? type : arrayOf('VARCHAR'),
      bytesAt: 1,
      adds: use.distinct ? 'array_set_add_all' : 'array_concat',
    });
  },
  STRING_AGG: joined,
  LISTAGG: joined,
  // Bits that a value has set or cleared stay so when it comes again.
  BIT_AND: (use) => bits({ ...use, distinct: false }, 'bitwiseAnd', -1n),
  BIT_OR: (use) => bits({ ...use, distinct: false }, 'bitwiseOr', 0n),
  BIT_XOR: (use) =>
    use.distinct
      ? use.list.add({
          kind: 'distinct',
          operands: [use.call.integer(0)],
          filter: use.filter,
          type: integerType(use.call.integer(0)),
          fold: { kind: 'xor', type: 'LONG' },
        })
      : bits(use, 'bitwiseXor', 0n),
};

const STRING_BYTES = 1024;
const LIST_BYTES = 1024;

/** Types of stored pairs of a value and its time, with the type of the value. */
const PAIRED: ReadonlyMap<SqlType | 'NULL', SqlType> = new Map([
  ['COMPLEX<serializablePairLongString>', 'VARCHAR'],
  ['COMPLEX<serializablePairLongLong>', 'BIGINT'],
  ['COMPLEX<serializablePairLongDouble>', 'DOUBLE'],
  ['COMPLEX<serializablePairLongFloat>', 'FLOAT'],
]);

/** `bytesAt`: the argument that limits texts. */
function atExtremeTime(use: AggregateUse, type: 'first' | 'last', time: Bound, bytesAt: number): Bound {
  const operand = use.call.any(0);
  const paired = PAIRED.get(operand.type);
  const sqlType = paired ?? settledType(operand.type);
  const valueType = nativeType(sqlType);
  const maxStringBytes = use.call.constantInteger(bytesAt, STRING_BYTES);
  // A stored pair has a time of its own.
  if (paired !== undefined)
    return stateAggregator(
      use,
      { type, valueType, maxStringBytes },
      { operands: [operand], input: 'states', type: sqlType, argumentsMax: bytesAt + 1 },
    );
  const value = operand.type === 'NULL' ? literal(sqlType, null) : operand;
  return stateAggregator(use, { type, valueType, maxStringBytes }, { operands: [value, time], type: sqlType, argumentsMax: bytesAt + 1 });
}

/** ANY_VALUE(x[, bytes[, aggregateMultipleValues]]): a row of several values gives all of them as one text, or the first. */
function anyValue(use: AggregateUse): Bound {
  const operand = use.call.any(0);
  const type = settledType(operand.type);
  const maxStringBytes = use.call.constantInteger(1, STRING_BYTES);
  const takesAll = use.call.arguments[2] ?? TRUE;
  if (takesAll.kind !== 'literal' || takesAll.type !== 'BOOLEAN' || takesAll.value === null) throw use.call.mismatch(2, 'TRUE or FALSE');
  const aggregateState = { type: 'first', valueType: nativeType(type), maxStringBytes } as const;
  const value = operand.type === 'NULL' ? literal(type, null) : operand;
  return stateAggregator(use, takesAll.value === TRUE.value ? aggregateState : { ...aggregateState, firstOnly: true }, {
    operands: [value],
    type,
    argumentsMax: 3,
  });
}

type OrderedList = Extract<AggregateState, { type: 'list' }>;

const ACCUMULATOR = '__acc';
const FIELD = 'value';
const RESULT = 'list';

function column(name: string): Expression {
  return { kind: 'column', name };
}

/** Aggregates that ORDER BY means something to. */
export const ORDERED_AGGREGATES: readonly string[] = ['ARRAY_AGG', 'ARRAY_CONCAT_AGG', 'STRING_AGG', 'LISTAGG'];

interface List {
  readonly operand: Bound;
  readonly type: SqlType;
  /** The argument that limits the bytes of the list. */
  readonly bytesAt: number;
  readonly adds: 'array_append' | 'array_set_add' | 'array_concat' | 'array_set_add_all';
}

function listOf(use: AggregateUse, { operand, type, bytesAt, adds }: List): Bound {
  const valueType = nativeType(type);
  const isSet = adds.startsWith('array_set');
  if (use.order.length > 0) {
    const flattens = adds === 'array_concat' || adds === 'array_set_add_all';
    return ordered(use, operand, { flattens, listType: valueType, finalize: null, resultType: valueType, bytesAt }, type);
  }
  const aggregateState = fold(use, bytesAt, {
    valueType,
    resultType: valueType,
    fold: call(adds, column(ACCUMULATOR), column(FIELD)),
    combine: call(isSet ? 'array_set_add_all' : 'array_concat', column(ACCUMULATOR), column(RESULT)),
    finalize: null,
    foldsNulls: true,
    initial: { kind: 'literal', type: valueType, value: '' },
  });
  return stateAggregator({ ...use, distinct: false }, aggregateState, { operands: [operand], type, argumentsMax: bytesAt + 1 });
}

/** STRING_AGG(text[, separator[, bytes]]): nulls are left out; of none it is null. An integer separates by its digits. */
function joined(use: AggregateUse): Bound {
  const second = use.call.arguments[1];
  const isInteger = second?.kind === 'literal' && typeof second.value === 'bigint';
  const separator = isInteger ? String(second.value) : use.call.constantText(1, '');
  const given = use.call.any(0);
  // Instants are joined as milliseconds, as Druid does.
  const operand =
    given.type !== 'NULL' && isInstant(given.type) ? boundCall('VARCHAR', 'cast', given, boundText('STRING')) : use.call.text(0);
  const adds = use.distinct ? 'array_set_add' : 'array_append';
  const joinedText: Expression = call('array_to_string', column('o'), text(separator));
  const isEmpty: Expression = call('==', call('array_length', column('o')), long(0n));
  const finalize = call('if', isEmpty, text(null), joinedText);
  if (use.order.length > 0)
    return ordered(
      withoutNulls(use, operand),
      operand,
      { flattens: false, listType: 'ARRAY<STRING>', finalize, resultType: 'STRING', bytesAt: 2 },
      'VARCHAR',
    );
  const aggregateState = fold(use, 2, {
    valueType: 'ARRAY<STRING>',
    resultType: 'STRING',
    fold: call(adds, column(ACCUMULATOR), column(FIELD)),
    combine: call(use.distinct ? 'array_set_add_all' : 'array_concat', column(ACCUMULATOR), column(RESULT)),
    finalize,
    foldsNulls: false,
    initial: { kind: 'literal', type: 'ARRAY<STRING>', value: '' },
  });
  return stateAggregator({ ...withoutNulls(use, operand), distinct: false }, aggregateState, {
    operands: [operand],
    type: 'VARCHAR',
    argumentsMax: 3,
  });
}

/** A list whose values come in the order of ORDER BY. */
function ordered(
  use: AggregateUse,
  operand: Bound,
  { bytesAt, ...list }: Pick<OrderedList, 'flattens' | 'listType' | 'finalize' | 'resultType'> & { readonly bytesAt: number },
  type: SqlType,
): Bound {
  const { call: bound, distinct } = use;
  const other = use.order.find((key) => boundKey(key.bound) !== boundKey(operand) && boundKey(key.bound) !== boundKey(bound.any(0)));
  if (distinct && (other !== undefined || list.flattens))
    throw bound.error(bound.at, `${bound.name}(DISTINCT ...) can only be ordered by the value it collects`);
  const order = use.order.map(({ descending, nulls }) => ({ descending, nulls }));
  const aggregateState: OrderedList = { type: 'list', order, distinct, ...list, maxBytes: sizeAt(use, bytesAt) };
  const operands = [operand, ...use.order.map((key) => key.bound)];
  return stateAggregator({ ...use, distinct: false }, aggregateState, { operands, type, argumentsMax: bytesAt + 1 });
}

/** The bytes that a list may have. */
function sizeAt({ call: bound }: AggregateUse, index: number): number {
  return index < bound.count ? bound.constantInteger(index, LIST_BYTES) : LIST_BYTES;
}

function withoutNulls(use: AggregateUse, operand: Bound): AggregateUse {
  const present = not(isNull(operand));
  return { ...use, filter: use.filter === null ? present : and([use.filter, present]) };
}

function bits(use: AggregateUse, operator: string, initial: bigint): Bound {
  const step = (other: string): Expression => call(operator, column(ACCUMULATOR), column(other));
  const aggregateState = fold(use, 1, {
    valueType: 'LONG',
    resultType: 'LONG',
    fold: step(FIELD),
    combine: step(RESULT),
    finalize: null,
    foldsNulls: false,
    initial: long(initial),
  });
  const operand = use.call.integer(0);
  return stateAggregator(use, aggregateState, { operands: [operand], type: integerType(operand), argumentsMax: 1 });
}

/** Bits of INTEGERs are one. */
function integerType({ type }: Bound): SqlType {
  return type === 'INTEGER' ? 'INTEGER' : 'BIGINT';
}

function fold(
  use: AggregateUse,
  bytesAt: number,
  steps: Pick<ExpressionFold, 'fold' | 'combine' | 'finalize' | 'foldsNulls' | 'initial'> & {
    readonly valueType: ColumnType;
    readonly resultType: ColumnType;
  },
): ExpressionFold {
  return {
    type: 'expression',
    name: RESULT,
    fields: [FIELD],
    accumulator: ACCUMULATOR,
    compare: null,
    initialCombine: steps.initial,
    isNullUnlessAggregated: true,
    combinesNulls: steps.foldsNulls,
    maxBytes: sizeAt(use, bytesAt),
    ...steps,
  };
}
