// Aggregate state of values listed in an order (`ARRAY_AGG(x ORDER BY y)`).

import { ServiceError } from '../../base/errors.js';
import { compileExpression } from '../../expression/evaluate.js';
import { compareValues, convert, isArrayValue, type Value } from '../../expression/value.js';
import type { AggregateState } from '../../model/aggregate-state.js';
import { ROWS_PER_CHECK } from '../block/checked-loops.js';
import { multiValue } from '../expression/multi-value.js';
import { rowReader } from '../expression/row-reader.js';
import type { SegmentScope } from '../expression/scope.js';
import { listReader, taggedText, valueOfTagged } from './expression-fold.js';
import { firstMeetings } from './first-meetings.js';
import type { Feed, StateOperations } from './state-operations.js';
import { sizeOf } from './value-size.js';

type OrderedList = Extract<AggregateState, { type: 'list' }>;

interface Entry {
  readonly value: Value;
  /** Sort keys. */
  readonly keys: readonly Value[];
}

/** The values so far, in no order; of distinct ones by what they are printed as. */
interface Entries {
  readonly list: Entry[];
  readonly known: Set<string> | undefined;
  /** Size of the values, limited by `maxBytes`. */
  bytes: number;
  /** Size of what is kept beside the values: sort keys, and the printed form of distinct ones. */
  besideBytes: number;
}

/** Overhead of an entry beside its values. */
const ENTRY_BYTES = 64;

/** Values in an order. What is alike in all keys is ordered by the value itself, so that how rows are read does not show. */
export function orderedListState(aggregateState: OrderedList): StateOperations<Entries> {
  const { order, distinct, flattens, listType, resultType, maxBytes } = aggregateState;
  const finalize = aggregateState.finalize === null ? undefined : compileExpression(aggregateState.finalize, () => listType);
  const compare = (a: Entry, b: Entry): number => {
    for (const [index, { descending, nulls }] of order.entries()) {
      const compared = compareKeys(a.keys[index] ?? null, b.keys[index] ?? null, descending, nulls === 'first');
      if (compared !== 0) return compared;
    }
    return compareKeys(a.value, b.value, false, true);
  };
  const empty = (): Entries => ({ list: [], known: distinct ? new Set() : undefined, bytes: 0, besideBytes: 0 });
  const add = (state: Entries, entry: Entry): void => {
    if (state.known !== undefined) {
      const printed = taggedText(entry.value);
      if (state.known.has(printed)) return;
      state.known.add(printed);
      state.besideBytes += Buffer.byteLength(printed);
    }
    state.besideBytes += entry.keys.reduce((sum: number, key) => sum + sizeOf(key), 0);
    state.bytes += sizeOf(entry.value);
    if (state.bytes > maxBytes)
      throw new ServiceError(
        'resource_limit',
        `a list of an aggregate grew beyond ${maxBytes} bytes; its size can be given as an argument`,
      );
    state.list.push(entry);
  };
  return {
    isOrdered: false,
    emptyValue: null,
    create: empty,
    merge(into, from) {
      for (const entry of from.list) add(into, entry);
    },
    bytes: ({ list, bytes, besideBytes }) => 64 + bytes + besideBytes + list.length * ENTRY_BYTES,
    encode: ({ list }) => taggedText(list.map(({ value, keys }) => [value, ...keys])),
    decode(text) {
      const state = empty();
      const entries = valueOfTagged(text);
      if (!isArrayValue(entries)) throw new ServiceError('query_invalid', 'a string that should hold the values of a list does not');
      for (const entry of entries) {
        const [value = null, ...keys] = isArrayValue(entry) ? entry : [];
        add(state, { value, keys });
      }
      return state;
    },
    addRow: (state, [value = null, ...keys]) => add(state, { value, keys }),
    value({ list }, check = () => undefined) {
      let compared = 0;
      const values = [...list]
        .sort((a, b) => {
          if (compared++ % ROWS_PER_CHECK === 0) check();
          return compare(a, b);
        })
        .map(({ value }) => value);
      const whole = flattens ? values.flatMap((value) => (isArrayValue(value) ? value : [value])) : values;
      return convert(finalize === undefined ? whole : finalize(() => whole), resultType);
    },
    bind: (scope, columns) => bindRows(scope, columns, distinct, add),
  };
}

function compareKeys(a: Value, b: Value, descending: boolean, nullsFirst: boolean): number {
  if (a === null || b === null) return a === b ? 0 : (a === null) === nullsFirst ? -1 : 1;
  const compared = compareValues(a, b) ?? 0;
  return descending ? -compared : compared;
}

/** Each value of a row of several is an entry of its own. */
function bindRows(
  scope: SegmentScope,
  [column = '', ...keyColumns]: readonly string[],
  distinct: boolean,
  add: (state: Entries, entry: Entry) => void,
): Feed<Entries> {
  const { memory } = scope.context;
  const listed = multiValue(scope, column);
  const reader = listed === undefined ? rowReader(scope, scope.source(column)) : listReader(scope, listed);
  const keyReaders = keyColumns.map((key) => rowReader(scope, scope.source(key)));
  const newTexts = distinct ? firstMeetings(scope, column) : undefined;
  return {
    nulls: undefined,
    add(block, allRows, allGroups, all, stateOf) {
      const positions = { rows: allRows, groups: allGroups, n: all };
      const { rows, groups, n } = newTexts?.(block, positions) ?? positions;
      if (n === 0) return;
      for (const each of [reader, ...keyReaders]) each.open(block);
      const numbers = memory.u32(groups, n).slice();
      const picked = rows === 0 ? undefined : memory.u32(rows, n).slice();
      for (let i = 0; i < n; i++) {
        if (i % ROWS_PER_CHECK === 0) scope.context.check();
        const row = picked === undefined ? i : (picked[i] ?? 0);
        const keys = keyReaders.map(({ get }) => get(row));
        const value = reader.get(row);
        const state = stateOf(numbers[i] ?? 0);
        if (listed === undefined || !isArrayValue(value)) add(state, { value, keys });
        else for (const element of value) add(state, { value: element, keys });
      }
    },
  };
}
