import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { DoubleColumn, LongColumn } from '../../src/ingestion/column/number-column.js';
import { cellAt, type FrameColumn } from '../../src/model/frame.js';

/** Values of typed columns in columns of numbers: copied together where they can be, one by one where not. */
const numbers = suite('typed columns of numbers');

const longs = (values: readonly bigint[], nulls: Uint32Array | null = null): FrameColumn => ({
  kind: 'long',
  name: 'c',
  values: BigInt64Array.from(values),
  nulls,
});
const doubles = (values: readonly number[], nulls: Uint32Array | null = null): FrameColumn => ({
  kind: 'double',
  name: 'c',
  type: 'DOUBLE',
  values: Float64Array.from(values),
  nulls,
});

const CASES = [
  { name: 'longs', of: 'LONG', column: longs([1n, -2n, 2n ** 62n]), cells: [1n, -2n, 2n ** 62n], faults: [0, 0, 0] },
  { name: 'longs with a null', of: 'LONG', column: longs([1n, 2n, 3n], Uint32Array.of(2)), cells: [1n, null, 3n], faults: [0, 0, 0] },
  { name: 'some longs', of: 'LONG', rows: [0, 2], column: longs([1n, 2n, 3n]), cells: [1n, 3n], faults: [0, 0, 0] },
  { name: 'the first longs', of: 'LONG', rows: [0, 1], column: longs([1n, 2n, 3n]), cells: [1n, 2n], faults: [0, 0, 0] },
  { name: 'doubles', of: 'DOUBLE', column: doubles([1.5, -0, Infinity]), cells: [1.5, -0, Infinity], faults: [0, 0, 0] },
  { name: 'doubles with NaN', of: 'DOUBLE', column: doubles([1.5, Number.NaN, 2]), cells: [1.5, null, 2], faults: [0, 1, 0] },
  { name: 'doubles with a null', of: 'DOUBLE', column: doubles([1, 2, 3], Uint32Array.of(4)), cells: [1, 2, null], faults: [0, 0, 0] },
  { name: 'the last doubles', of: 'DOUBLE', rows: [1, 2], column: doubles([1, 2, 3]), cells: [2, 3], faults: [0, 0, 0] },
  { name: 'doubles as floats', of: 'FLOAT', column: doubles([0.1, 1, 2]), cells: [0.10000000149011612, 1, 2], faults: [0, 0, 0] },
] as const;

for (const { name, of, column, cells, faults, ...picked } of CASES)
  numbers(name, () => {
    const rows = 'rows' in picked ? picked.rows : [0, 1, 2];
    const into = of === 'LONG' ? new LongColumn('c') : new DoubleColumn('c', of);
    into.appendNulls(2);
    const found = new Uint8Array(3);
    into.appendFrame(column, { rows: Int32Array.from(rows), count: rows.length }, found);
    into.appendNulls(1);
    assert.equal([...found], faults);
    const frame = into.toFrameColumn(Uint32Array.from({ length: rows.length + 3 }, (_, row) => row));
    assert.equal(
      Array.from({ length: rows.length + 3 }, (_, row) => cellAt(frame, row)),
      [null, null, ...cells, null],
    );
  });

numbers.run();
