// Sizes in bytes: what plain data takes, for caches that are bounded by it, and sizes that people write.

import { own } from './names.js';

/** Approximate overhead of an object, of a member and of a string. */
const OBJECT_BYTES = 24;
const MEMBER_BYTES = 8;
const TEXT_BYTES = 16;

/** Bytes of plain data in the heap, roughly; what it holds at several places counts once. */
export function dataBytes(data: unknown): number {
  const seen = new Set<object>();
  const waiting: object[] = [];
  let bytes = 0;
  const add = (value: unknown): void => {
    if (typeof value === 'string') bytes += TEXT_BYTES + value.length * 2;
    else if (typeof value === 'bigint') bytes += TEXT_BYTES;
    else if (typeof value === 'object' && value !== null && !seen.has(value)) {
      seen.add(value);
      waiting.push(value);
    }
  };
  add(data);
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    bytes += OBJECT_BYTES;
    if (ArrayBuffer.isView(value)) {
      bytes += value.byteLength;
      continue;
    }
    const members = membersOf(value);
    bytes += members.length * MEMBER_BYTES;
    for (let index = 0; index < members.length; index++) add(members[index]);
  }
  return bytes;
}

function membersOf(value: object): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (value instanceof Map) return [...value.keys(), ...value.values()];
  return value instanceof Set ? [...value] : Object.values(value);
}

const BYTE_UNITS: Readonly<Record<string, number>> = {
  '': 1,
  k: 1e3,
  m: 1e6,
  g: 1e9,
  t: 1e12,
  ki: 2 ** 10,
  mi: 2 ** 20,
  gi: 2 ** 30,
  ti: 2 ** 40, //
};

/** A number of bytes, as `67108864` or `64MiB`; undefined for other text. */
export function parseBytes(text: string): number | undefined {
  const [, digits = '', unit = ''] = /^(\d{1,15})\s*(|[kmgt]i?)b?$/i.exec(text) ?? [];
  const factor = own(BYTE_UNITS, unit.toLowerCase());
  return digits === '' || factor === undefined ? undefined : Number(digits) * factor;
}
