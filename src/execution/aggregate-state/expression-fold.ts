import { ServiceError } from '../../base/errors.js';
import { parseJson, stringifyJson } from '../../base/json.js';
import { PHYSICAL_BYTES } from '../../base/layout.js';
import { compileExpression } from '../../expression/evaluate.js';
import { EACH_VALUE } from '../../expression/functions/apply.js';
import { eachValueOf } from '../../expression/multi-value.js';
import type { Value } from '../../expression/value.js';
import { convert, isArrayValue, toDouble, toText, valueOfJson } from '../../expression/value.js';
import type { AggregateState } from '../../model/aggregate-state.js';
import type { Expression } from '../../model/expression.js';
import type { ColumnType } from '../../model/schema.js';
import type { StringColumnView } from '../../storage/view.js';
import { multiValue } from '../expression/multi-value.js';
import type { RowReader } from '../expression/row-reader.js';
import { rowReader } from '../expression/row-reader.js';
import type { SegmentScope } from '../expression/scope.js';
import type { Feed, StateOperations } from './state-operations.js';

type ExpressionFold = Extract<AggregateState, { type: 'expression' }>;

/** What expressions have made of the rows so far; `count` of parts: 0 of no row, 1 of rows of one segment. */
export interface Folded {
  value: Value;
  parts: number;
}

/**
 * States that expressions of the query fold rows into. What comes of several segments is combined in their order, on top of
 * the initial value for that; what comes of one alone stays as it is.
 */
export function expressionFoldState(aggregateState: ExpressionFold): StateOperations<Folded> {
  const { accumulator, name, valueType: type, resultType } = aggregateState;
  const combine = compileExpression(aggregateState.combine, (column) => (column === accumulator || column === name ? type : undefined));
  const finalize = aggregateState.finalize === null ? undefined : compileExpression(aggregateState.finalize, () => type);
  const finished = (value: Value): Value => convert(finalize === undefined ? value : finalize(() => value), resultType);
  const initial = constant(aggregateState.initial);
  const initialCombine = constant(aggregateState.initialCombine);
  const combined = (value: Value, other: Value): Value => {
    if (!aggregateState.combinesNulls && (value === null || other === null)) return value ?? other;
    return limited(
      combine((column) => (column === accumulator ? value : column === name ? other : null)),
      aggregateState,
    );
  };
  const fold = compileExpression(aggregateState.fold, (column) => (column === accumulator ? type : undefined));
  const order = aggregateState.compare === null ? undefined : compileExpression(aggregateState.compare, () => type);
  const compare = (a: Folded, b: Folded): number => {
    if (a.value === null || b.value === null) return Number(a.value !== null) - Number(b.value !== null);
    return toDouble(order?.((operand) => (operand === 'o1' ? a.value : b.value)) ?? null) ?? 0;
  };
  return {
    isOrdered: true,
    emptyValue: aggregateState.isNullUnlessAggregated ? null : finished(initial),
    create: () => ({ value: initial, parts: 0 }),
    merge(into, from) {
      if (from.parts === 0) return;
      if (into.parts === 0) into.value = from.value;
      else into.value = combined(into.parts === 1 ? combined(initialCombine, into.value) : into.value, from.value);
      into.parts += from.parts;
    },
    bytes: ({ value }) => 64 + sizeOf(value),
    encode: ({ value, parts }) => `${parts} ${stringifyJson(tagged(value))}`,
    decode(text) {
      const space = text.indexOf(' ');
      return { parts: Number(text.slice(0, space)), value: untagged(parseJson(text.slice(space + 1))) };
    },
    compare,
    addRow(state, values) {
      if (!aggregateState.foldsNulls && values.includes(null)) return;
      const { value } = state;
      const read = (column: string): Value => (column === accumulator ? value : (values[aggregateState.fields.indexOf(column)] ?? null));
      state.value = limited(fold(read), aggregateState);
      state.parts = 1;
    },
    value: ({ value, parts }) => (parts === 0 && aggregateState.isNullUnlessAggregated ? null : finished(value)),
    bind: (scope, columns) => bindRows(scope, aggregateState, columns),
  };
}

function constant(expression: ExpressionFold['initial']): Value {
  return compileExpression(expression, () => undefined)(() => null);
}

/** Row by row, as one value depends on the one before. */
function bindRows(scope: SegmentScope, aggregateState: ExpressionFold, columns: readonly string[]): Feed<Folded> {
  const { memory } = scope.context;
  const { accumulator, fields } = aggregateState;
  const columnOf = new Map(fields.map((field, index) => [field, columns[index] ?? '']));
  const isMultiValue = (name: string): boolean => multiValue(scope, columnOf.get(name) ?? '') !== undefined;
  const readers = new Map(
    [...columnOf].map(([field, column]) => {
      const listed = multiValue(scope, column);
      return [field, listed === undefined ? rowReader(scope, scope.source(column)) : listReader(scope, listed)] as const;
    }),
  );
  const typeOf = (name: string): ColumnType | undefined => {
    if (name === accumulator) return aggregateState.valueType;
    return isMultiValue(name) ? 'ARRAY<STRING>' : columnOf.has(name) ? scope.typeOf(columnOf.get(name) ?? '') : undefined;
  };
  const fold = compileExpression(foldOfEach(aggregateState, isMultiValue), typeOf, () => scope.context.check());
  return {
    nulls: undefined,
    add(block, rows, groups, n, stateOf) {
      for (const reader of readers.values()) reader.open(block);
      const listed = rows === 0 ? undefined : memory.u32(rows, n).slice();
      const numbers = memory.u32(groups, n).slice();
      for (let i = 0; i < n; i++) {
        const row = listed === undefined ? i : (listed[i] ?? 0);
        const inputs = new Map<string, Value>();
        for (const [field, reader] of readers) inputs.set(field, reader.get(row));
        if (!aggregateState.foldsNulls && [...inputs.values()].includes(null)) continue;
        const state = stateOf(numbers[i] ?? 0);
        const { value } = state;
        state.value = limited(
          fold((name) => (name === accumulator ? value : (inputs.get(name) ?? null))),
          aggregateState,
        );
        state.parts = 1;
      }
    },
  };
}

/** Where the fold takes single values of a multi-value field, it is a fold over each of them in turn. */
function foldOfEach({ fold, accumulator }: ExpressionFold, isMultiValue: (name: string) => boolean): Expression {
  const { expression } = eachValueOf(fold, isMultiValue);
  if (expression.kind !== 'call' || expression.function !== EACH_VALUE) return expression;
  const [lambda, ...lists] = expression.arguments;
  if (lambda?.kind !== 'lambda') return expression;
  return {
    kind: 'call',
    function: lists.length === 1 ? 'fold' : 'cartesian_fold',
    arguments: [{ ...lambda, parameters: [...lambda.parameters, accumulator] }, ...lists, { kind: 'column', name: accumulator }],
  };
}

/** The values of a multi-value row as an array; null of none. */
export function listReader(scope: SegmentScope, column: StringColumnView): RowReader {
  const { memory } = scope.context;
  const texts = scope.texts(column);
  const bytes = PHYSICAL_BYTES[column.physical];
  let bounds = new Uint32Array(0);
  return {
    open: ({ start, rows }) => {
      bounds = memory.u32(column.offsets + start * 4, rows + 1).slice();
    },
    get(row) {
      const [start = 0, end = 0] = [bounds[row], bounds[row + 1]];
      const at = column.ids + start * bytes;
      const count = end - start;
      const ids =
        column.physical === 'U8' ? memory.u8(at, count) : column.physical === 'U16' ? memory.u16(at, count) : memory.u32(at, count);
      return count === 0 ? null : Array.from(ids, (id) => texts[id] ?? null);
    },
  };
}

function limited(value: Value, { name, maxBytes }: ExpressionFold): Value {
  if (typeof value !== 'bigint' && typeof value !== 'number' && sizeOf(value) > maxBytes)
    throw new ServiceError('resource_limit', `the value of aggregator "${name}" grew beyond ${maxBytes} bytes (maxSizeBytes)`);
  return value;
}

export function sizeOf(value: Value): number {
  if (value === null || typeof value === 'bigint' || typeof value === 'number') return 8;
  if (isArrayValue(value)) return value.reduce((sum: number, element) => sum + sizeOf(element), 8);
  return Buffer.byteLength(toText(value) ?? '');
}

/** JSON has no LONGs: those are digits in a list of their own. */
export function tagged(value: Value): unknown {
  if (typeof value === 'bigint') return { l: String(value) };
  if (typeof value === 'number') return { d: Object.is(value, -0) ? '-0' : String(value) };
  if (typeof value === 'string' || value === null) return value;
  return isArrayValue(value) ? value.map(tagged) : { j: toText(value) };
}

export function untagged(data: unknown): Value {
  if (Array.isArray(data)) return data.map(untagged);
  if (typeof data !== 'object' || data === null) return typeof data === 'string' ? data : null;
  if ('l' in data) return BigInt(String(data.l));
  return 'd' in data ? Number(data.d) : valueOfJson(parseJson('j' in data ? String(data.j) : 'null'));
}
