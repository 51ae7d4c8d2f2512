import type { Frame, FrameColumn } from '../../../../src/model/frame.js';
import type { TextType } from '../../../../src/model/schema.js';
import { toBase64 } from '../../../../src/sketch/base64.js';
import { Bloom } from '../../../../src/sketch/bloom.js';

type Row = Readonly<Record<string, string | bigint | number | null>>;

function bits(values: readonly unknown[]): Uint32Array | null {
  const words = new Uint32Array(Math.ceil(values.length / 64) * 2);
  values.forEach((value, row) => {
    if (value === null) words[row >>> 5] = (words[row >>> 5] ?? 0) | (1 << (row & 31));
  });
  return values.includes(null) ? words : null;
}

/** One row a second; the kind of a column shows in its first value that is not null. */
export function frameOf(rows: readonly Row[], types: Readonly<Record<string, TextType>> = {}): Frame {
  const names = Object.keys(rows[0] ?? {});
  return {
    rowCount: rows.length,
    columns: [
      { kind: 'long', name: '__time', values: BigInt64Array.from(rows, (_, row) => BigInt(row * 1000)), nulls: null },
      ...names.map((name): FrameColumn => {
        const values = rows.map((row) => row[name] ?? null);
        const known = values.find((value) => value !== null);
        const type = types[name];
        if (typeof known === 'bigint')
          return { kind: 'long', name, values: BigInt64Array.from(values, (value) => BigInt(value ?? 0)), nulls: bits(values) };
        if (typeof known === 'number')
          return {
            kind: 'double',
            type: 'DOUBLE',
            name,
            values: Float64Array.from(values, (value) => Number(value ?? 0)),
            nulls: bits(values),
          };
        return {
          kind: 'string',
          name,
          ...(type === undefined ? {} : { type }),
          ids: Uint32Array.from(values.keys()),
          dictionary: values.map((value) => (value === null ? null : String(value))),
        };
      }),
    ],
  };
}

/** 1,000 visits of 250 users, four each: user u has `spent` u each time and `points` 1. */
export const visits = frameOf(
  Array.from({ length: 1000 }, (_, row) => ({
    user: `user ${row % 250}`,
    id: BigInt(row % 250),
    spent: row % 250,
    points: 1n,
    half: row % 2 === 0 ? 1 : null,
  })),
);
export const total = (from: number, to: number): number => ((from + to - 1) * (to - from)) / 2;

export const filterOf = (...hashes: Parameters<Bloom['add']>[0][]): string => {
  const filter = Bloom.create(10);
  for (const hash of hashes) filter.add(hash);
  return toBase64(filter.encode());
};
export const things = frameOf([
  { name: 'a', long: 1n, double: 0.5 },
  { name: null, long: null, double: null },
  { name: 'b', long: 7n, double: -2 },
]);
