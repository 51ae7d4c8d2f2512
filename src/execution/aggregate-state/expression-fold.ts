// Aggregate state that expressions of the query fold rows into (`expression` aggregator).

import { ServiceError } from '../../base/errors.js';
import { parseJson } from '../../base/json.js';
import { PHYSICAL_BYTES } from '../../base/layout.js';
import { compileExpression } from '../../expression/evaluate.js';
import { EACH_VALUE } from '../../expression/functions/apply.js';
import { asArray, refuseLength } from '../../expression/functions/array-value.js';
import { eachValueOf } from '../../expression/multi-value.js';
import { convert, isArrayValue, toDouble, toText, type Value, valueOfJson } from '../../expression/value.js';
import type { AggregateState } from '../../model/aggregate-state.js';
import type { Expression } from '../../model/expression.js';
import type { ColumnType } from '../../model/schema.js';
import type { StringColumnView } from '../../storage/view.js';
import { ROWS_PER_CHECK } from '../block/checked-loops.js';
import { multiValue } from '../expression/multi-value.js';
import { type RowReader, rowReader } from '../expression/row-reader.js';
import type { SegmentScope } from '../expression/scope.js';
import { longColumn } from '../expression/time/bucketed.js';
import { bitFeed, bitFoldOf } from './bit-fold.js';
import { BitGroups } from './bit-groups.js';
import { firstMeetings } from './first-meetings.js';
import { GrowingList, isSetFunction, type ListFold, listFoldOf } from './growing-list.js';
import { listFeed } from './lists/list-feed.js';
import { ListGroups, type ListStateKind } from './lists/list-groups.js';
import { type ListShape, listShapeOf } from './lists/list-shape.js';
import type { BitKind, Feed, StateOperations } from './state-operations.js';
import { sizeOf } from './value-size.js';

type ExpressionFold = Extract<AggregateState, { type: 'expression' }>;

/** Accumulated value of an expression fold. */
export class Folded {
  /** 0: of no row; 1: of rows of one segment; else how many were combined. */
  parts = 0;
  #value: Value;
  #sizeBytes: number;
  /** List that stands in for the value while rows are appended to it. */
  #list: GrowingList | undefined;

  constructor(value: Value) {
    this.#value = value;
    this.#sizeBytes = sizeOf(value);
  }

  get value(): Value {
    return this.#list === undefined ? this.#value : this.#list.elements();
  }

  /** Lower bound on the size of the value. */
  get sizeBytes(): number {
    return this.#list?.bytes ?? this.#sizeBytes;
  }

  /** The elements of a list in any order, those of a set perhaps more than once; null for other values. Not to be kept. */
  get elements(): readonly Value[] | null {
    const value = this.#list?.unsettled() ?? this.#value;
    return isArrayValue(value) ? value : null;
  }

  set(value: Value, sizeBytes: number): void {
    this.#list = undefined;
    this.#value = value;
    this.#sizeBytes = sizeBytes;
  }

  /** The value as a list that a function may append to; undefined when it is not a list. */
  growing(fold: ListFold): GrowingList | undefined {
    if (this.#list?.isLike(fold) === false) this.set(this.value, this.sizeBytes);
    if (this.#list === undefined && isArrayValue(this.#value)) this.#list = new GrowingList(fold, this.#value);
    return this.#list;
  }
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
    return combine((column) => (column === accumulator ? value : column === name ? other : null));
  };
  const fold = compileExpression(aggregateState.fold, (column) => (column === accumulator ? type : undefined));
  const order = aggregateState.compare === null ? undefined : compileExpression(aggregateState.compare, () => type);
  const compare = (a: Folded, b: Folded): number => {
    if (a.value === null || b.value === null) return Number(a.value !== null) - Number(b.value !== null);
    return toDouble(order?.((operand) => (operand === 'o1' ? a.value : b.value)) ?? null) ?? 0;
  };
  const union = unionOf(aggregateState, initialCombine);
  const shape = union === undefined || !isArrayValue(initial) || initial.length > 0 ? undefined : listShapeOf(aggregateState, union);
  /** Adds one list to another; false where they are none. */
  const joined = (into: Folded, from: Folded): boolean => {
    const added = union === undefined ? null : from.elements;
    const list = union === undefined || added === null ? undefined : into.growing(union);
    if (list === undefined || added === null) return false;
    list.addAll(added);
    refuseAbove(list, aggregateState);
    return true;
  };
  const decode = (text: string): Folded => {
    const space = text.indexOf(' ');
    const state = new Folded(valueOfTagged(text.slice(space + 1)));
    state.parts = Number(text.slice(0, space));
    return state;
  };
  const bits = bitKindOf(aggregateState, initial, initialCombine);
  const self: StateOperations<Folded> = {
    isOrdered: union === undefined || !isUnordered(aggregateState, union),
    emptyValue: aggregateState.isNullUnlessAggregated ? null : finished(initial),
    create: () => new Folded(initial),
    merge(into, from) {
      if (from.parts === 0) return;
      if (into.parts === 0) into.set(from.value, from.sizeBytes);
      else if (!joined(into, from)) {
        if (into.parts === 1) setLimited(into, combined(initialCombine, into.value), aggregateState);
        setLimited(into, combined(into.value, from.value), aggregateState);
      }
      into.parts += from.parts;
    },
    bytes: ({ sizeBytes }) => 64 + sizeBytes,
    encode: ({ value, parts }) => `${parts} ${taggedText(value)}`,
    decode,
    compare,
    addRow(state, values) {
      if (!aggregateState.foldsNulls && values.includes(null)) return;
      const { value } = state;
      const read = (column: string): Value => (column === accumulator ? value : (values[aggregateState.fields.indexOf(column)] ?? null));
      setLimited(state, fold(read), aggregateState);
      state.parts = 1;
    },
    value: ({ value, parts }) => (parts === 0 && aggregateState.isNullUnlessAggregated ? null : finished(value)),
    bind: (scope, columns) => bindRows(scope, aggregateState, columns, shape),
    ...(shape === undefined ? {} : { store: listStore(aggregateState, shape, decode) }),
    ...(bits === undefined
      ? {}
      : { bits, store: (context, charge) => new BitGroups(context, bits, self as StateOperations<unknown>, charge) }),
  };
  return self;
}

/** Folds and results that change bits alike, beginning with those that change nothing. */
function bitKindOf(
  { fold, combine, accumulator, name, valueType, foldsNulls }: ExpressionFold,
  initial: Value,
  initialCombine: Value,
): BitKind | undefined {
  const [ofRows, ofResults] = [bitFoldOf(fold, accumulator), bitFoldOf(combine, accumulator)];
  if (ofRows === undefined || ofRows.bits !== ofResults?.bits || ofResults.field !== name || valueType !== 'LONG' || foldsNulls)
    return undefined;
  const { neutral, name: operation } = ofRows.bits;
  if (initial !== neutral || initialCombine !== neutral) return undefined;
  return {
    operation,
    stateOf(value) {
      const state = new Folded(value);
      state.parts = 1;
      return state;
    },
  };
}

/** Lists in kernel memory, which are states of the heap where somebody reads one. */
function listStore(
  aggregateState: ExpressionFold,
  shape: ListShape,
  decode: (text: string) => Folded,
): NonNullable<StateOperations<Folded>['store']> {
  const kind: ListStateKind = {
    shape,
    refuse(elements, bytes) {
      if (8 + bytes > aggregateState.maxBytes) throw grewBeyond(aggregateState.name, aggregateState.maxBytes);
      refuseLength(shape.function, elements);
    },
    stateOf(values) {
      const state = new Folded(values);
      state.parts = values.length === 0 ? 0 : 1;
      return state;
    },
    valuesOf: (state) => asArray((state as Folded).value) ?? [],
    decode,
  };
  return (context, charge) => new ListGroups(context, kind, charge);
}

function setLimited(state: Folded, value: Value, aggregateState: ExpressionFold): void {
  state.set(value, limitedBytes(value, aggregateState));
}

/** The fold of results, where it adds the list of other rows to that of some, and to nothing before it. */
function unionOf({ combine, accumulator, name, valueType }: ExpressionFold, initialCombine: Value): ListFold | undefined {
  if (!isArrayValue(initialCombine) || initialCombine.length > 0) return undefined;
  const union = listFoldOf(combine, accumulator, (column) => (column === accumulator || column === name ? valueType : undefined));
  return union?.field === name ? union : undefined;
}

/** Types whose equal elements look the same: doubles have two zeros. */
const LOOK_THE_SAME: readonly ColumnType[] = ['STRING', 'LONG'];

/** Whether a set is the same in whatever order rows and results are met. */
function isUnordered({ fold, accumulator, fields, valueType }: ExpressionFold, union: ListFold): boolean {
  const added = listFoldOf(fold, accumulator, () => valueType);
  if (added === undefined || !fields.includes(added.field)) return false;
  return isSetFunction(added.function) && isSetFunction(union.function) && LOOK_THE_SAME.includes(union.element);
}

function constant(expression: ExpressionFold['initial']): Value {
  return compileExpression(expression, () => undefined)(() => null);
}

/** Row by row, as one value depends on the one before. */
function bindRows(
  scope: SegmentScope,
  aggregateState: ExpressionFold,
  columns: readonly string[],
  shape: ListShape | undefined,
): Feed<Folded> {
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
  const check = () => scope.context.check();
  const foldOfRows = foldOfEach(aggregateState, isMultiValue);
  const fold = compileExpression(foldOfRows, typeOf, check);
  const bits = bitFold(scope, aggregateState, (field) => columnOf.get(field));
  if (bits !== undefined) return bits;
  const listFold = listFoldOf(foldOfRows, accumulator, typeOf);
  const lists =
    shape === undefined || listFold?.function !== shape.function || listFold.element !== shape.element
      ? undefined
      : listFeed<Folded>(scope, columnOf.get(listFold.field) ?? '', shape, aggregateState.foldsNulls);
  if (lists !== undefined) return lists;
  const isSet = listFold?.function === 'array_set_add' && readers.size === 1;
  const newTexts = isSet ? firstMeetings(scope, columnOf.get(listFold.field) ?? '') : undefined;
  const inputs = new Map<string, Value>();
  return {
    nulls: undefined,
    add(block, allRows, allGroups, all, stateOf) {
      const positions = { rows: allRows, groups: allGroups, n: all };
      const { rows, groups, n } = newTexts?.(block, positions) ?? positions;
      if (n === 0) return;
      for (const reader of readers.values()) reader.open(block);
      const listed = rows === 0 ? undefined : memory.u32(rows, n).slice();
      const numbers = memory.u32(groups, n).slice();
      for (let i = 0; i < n; i++) {
        if (i % ROWS_PER_CHECK === 0) check();
        const row = listed === undefined ? i : (listed[i] ?? 0);
        let hasNull = false;
        for (const [field, reader] of readers) {
          const value = reader.get(row);
          hasNull ||= value === null;
          inputs.set(field, value);
        }
        if (!aggregateState.foldsNulls && hasNull) continue;
        const state = stateOf(numbers[i] ?? 0);
        state.parts = 1;
        const list = listFold === undefined ? undefined : state.growing(listFold);
        if (list?.add(inputs.get(listFold?.field ?? '') ?? null) === true) {
          refuseAbove(list, aggregateState);
          continue;
        }
        // A value that is copied for each row takes its time.
        if (state.sizeBytes > LONG_BYTES) check();
        const { value } = state;
        setLimited(
          state,
          fold((name) => (name === accumulator ? value : (inputs.get(name) ?? null))),
          aggregateState,
        );
      }
    },
  };
}

/** A fold of bits of LONGs; undefined for every other one. */
function bitFold(
  scope: SegmentScope,
  { fold, accumulator, foldsNulls, initial, valueType }: ExpressionFold,
  columnOf: (field: string) => string | undefined,
): Feed<Folded> | undefined {
  const bits = bitFoldOf(fold, accumulator);
  const vector = bits === undefined ? undefined : longColumn(scope, columnOf(bits.field) ?? '');
  if (bits === undefined || vector === undefined || foldsNulls) return undefined;
  if (valueType !== 'LONG' || typeof constant(initial) !== 'bigint') return undefined;
  return bitFeed<Folded>(scope, vector, bits, (state, apply) => {
    state.parts = 1;
    state.set(apply(typeof state.value === 'bigint' ? state.value : 0n), LONG_SIZE);
  });
}

/** Size of a LONG among values. */
const LONG_SIZE = 8;

/** Fold expression that folds over each value of a multi-value field in turn where it takes single values. */
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

/** Between two looks at whether the query still runs, no more is copied. */
const LONG_BYTES = 64 * 1024;

/** A character of a JavaScript string takes so many bytes of UTF-8 at most. */
const BYTES_OF_CHARACTER_MAX = 3;

/** @returns the bytes of the value, or as many as it may take at most while these are within the limit */
function limitedBytes(value: Value, { name, maxBytes }: ExpressionFold): number {
  if (value === null || typeof value === 'bigint' || typeof value === 'number') return 8;
  // Measuring a text takes as long as it is, and copies one that was put together.
  if (typeof value === 'string' && value.length * BYTES_OF_CHARACTER_MAX <= maxBytes) return value.length * BYTES_OF_CHARACTER_MAX;
  const bytes = sizeOf(value);
  if (bytes > maxBytes) throw grewBeyond(name, maxBytes);
  return bytes;
}

function refuseAbove(list: GrowingList, { name, maxBytes }: ExpressionFold): void {
  if (list.bytes > maxBytes && list.measuredBytes() > maxBytes) throw grewBeyond(name, maxBytes);
}

function grewBeyond(name: string, maxBytes: number): ServiceError {
  return new ServiceError('resource_limit', `the value of aggregator "${name}" grew beyond ${maxBytes} bytes (maxSizeBytes)`);
}

/** A value as JSON; `valueOfTagged` is the inverse. */
export function taggedText(value: Value): string {
  return JSON.stringify(tagged(value));
}

/** @throws ServiceError `query_invalid` for text that is no JSON */
export function valueOfTagged(text: string): Value {
  return untagged(parseJson(text, { readsNumbers: false }));
}

/** JSON has no LONGs, and doubles that it has not: their digits are strings in an object. */
type Tagged = string | null | readonly Tagged[] | { readonly [tag in 'l' | 'd' | 'j']?: string | null };

function tagged(value: Value): Tagged {
  if (typeof value === 'bigint') return { l: String(value) };
  if (typeof value === 'number') return { d: Object.is(value, -0) ? '-0' : String(value) };
  if (typeof value === 'string' || value === null) return value;
  return isArrayValue(value) ? value.map(tagged) : { j: toText(value) };
}

function untagged(data: unknown): Value {
  if (Array.isArray(data)) return data.map(untagged);
  if (typeof data !== 'object' || data === null) return typeof data === 'string' ? data : null;
  if ('l' in data) return BigInt(String(data.l));
  return 'd' in data ? Number(data.d) : valueOfJson(parseJson('j' in data ? String(data.j) : 'null'));
}
