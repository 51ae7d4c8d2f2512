// Aggregate state of the value at the first or last time.

import { type Address, BLOCK_ROWS } from '../../base/layout.js';
import { compareValues, textOfValue, toLong, type Value, valueOfText } from '../../expression/value.js';
import type { AggregateState } from '../../model/aggregate-state.js';
import { isTextType } from '../../model/schema.js';
import type { StringColumnView } from '../../storage/view.js';
import type { Block } from '../block/context.js';
import { rememberTexts } from '../block/result-table.js';
import { asTexts } from '../expression/cast-texts.js';
import { asNumbers } from '../expression/convert.js';
import type { SegmentScope } from '../expression/scope.js';
import { extremeTexts } from './extreme.js';
import { listText, rowLists } from './row-lists.js';
import type { Feed, SharedWork, StateOperations } from './state-operations.js';
import { BestAtTimes, BestTimes, type SortableValues, sortableNumbers, sortableTexts } from './timed/best-times.js';
import { TimedGroups } from './timed/timed-groups.js';
import { decodeTimed, encodeTimed, type TimedValue, worstTime } from './timed/timed-value.js';

type FirstLast = Extract<AggregateState, { type: 'first' | 'last' }>;

export function firstLastState(aggregateState: FirstLast): StateOperations<TimedValue> {
  const isLast = aggregateState.type === 'last';
  const worst = worstTime(aggregateState.type);
  const isBetterTime = isLast ? (a: bigint, b: bigint): boolean => a > b : (a: bigint, b: bigint): boolean => a < b;
  const isBetterValue = (a: Value, b: Value): boolean => {
    if (a === null || b === null) return b === null && a !== null;
    const order = compareValues(a, b) || zeroOrder(a, b);
    return isLast ? order > 0 : order < 0;
  };
  const self: StateOperations<TimedValue> = {
    isOrdered: false,
    emptyValue: null,
    create: () => ({ time: worst, value: null }),
    merge(into, { time, value }) {
      if (!isBetterTime(time, into.time) && !(time === into.time && isBetterValue(value, into.value))) return;
      into.time = time;
      into.value = value;
    },
    bytes: ({ value }) => 64 + (typeof value === 'string' ? value.length * 2 : 0),
    encode: encodeTimed,
    decode: (text) => decodeTimed(text, aggregateState.valueType),
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
      self.merge(state, { time: time === undefined ? 0n : (toLong(time) ?? 0n), value: own });
    },
    store(context, charge) {
      const { type: ending, valueType, maxStringBytes: textBytesMax } = aggregateState;
      return new TimedGroups(context, { ending, valueType, textBytesMax, merge: self.merge }, charge);
    },
    bind(scope, [column = '', timeColumn], shared) {
      const { valueType } = aggregateState;
      const source = scope.source(column);
      const isList = source.kind === 'string' && source.column.offsets !== 0;
      if (timeColumn !== undefined || isList || !isTextType(valueType))
        return bindTimed(scope, aggregateState, [column, timeColumn], shared, self);
      // Without times it is the best text that there is. It is cut in the end: texts that are cut may have another order.
      return extremeTexts<TimedValue>(scope, column, { end: isLast ? 'max' : 'min', valueType }, (state, text) => {
        self.merge(state, { time: 0n, value: text });
      });
    },
  };
  return self;
}

/** Zeros are equal, and kernels choose -0.0 before 0.0: which of them is the value does not hang on where the rows lie. */
function zeroOrder(a: Value, b: Value): number {
  return a === 0 && b === 0 ? 1 / a - 1 / b : 0;
}

/** Rows are chosen by their times in kernels; so are values at the same time where kernels can compare them. */
function bindTimed(
  scope: SegmentScope,
  aggregateState: FirstLast,
  [column, timeColumn]: readonly [string, string | undefined],
  shared: SharedWork,
  operations: Pick<StateOperations<TimedValue>, 'merge'>,
): Feed<TimedValue> | undefined {
  const isLast = aggregateState.type === 'last';
  const times = timeColumn === undefined ? undefined : bestTimes(scope, timeColumn, isLast, shared);
  if (timeColumn !== undefined && times === undefined) return undefined;
  const nulls = times?.time.mayBeNull === true ? times.time : undefined;
  const values = sortableValues(scope, aggregateState, column);
  if (values === undefined) return { nulls, ...rowFeed(scope, aggregateState, column, times, operations) };
  const best = new BestAtTimes<Value>(scope, values, times, isLast);
  return {
    nulls,
    add: (block, rows, groups, n) => best.add(block, { rows, groups, n }),
    end: (stateOf) => best.each((group, time, value) => operations.merge(stateOf(group), { time, value })),
    endTimed: (groupOf, groupCount, add) => best.eachBlock(groupOf, groupCount, add),
  };
}

/** The times of a group are the same for all values that are asked for there. */
function bestTimes(scope: SegmentScope, column: string, isLast: boolean, shared: SharedWork): BestTimes | undefined {
  const name = `${isLast ? 'last' : 'first'} ${column}`;
  const known = shared.get(name);
  if (known instanceof BestTimes) return known;
  const time = asNumbers(scope, scope.source(column), 'LONG');
  if (time === undefined) return undefined;
  const made = new BestTimes(scope, time, isLast);
  shared.set(name, made);
  return made;
}

/** undefined: kernels cannot compare them. */
function sortableValues(scope: SegmentScope, { valueType, maxStringBytes }: FirstLast, column: string): SortableValues<Value> | undefined {
  const source = scope.source(column);
  if (!isTextType(valueType)) return sortableNumbers(scope, column, valueType === 'LONG' || valueType === 'FLOAT' ? valueType : 'DOUBLE');
  if (source.kind !== 'string' || source.column.offsets !== 0 || source.column.type !== valueType) return undefined;
  return sortableTexts(scope, source.column, (text) => (valueType === 'STRING' ? firstBytes(text, maxStringBytes) : text));
}

/** Values are read for rows at the best time of their group so far. */
function rowFeed(
  scope: SegmentScope,
  aggregateState: FirstLast,
  column: string,
  times: BestTimes | undefined,
  { merge }: Pick<StateOperations<TimedValue>, 'merge'>,
): Pick<Feed<TimedValue>, 'add'> {
  const { memory } = scope.context;
  const open = textReader(scope, aggregateState, column);
  const asker = {};
  return {
    add(block, allRows, allGroups, all, stateOf) {
      const positions = { rows: allRows, groups: allGroups, n: all };
      const { rows, groups, n } = times?.take(asker, block, positions) ?? positions;
      if (n === 0) return;
      const read = open(block, rows, n);
      const numbers = memory.u32(groups, n).slice();
      const at = times?.times ?? 0;
      for (let i = 0; i < n; i++) {
        const group = numbers[i] ?? 0;
        merge(stateOf(group), { time: at === 0 ? 0n : (memory.i64(at + group * 8, 1)[0] ?? 0n), value: read(i) });
      }
    },
  };
}

type ValueReader = (block: Block, rows: Address, n: number) => (at: number) => Value;

/** Gives, for rows of a block, the value at a position among them. */
export function valueReader(scope: SegmentScope, aggregateState: FirstLast, column: string): ValueReader {
  const values = sortableValues(scope, aggregateState, column);
  if (values === undefined) return textReader(scope, aggregateState, column);
  const { memory } = scope.context;
  const keys = scope.arena.take(BLOCK_ROWS * 8);
  return (block, rows, n) => {
    const nulls = values.read(block, { rows, groups: 0, n }, keys);
    const bits = nulls === 0 ? undefined : memory.u8(nulls, Math.ceil(block.rows / 8));
    const [found, picked] = [memory.i64(keys, n), rows === 0 ? undefined : memory.u32(rows, n)];
    return (at) => {
      const row = picked === undefined ? at : (picked[at] ?? 0);
      return ((bits?.[row >>> 3] ?? 0) & (1 << (row & 7))) !== 0 ? null : values.value(found[at] ?? 0n);
    };
  };
}

/** The same of texts that are computed or lists; of columns of numbers that are missing. */
function textReader(scope: SegmentScope, aggregateState: FirstLast, column: string): ValueReader {
  const { memory } = scope.context;
  const { valueType, maxStringBytes } = aggregateState;
  const source = scope.source(column);
  if (!isTextType(valueType)) return () => () => null;
  if (valueType === 'STRING' && source.kind === 'string' && source.column.offsets !== 0)
    return listReader(scope, source.column, aggregateState);
  const vector = asTexts(scope, source, valueType);
  const text = rememberTexts((id) => {
    const found = vector.pool.values[id] ?? null;
    return found === null || valueType !== 'STRING' ? found : firstBytes(found, maxStringBytes);
  });
  return (block, rows, n) => {
    const ids = memory.u32(vector.ids(block), block.rows);
    const at = rows === 0 ? undefined : memory.u32(rows, n);
    return (position) => text(ids[at === undefined ? position : (at[position] ?? 0)] ?? 0);
  };
}

/** Reads the first value of a multi-value row, or all of them as one string. */
function listReader(scope: SegmentScope, column: StringColumnView, { maxStringBytes, firstOnly }: FirstLast): ValueReader {
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
