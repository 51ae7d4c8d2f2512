import { assert, ServiceError } from '../../base/errors.js';
import { compileExpression } from '../../expression/evaluate.js';
import type { Value } from '../../expression/value.js';
import { compareValues, convert, toText, wrapLong } from '../../expression/value.js';
import type { ExpressionFold } from '../../model/collector.js';
import type { ColumnType } from '../../model/schema.js';
import type { WindowCall } from '../../model/window.js';

/** An aggregate of the values of a frame, which are given one after another. */
export interface FrameAggregate {
  clear(): void;
  add(value: Value): void;
  /** Of what was added since it was cleared. */
  result(): Value;
}

/** @param input  the type of the values */
export function frameAggregate(call: WindowCall, input: ColumnType, type: ColumnType): FrameAggregate {
  switch (call.kind) {
    case 'count':
      return folded<bigint>(0n, (count, value) => (value === null ? count : count + 1n));
    case 'sum':
      return type === 'LONG'
        ? folded<bigint | null>(null, (sum, value) => (value === null ? sum : wrapLong((sum ?? 0n) + (convert(value, 'LONG') ?? 0n))))
        : folded<number | null>(null, (sum, value) => (value === null ? sum : (sum ?? 0) + (convert(value, 'DOUBLE') ?? 0)));
    case 'min':
    case 'max': {
      const sign = call.kind === 'min' ? 1 : -1;
      return folded<Value>(null, (best, value) => {
        if (value === null || best === null) return best ?? value;
        return sign * (compareValues(value, best) ?? 0) < 0 ? value : best;
      });
    }
    case 'distinct':
      return distinct();
    case 'first':
    case 'last':
      return edge(call.kind);
    case 'fold':
      return expressionFold(call.collector, input);
    default:
      assert(false, `${call.kind} has no frame`);
  }
}

function folded<State extends Value>(initial: State, add: (state: State, value: Value) => State): FrameAggregate {
  let state = initial;
  return {
    clear() {
      state = initial;
    },
    add(value) {
      state = add(state, value);
    },
    result: () => state,
  };
}

function distinct(): FrameAggregate {
  const seen = new Set<string>();
  return {
    clear: () => seen.clear(),
    add(value) {
      if (value !== null) seen.add(toText(value) ?? '');
    },
    result: () => BigInt(seen.size),
  };
}

/** The first or the last value, null or not. */
function edge(kind: 'first' | 'last'): FrameAggregate {
  let [value, isSet]: [Value, boolean] = [null, false];
  return {
    clear() {
      [value, isSet] = [null, false];
    },
    add(next) {
      if (kind === 'first' && isSet) return;
      [value, isSet] = [next, true];
    },
    result: () => value,
  };
}

function expressionFold(collector: ExpressionFold, input: ColumnType): FrameAggregate {
  const { accumulator, fields, valueType, maxBytes } = collector;
  const [field = ''] = fields;
  const initial = compileExpression(collector.initial, () => undefined)(() => null);
  const fold = compileExpression(collector.fold, (name) => (name === accumulator ? valueType : input));
  const finalize = collector.finalize === null ? undefined : compileExpression(collector.finalize, () => valueType);
  let [state, isEmpty]: [Value, boolean] = [initial, true];
  return {
    clear() {
      [state, isEmpty] = [initial, true];
    },
    add(value) {
      if (value === null && !collector.foldsNulls) return;
      const before = state;
      state = fold((name) => (name === accumulator ? before : name === field ? value : null));
      isEmpty = false;
      if (typeof state === 'object' && (toText(state)?.length ?? 0) > maxBytes)
        throw new ServiceError('resource_limit', `an aggregate of a window holds more than the ${maxBytes} bytes it was given`);
    },
    result() {
      const value = isEmpty && collector.isNullUnlessAggregated ? null : state;
      return finalize === undefined || value === null ? value : finalize(() => value);
    },
  };
}
