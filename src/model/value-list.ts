// Lists of values in filters, packed when they are long.

import { createHash } from 'node:crypto';
import { deserialize, serialize } from 'node:v8';

/** Arrays are written as their texts (`array-text.ts`). */
export type FilterValue = string | number | bigint | null;

/**
 * Values that a condition lists: as they are or, when there are many, packed. A packed list crosses threads without
 * being copied, and is opened only where its values are compared.
 */
export type ValueList = readonly FilterValue[] | PackedValues;

export interface PackedValues {
  readonly length: number;
  readonly hasNull: boolean;
  /** Equal for equal lists. */
  readonly digest: string;
  /** The values in V8's structured clone format, in memory that threads share. */
  readonly packed: Uint8Array;
}

/** Shorter lists are cheaper to copy than to open. */
const PACKED_LENGTH_MIN = 1024;

export function listOf(values: readonly FilterValue[]): ValueList {
  if (values.length < PACKED_LENGTH_MIN) return values;
  const bytes = serialize(values);
  const packed = new Uint8Array(new SharedArrayBuffer(bytes.length));
  packed.set(bytes);
  const digest = createHash('sha256').update(bytes).digest('base64');
  return { length: values.length, hasNull: values.includes(null), digest, packed };
}

/** Lists that were opened: a filter is bound to each segment anew. */
const OPENED = new WeakMap<PackedValues, readonly FilterValue[]>();

/** The values of a list; those of a packed one stay open as long as the list is there. */
export function valuesOf(list: ValueList): readonly FilterValue[] {
  if (!isPacked(list)) return list;
  let values = OPENED.get(list);
  if (values === undefined) {
    values = deserialize(list.packed) as readonly FilterValue[];
    OPENED.set(list, values);
  }
  return values;
}

export function hasNull(list: ValueList): boolean {
  return isPacked(list) ? list.hasNull : list.includes(null);
}

export function isPacked(list: unknown): list is PackedValues {
  return typeof list === 'object' && list !== null && (list as Partial<PackedValues>).packed !== undefined;
}
