// Looks up the strings of a dictionary by their bytes.

import type { KernelMemory } from '../../kernels/memory.js';
import type { Expression } from '../../model/expression.js';
import { type LookupTable, readerOf } from '../../model/lookup/lookup-table.js';
import { type PackedEntries, PackedEntriesBuilder } from '../columns/packed-column.js';
import type { DictionaryView } from '../view.js';

/** An expression that gives a string of a column the key or the value of its entry, or else something in its place. */
export interface ByBytes {
  readonly table: LookupTable;
  readonly gives: 'key' | 'value';
  /** Instead of what is missing. */
  readonly missing: { readonly is: 'itself' } | { readonly is: 'constant'; readonly text: string | null };
}

const GIVES: ReadonlyMap<string, ByBytes['gives']> = new Map([
  ['resolved_lookup', 'value'],
  [':partner_value', 'value'],
  [':partner_key', 'key'],
]);
const NONE = { is: 'constant', text: null } as const;

/** Undefined for an expression of another shape. */
export function byBytes(expression: Expression, column: string): ByBytes | undefined {
  if (expression.kind !== 'call') return undefined;
  const [first, second, third] = expression.arguments;
  if (first === undefined || second === undefined) return undefined;
  const gives = GIVES.get(expression.function);
  if (gives === undefined) {
    if ((expression.function !== 'nvl' && expression.function !== 'coalesce') || third !== undefined) return undefined;
    const found = byBytes(first, column);
    if (found === undefined || found.missing.is === 'itself' || found.missing.text !== null) return undefined;
    if (isColumn(second, column)) return { ...found, missing: { is: 'itself' } };
    const text = constantText(second);
    return text === undefined ? undefined : { ...found, missing: { is: 'constant', text } };
  }
  if (!isColumn(first, column) || second.kind !== 'literal' || second.value === null || typeof second.value !== 'object') return undefined;
  const text = third === undefined ? null : constantText(third);
  return text === undefined ? undefined : { table: second.value, gives, missing: text === null ? NONE : { is: 'constant', text } };
}

/** The column, or a cast of it to what it is. */
function isColumn(expression: Expression, column: string): boolean {
  if (expression.kind === 'column') return expression.name === column;
  if (expression.kind !== 'call' || expression.function !== 'cast') return false;
  const [input, type] = expression.arguments;
  return input !== undefined && type?.kind === 'literal' && type.value === 'STRING' && isColumn(input, column);
}

function constantText(expression: Expression): string | null | undefined {
  if (expression.kind !== 'literal') return undefined;
  const { type, value } = expression;
  if (value === null) return null;
  return typeof value === 'string' && (type === null || type === 'STRING') ? value : undefined;
}

/** Looked-up entries of a dictionary. */
export interface LookedUpEntries {
  readonly entries: PackedEntries;
  /** Ids by entry of the dictionary; 0: null. */
  readonly ids: Uint32Array;
  /** Id of a row without a value; 0 where there is none. */
  readonly idOfNull: number;
}

/**
 * @param isUsed   entries that some row has: others are left out
 * @param hasNone  whether some row has no value
 */
export function lookUpBytes(
  { table, gives, missing }: ByBytes,
  { bytes, offsets, count, hasNull }: DictionaryView,
  isUsed: Uint8Array,
  hasNone: boolean,
  memory: KernelMemory,
): LookedUpEntries {
  const ends = memory.u32(offsets, count + 1);
  const keys = memory.u8(bytes, ends[count] ?? 0);
  const reader = readerOf(table);
  const { bytes: values, ends: valueEnds } = reader.values;
  const built = new PackedEntriesBuilder(count, keys.length);
  const idOfValue = new Uint32Array(gives === 'value' ? reader.valueCount : 0);
  const constant = missing.is === 'constant' && missing.text !== null ? Buffer.from(missing.text, 'utf8') : undefined;
  let idOfMissing = 0;
  const idForMissing = (): number => {
    if (constant !== undefined && idOfMissing === 0) idOfMissing = built.add(constant, 0, constant.length);
    return idOfMissing;
  };
  const ids = new Uint32Array(count);
  for (let entry = hasNull ? 1 : 0; entry < count; entry++) {
    if (isUsed[entry] === 0) continue;
    const [start, end] = [ends[entry] ?? 0, ends[entry + 1] ?? 0];
    const value = reader.findBytes(keys, start, end);
    if (value < 0) ids[entry] = missing.is === 'itself' ? built.add(keys, start, end) : idForMissing();
    else if (gives === 'key') ids[entry] = built.add(keys, start, end);
    else {
      const known = idOfValue[value] ?? 0;
      const id = known > 0 ? known : built.add(values, value === 0 ? 0 : (valueEnds[value - 1] ?? 0), valueEnds[value] ?? 0);
      idOfValue[value] = id;
      ids[entry] = id;
    }
  }
  // An entry that no row has would be a value of the column.
  const idOfNull = missing.is === 'itself' || !hasNone ? 0 : idForMissing();
  if (hasNull && count > 0) ids[0] = idOfNull;
  return { entries: built.entries(gives === 'key' && constant === undefined), ids, idOfNull };
}
