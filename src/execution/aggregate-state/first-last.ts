// Aggregate state of the value at the first or last time.

import { ServiceError } from '../../base/errors.js';
import { type Address, BLOCK_ROWS, PHYSICAL_BYTES } from '../../base/layout.js';
import { compareValues, parseDouble, parseLong, textOfValue, toDouble, type Value, valueOfText } from '../../expression/value.js';
import type { AggregateState } from '../../model/aggregate-state.js';
import { isTextType } from '../../model/schema.js';
import type { StringColumnView } from '../../storage/view.js';
import { type Block, kernelFor } from '../block/context.js';
import { textAt } from '../block/dictionary.js';
import { rememberTexts } from '../block/result-table.js';
import { asTexts } from '../expression/cast-texts.js';
import { asNumbers } from '../expression/convert.js';
import type { SegmentScope } from '../expression/scope.js';
import { extremeTexts } from './extreme.js';
import { listText, rowLists } from './row-lists.js';
import type { Feed, StateOperations } from './state-operations.js';

type FirstLast = Extract<AggregateState, { type: 'first' | 'last' }>;

/** The best value so far and its time; before any, the worst time there is. `at`: its position in the batch, or -1. */
export interface TimedValue {
  time: number;
  value: Value;
  at: number;
}

export function firstLastState(aggregateState: FirstLast): StateOperations<TimedValue> {
  const isLast = aggregateState.type === 'last';
  const worst = isLast ? -Infinity : Infinity;
  const isBetterTime = isLast ? (a: number, b: number): boolean => a > b : (a: number, b: number): boolean => a < b;
  const isBetterValue = (a: Value, b: Value): boolean => {
    if (a === null || b === null) return b === null && a !== null;
    const order = compareValues(a, b) ?? 0;
    return isLast ? order > 0 : order < 0;
  };
  const self: StateOperations<TimedValue> = {
    isOrdered: false,
    emptyValue: null,
    create: () => ({ time: worst, value: null, at: -1 }),
    merge(into, { time, value }) {
      if (!isBetterTime(time, into.time) && !(time === into.time && isBetterValue(value, into.value))) return;
      into.time = time;
      into.value = value;
    },
    bytes: ({ value }) => 64 + (typeof value === 'string' ? value.length * 2 : 0),
    encode: ({ time, value }) => `${time} ${value === null ? 'n' : `v${Object.is(value, -0) ? '-0' : String(value)}`}`,
    decode(text) {
      const space = text.indexOf(' ');
      const [time, mark] = [Number(text.slice(0, space)), text[space + 1]];
      const value = mark === 'v' ? parseValue(text.slice(space + 2), aggregateState.valueType) : null;
      if (space < 1 || Number.isNaN(time) || (mark !== 'v' && mark !== 'n') || (mark === 'v' && value === null))
        throw new ServiceError('query_invalid', 'a string that should hold a time and a value does not');
      return { time, value, at: -1 };
    },
    // Arrays and JSON are kept as their texts.
    value({ value }) {
      const { valueType, maxStringBytes } = aggregateState;
      if (!isTextType(valueType) || typeof value !== 'string') return value;
      return valueOfText(valueType === 'STRING' ? firstBytes(value, maxStringBytes) : value, valueType);
    },
    addRow(state, [value = null, ...[time]]) {
      if (time === null) return;
      const { valueType } = aggregateState;
      const own = isTextType(valueType) ? textOfValue(value, valueType) : value;
      self.merge(state, { time: toDouble(time ?? 0n) ?? 0, value: own, at: -1 });
    },
    bind(scope, [column = '', timeColumn]) {
      const { valueType } = aggregateState;
      const source = scope.source(column);
      const isList = source.kind === 'string' && source.column.offsets !== 0;
      if (timeColumn !== undefined || isList || !isTextType(valueType))
        return bindTimed(scope, aggregateState, column, timeColumn, isBetterTime, isBetterValue);
      // Without times it is the best text that there is. It is cut in the end: texts that are cut may have another order.
      return extremeTexts<TimedValue>(scope, column, { end: isLast ? 'max' : 'min', valueType }, (state, text) => {
        if (!isBetterTime(0, state.time) && !isBetterValue(text, state.value)) return;
        [state.time, state.value] = [0, text];
      });
    },
  };
  return self;
}

function parseValue(text: string, type: FirstLast['valueType']): Value {
  return isTextType(type) ? text : type === 'LONG' ? parseLong(text) : parseDouble(text);
}

/** A value is read once per group and batch, and at ties of time. */
function bindTimed(
  scope: SegmentScope,
  aggregateState: FirstLast,
  column: string,
  timeColumn: string | undefined,
  isBetterTime: (a: number, b: number) => boolean,
  isBetterValue: (a: Value, b: Value) => boolean,
): Feed<TimedValue> | undefined {
  const { memory, kernels } = scope.context;
  const time = timeColumn === undefined ? undefined : asNumbers(scope, scope.source(timeColumn), 'LONG');
  if (timeColumn !== undefined && time === undefined) return undefined;
  const widen = kernelFor(kernels, 'toF64', time?.physical ?? 'F64');
  const wide = scope.arena.take(BLOCK_ROWS * 8);
  const open = valueReader(scope, aggregateState, column);
  return {
    nulls: time?.mayBeNull === true ? time : undefined,
    add(block, rows, groups, n, stateOf) {
      if (time === undefined) memory.f64(wide, n).fill(0);
      else widen(time.values(block), rows, n, time.base, wide);
      const read = open(block, rows, n);
      const times = memory.f64(wide, n);
      const numbers = memory.u32(groups, n);
      const touched: TimedValue[] = [];
      for (let i = 0; i < n; i++) {
        const state = stateOf(numbers[i] ?? 0);
        const at = times[i] ?? 0;
        if (!isBetterTime(at, state.time)) {
          if (at !== state.time || !isBetterValue(read(i), state.at < 0 ? state.value : read(state.at))) continue;
        }
        state.time = at;
        if (state.at < 0) touched.push(state);
        state.at = i;
      }
      for (const state of touched) {
        state.value = read(state.at);
        state.at = -1;
      }
    },
  };
}

/** Gives, for rows of a block, the value at a position among them. */
export function valueReader(
  scope: SegmentScope,
  aggregateState: FirstLast,
  column: string,
): (block: Block, rows: Address, n: number) => (at: number) => Value {
  const { memory, kernels } = scope.context;
  const { valueType, maxStringBytes } = aggregateState;
  const source = scope.source(column);
  if (valueType === 'STRING' && source.kind === 'string' && source.column.offsets !== 0)
    return listReader(scope, source.column, aggregateState);
  if (isTextType(valueType)) {
    const ids = source.kind === 'string' && source.column.type === valueType ? storedIds(scope, source.column) : undefined;
    const vector = ids === undefined ? asTexts(scope, source, valueType) : undefined;
    const cut = (text: string | null): string | null => (text === null || valueType !== 'STRING' ? text : firstBytes(text, maxStringBytes));
    const text = rememberTexts((id) => cut(ids === undefined ? (vector?.pool.values[id] ?? null) : ids.text(id)));
    return (block, rows, n) => {
      const idOf = ids?.of(block) ?? idsAt(memory.u32(vector?.ids(block) ?? 0, block.rows));
      const at = rows === 0 ? undefined : memory.u32(rows, n);
      return (position) => text(idOf(at === undefined ? position : (at[position] ?? 0)));
    };
  }
  const vector = asNumbers(scope, source, valueType === 'LONG' ? 'LONG' : 'DOUBLE');
  if (vector === undefined) return () => () => null;
  const wide = scope.arena.take(BLOCK_ROWS * 8);
  const isNull = (block: Block, rows: Address, n: number): ((position: number) => boolean) => {
    const nulls = vector.nulls(block);
    if (nulls === 0) return () => false;
    const bits = memory.u8(nulls, Math.ceil(block.rows / 8));
    const at = rows === 0 ? undefined : memory.u32(rows, n);
    return (position) => {
      const row = at === undefined ? position : (at[position] ?? 0);
      return ((bits[row >>> 3] ?? 0) & (1 << (row & 7))) !== 0;
    };
  };
  if (valueType === 'LONG') {
    const { physical } = vector;
    const widen = kernelFor(kernels, 'toI64', physical === 'F32' || physical === 'F64' ? 'I64' : physical);
    return (block, rows, n) => {
      widen(vector.values(block), rows, n, vector.base, wide);
      const values = memory.i64(wide, n);
      const absent = isNull(block, rows, n);
      return (position) => (absent(position) ? null : (values[position] ?? 0n));
    };
  }
  const widen = kernelFor(kernels, 'toF64', vector.physical);
  const round = valueType === 'FLOAT' ? Math.fround : (value: number): number => value;
  return (block, rows, n) => {
    widen(vector.values(block), rows, n, vector.base, wide);
    const values = memory.f64(wide, n);
    const absent = isNull(block, rows, n);
    return (position) => (absent(position) ? null : round(values[position] ?? 0));
  };
}

/** Reads the first value of a multi-value row, or all of them as one string. */
function listReader(
  scope: SegmentScope,
  column: StringColumnView,
  { maxStringBytes, firstOnly }: FirstLast,
): ReturnType<typeof valueReader> {
  const { memory } = scope.context;
  const lists = rowLists(scope, column);
  return (block, rows, n) => {
    lists.open(block);
    const at = rows === 0 ? undefined : memory.u32(rows, n);
    return (position) => {
      const values = lists.get(at === undefined ? position : (at[position] ?? 0));
      const text = firstOnly === true ? (values[0] ?? null) : listText(values);
      return text === null ? null : firstBytes(text, maxStringBytes);
    };
  };
}

function storedIds(scope: SegmentScope, column: StringColumnView) {
  const { memory } = scope.context;
  const { physical, ids, dictionary } = column;
  const bytes = PHYSICAL_BYTES[physical];
  return {
    text: (id: number): string | null => textAt(memory, dictionary, id),
    of(block: Block): (row: number) => number {
      const at = ids + block.start * bytes;
      if (physical === 'U8') return idsAt(memory.u8(at, block.rows));
      return idsAt(physical === 'U16' ? memory.u16(at, block.rows) : memory.u32(at, block.rows));
    },
  };
}

function idsAt(ids: Uint8Array | Uint16Array | Uint32Array): (row: number) => number {
  return (row) => ids[row] ?? 0;
}

/** The longest prefix that fits into this many bytes of UTF-8. */
function firstBytes(text: string, bytes: number): string {
  if (text.length * 3 <= bytes) return text;
  let taken = 0;
  let end = 0;
  for (const character of text) {
    taken += Buffer.byteLength(character);
    if (taken > bytes) break;
    end += character.length;
  }
  return text.slice(0, end);
}
