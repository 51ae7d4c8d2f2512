// Elements of stored arrays of numbers, by entry of their dictionary.

import { constantOf } from '../../../expression/expression-type.js';
import { joinedTexts, TEXT_OF_NULL } from '../../../expression/functions/array.js';
import { toText, type Value } from '../../../expression/value.js';
import { arrayText, numberAt, numberCount, numberTexts, placeOfNumber } from '../../../model/array-text.js';
import type { Expression } from '../../../model/expression.js';
import { elementType, isArrayType } from '../../../model/schema.js';
import type { StringColumnView } from '../../../storage/view.js';
import type { SegmentScope } from '../scope.js';

/** Functions of stored arrays of numbers that read their bytes, by entry; undefined for any other expression. */
export function elementFunction(
  scope: SegmentScope,
  column: StringColumnView,
  expression: Expression | undefined,
): ((id: number) => Value) | undefined {
  if (expression?.kind !== 'call' || expression.arguments[0]?.kind !== 'column' || expression.arguments.length > 2) return undefined;
  const element = numberOf(column);
  const make = READING.get(expression.function);
  if (element === undefined || make === undefined) return undefined;
  const read = make(element, constantOf(expression.arguments[1])?.value);
  if (read === undefined) return undefined;
  const { dictionary } = column;
  const { memory } = scope.context;
  const offsets = memory.u32(dictionary.offsets, dictionary.count + 1);
  const bytes = viewOf(memory.u8(dictionary.bytes, offsets[dictionary.count] ?? 0));
  return (id) => (id === 0 && dictionary.hasNull ? null : read(bytes, offsets[id] ?? 0, offsets[id + 1] ?? 0));
}

type Reading = (bytes: DataView, from: number, to: number) => Value;

/** Reading of arrays by a function, given its constant argument; undefined where it has another one. */
type MakeReading = (element: 'LONG' | 'DOUBLE', constant: Value | undefined) => Reading | undefined;

const READING: ReadonlyMap<string, MakeReading> = new Map<string, MakeReading>([
  ['array_length', (_, constant) => (constant === undefined ? (bytes, from, to) => BigInt(numberCount(bytes, from, to)) : undefined)],
  ['array_to_string', joined],
  ['array_offset', (element, place) => elementAt(element, place, 0)],
  ['array_ordinal', (element, place) => elementAt(element, place, 1)],
  ['array_offset_of', (element, wanted) => placeOf(element, wanted, 0)],
  ['array_ordinal_of', (element, wanted) => placeOf(element, wanted, 1)],
]);

/** @param first  the place of the first element */
function elementAt(element: 'LONG' | 'DOUBLE', place: Value | undefined, first: number): Reading | undefined {
  if (typeof place !== 'bigint' || place < first || place >= 1e9) return undefined;
  const at = Number(place) - first;
  return (bytes, from, to) => numberAt(bytes, from, to, at, element);
}

function placeOf(element: 'LONG' | 'DOUBLE', wanted: Value | undefined, first: number): Reading | undefined {
  // Among DOUBLEs 0 is equal to -0, which has other digits, and NaN to nothing.
  const isPlain = element === 'LONG' ? typeof wanted === 'bigint' : typeof wanted === 'number' && wanted !== 0 && !Number.isNaN(wanted);
  if (!isPlain || (typeof wanted !== 'bigint' && typeof wanted !== 'number')) return undefined;
  const digits = arrayText([wanted], element === 'LONG' ? 'ARRAY<LONG>' : 'ARRAY<DOUBLE>').slice(1, -1);
  return (bytes, from, to) => {
    const place = placeOfNumber(bytes, from, to, digits);
    return place < 0 ? null : BigInt(place + first);
  };
}

function joined(element: 'LONG' | 'DOUBLE', separator: Value | undefined): Reading | undefined {
  if (typeof separator !== 'string') return undefined;
  const texts = { element, ofNull: TEXT_OF_NULL, textOf: (value: bigint | number) => toText(value) ?? TEXT_OF_NULL };
  return (bytes, from, to) => {
    const found = numberTexts(bytes, from, to, texts);
    return found.length === 1 && found[0] === TEXT_OF_NULL ? null : joinedTexts(found, separator);
  };
}

/** The type of the elements of arrays of numbers; undefined of any others. */
function numberOf({ type }: StringColumnView): 'LONG' | 'DOUBLE' | undefined {
  const element = isArrayType(type) ? elementType(type) : undefined;
  return element === 'LONG' || element === 'DOUBLE' ? element : undefined;
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
