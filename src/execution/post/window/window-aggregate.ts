// Aggregates over the frame of a window function.

import { assert } from '../../../base/errors.js';
import { toDouble, toText, type Value } from '../../../expression/value.js';
import { stateTraits } from '../../../model/state-traits.js';
import type { WindowCall } from '../../../model/window.js';
import { distinctFolder } from '../../aggregate-state/distinct-values.js';
import { stateOperations } from '../../aggregate-state/operations.js';
import type { StateOperations } from '../../aggregate-state/state-operations.js';

/** An aggregate of the rows of a frame, which are given one after another: the values of the call's columns. */
export interface FrameAggregate {
  clear(): void;
  add(values: readonly Value[]): void;
  /** Takes back the row that was added first of those still there; left out: it cannot. */
  readonly remove?: (values: readonly Value[]) => void;
  /** Result of the values added since the last clear. */
  result(): Value;
}

export function frameAggregate(call: WindowCall): FrameAggregate {
  switch (call.kind) {
    case 'distinct':
      return distinct(call);
    case 'state':
      return collected(call);
    default:
      assert(false, `${call.kind} is not added up`);
  }
}

/** DISTINCT aggregates, by the number of times each value is in the frame. */
function distinct({ fold }: Extract<WindowCall, { kind: 'distinct' }>): FrameAggregate {
  const folded = fold === null ? undefined : distinctFolder(fold);
  const seen = new Map<string, { readonly value: Value; times: number }>();
  const keyOf = (value: Value): string => `${typeof value} ${toText(value) ?? ''}`;
  return {
    clear: () => seen.clear(),
    add([value = null]) {
      if (value === null) return;
      const known = seen.get(keyOf(value));
      if (known === undefined) seen.set(keyOf(value), { value, times: 1 });
      else known.times++;
    },
    remove([value = null]) {
      if (value === null) return;
      const known = seen.get(keyOf(value));
      if (known !== undefined && --known.times === 0) seen.delete(keyOf(value));
    },
    result: () => (folded === undefined ? BigInt(seen.size) : folded([...seen.values()].map(({ value }) => value))),
  };
}

function collected({ aggregateState, input, output }: Extract<WindowCall, { kind: 'state' }>): FrameAggregate {
  const kind = stateOperations(aggregateState);
  const addRow = input === 'states' ? stateAdder(kind) : (kind.addRow ?? numberAdder(kind));
  if (stateTraits(aggregateState).window === 'sliding') return sliding(kind, addRow, output);
  let state: unknown;
  return {
    clear() {
      state = undefined;
    },
    add(values) {
      state ??= kind.create();
      addRow(state, values);
    },
    result() {
      if (output === 'state') return state === undefined ? null : kind.encode(state);
      return state === undefined ? kind.emptyValue : kind.value(state);
    },
  };
}

/**
 * A queue of rows in two parts: the later ones in one state; of the earlier ones a state for each, of it and all up to the
 * later ones. So the first row leaves by dropping its state, and every row is added twice at most.
 */
function sliding(kind: StateOperations<unknown>, addRow: AddRow, output: 'value' | 'state'): FrameAggregate {
  let later: (readonly Value[])[] = [];
  let state = kind.create();
  const earlier: unknown[] = [];
  const restart = (): void => {
    later = [];
    state = kind.create();
  };
  return {
    clear() {
      restart();
      earlier.length = 0;
    },
    add(values) {
      later.push(values);
      addRow(state, values);
    },
    remove() {
      if (earlier.length === 0) {
        for (let row = later.pop(); row !== undefined; row = later.pop()) {
          const suffix = kind.create();
          addRow(suffix, row);
          if (earlier.length > 0) kind.merge(suffix, earlier.at(-1));
          earlier.push(suffix);
        }
        restart();
      }
      earlier.pop();
    },
    result() {
      if (earlier.length === 0 && later.length === 0) return output === 'state' ? null : kind.emptyValue;
      const whole = earlier.length === 0 ? state : kind.create();
      if (earlier.length > 0) {
        kind.merge(whole, earlier.at(-1));
        kind.merge(whole, state);
      }
      return output === 'state' ? kind.encode(whole) : kind.value(whole);
    },
  };
}

type AddRow = (state: unknown, values: readonly Value[]) => void;

function stateAdder(kind: StateOperations<unknown>): AddRow {
  return (state, [text = null]) => {
    if (typeof text === 'string') kind.merge(state, kind.decode(text));
  };
}

function numberAdder({ addNumber }: StateOperations<unknown>): AddRow {
  assert(addNumber !== undefined, 'an aggregate state of a window takes no rows one by one');
  return (state, [value = null]) => {
    const number = toDouble(value);
    if (number !== null) addNumber(state, number);
  };
}
