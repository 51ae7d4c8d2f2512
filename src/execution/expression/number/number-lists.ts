// Elements of stored arrays of numbers, by entry of their dictionary.

import { ServiceError } from '../../../base/errors.js';
import { constantOf } from '../../../expression/expression-type.js';
import type { Value } from '../../../expression/value.js';
import { NumbersOfArrays, numberAt, numberCount } from '../../../model/array-text.js';
import type { Expression } from '../../../model/expression.js';
import { elementType, isArrayType } from '../../../model/schema.js';
import type { StringColumnView } from '../../../storage/view.js';
import type { RunContext } from '../../block/context.js';
import { Remembered } from '../remembered-results.js';
import type { SegmentScope } from '../scope.js';

const BYTES_MAX = 1 << 26;
const ENTRIES_PER_CHECK = 1024;

/** Arrays of a dictionary: the elements of entry `id` are those from `starts[id]` to `starts[id + 1]`. */
export interface NumberLists {
  readonly starts: Uint32Array;
  readonly numbers: NumbersOfArrays;
}

const REMEMBERED = new WeakMap<RunContext, Remembered<NumberLists>>();

/** The elements of all entries, without an object for each; undefined of arrays of other than numbers. */
export function numberLists(scope: SegmentScope, column: StringColumnView): NumberLists | undefined {
  const element = numberOf(column);
  if (element === undefined) return undefined;
  const { context } = scope;
  const { type, dictionary } = column;
  const remembered =
    REMEMBERED.get(context) ?? new Remembered<NumberLists>(({ starts, numbers }) => starts.byteLength + numbers.bytes, BYTES_MAX);
  REMEMBERED.set(context, remembered);
  return remembered.get(dictionary, element, () => {
    const { memory } = context;
    const { count } = dictionary;
    const offsets = memory.u32(dictionary.offsets, count + 1);
    const bytes = memory.u8(dictionary.bytes, offsets[count] ?? 0);
    const starts = new Uint32Array(count + 1);
    const numbers = new NumbersOfArrays(element);
    for (let id = 0; id < count; id++) {
      if (id % ENTRIES_PER_CHECK === 0) context.check();
      if (!numbers.read(bytes, offsets[id] ?? 0, offsets[id + 1] ?? 0)) throw new ServiceError('internal', `a string is not an ${type}`);
      starts[id + 1] = numbers.count;
    }
    return { starts, numbers };
  });
}

/** Places are at least so large for the first element. */
const FIRST_PLACES: ReadonlyMap<string, number> = new Map([
  ['array_offset', 0],
  ['array_ordinal', 1],
]);

/** The length of stored arrays of numbers, or their element at a constant place, by entry; undefined for any other expression. */
export function elementFunction(
  scope: SegmentScope,
  column: StringColumnView,
  expression: Expression | undefined,
): ((id: number) => Value) | undefined {
  if (expression?.kind !== 'call' || expression.arguments[0]?.kind !== 'column') return undefined;
  const first = FIRST_PLACES.get(expression.function);
  const place = constantOf(expression.arguments[1])?.value;
  const isPlace = first !== undefined && expression.arguments.length === 2 && typeof place === 'bigint' && place >= first && place < 1e9;
  if (!isPlace && (expression.function !== 'array_length' || expression.arguments.length !== 1)) return undefined;
  const element = numberOf(column);
  if (element === undefined) return undefined;
  const { dictionary } = column;
  const { memory } = scope.context;
  const offsets = memory.u32(dictionary.offsets, dictionary.count + 1);
  const bytes = memory.u8(dictionary.bytes, offsets[dictionary.count] ?? 0);
  const isNull = (id: number): boolean => id === 0 && dictionary.hasNull;
  if (!isPlace) return (id) => (isNull(id) ? null : BigInt(numberCount(bytes, offsets[id] ?? 0, offsets[id + 1] ?? 0)));
  const at = Number(place) - (first ?? 0);
  return (id) => numberAt(bytes, offsets[id] ?? 0, offsets[id + 1] ?? 0, at, element);
}

/** The type of the elements of arrays of numbers; undefined of any others. */
function numberOf({ type }: StringColumnView): 'LONG' | 'DOUBLE' | undefined {
  const element = isArrayType(type) ? elementType(type) : undefined;
  return element === 'LONG' || element === 'DOUBLE' ? element : undefined;
}
