import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { call } from '../../src/model/expression.js';
import type { Filter } from '../../src/model/filter.js';
import type { FrameColumn } from '../../src/model/frame.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import { engine, memory, never, options, rowsOf, scanOf } from './scanning.js';

const bounds = suite('comparisons of two columns that their bounds decide');

const ROWS = 40;

/** From `first` on, each row one more up to ten; null in rows of `nulls`. */
const longs = (name: string, first: number, isNull: (row: number) => boolean = () => false): FrameColumn => {
  const nulls = new Uint32Array(2);
  const values = BigInt64Array.from({ length: ROWS }, (_, row) => {
    if (isNull(row)) nulls[row >>> 5] = (nulls[row >>> 5] ?? 0) | (1 << (row & 31));
    return isNull(row) ? 0n : BigInt(first + (row % 10));
  });
  return { kind: 'long', name, values, nulls: nulls.some((word) => word !== 0) ? nulls : null };
};
const frame = {
  rowCount: ROWS,
  columns: [longs('row', 0), longs('low', -20), longs('high', 30), longs('touching', 9), longs('gaps', 30, (row) => row % 4 === 0)],
};

const OPERATORS: Readonly<Record<string, (a: bigint, b: bigint) => boolean>> = {
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
};

bounds('keep the rows for which they are true, and of a negation those for which they are false', async () => {
  const { view, release } = uploadFrame(frame, memory);
  const cells = (name: string): readonly (bigint | null)[] => {
    const column = frame.columns.find((each) => each.name === name);
    if (column?.kind !== 'long') return [];
    const { values, nulls } = column;
    return Array.from(values, (value, row) => (((nulls?.[row >>> 5] ?? 0) >>> (row & 31)) & 1 ? null : value));
  };
  const names = frame.columns.map(({ name }) => name);
  try {
    for (const left of names)
      for (const right of names)
        for (const [operator, holds] of Object.entries(OPERATORS))
          for (const isNegated of [false, true]) {
            const compared: Filter = {
              kind: 'expression',
              expression: call(operator, { kind: 'column', name: left }, { kind: 'column', name: right }),
            };
            const filter: Filter = isNegated ? { kind: 'not', filter: compared } : compared;
            const [ofLeft, ofRight] = [cells(left), cells(right)];
            const expected = ofLeft.flatMap((a, row) => {
              const b = ofRight[row];
              return typeof a !== 'bigint' || typeof b !== 'bigint' || holds(a, b) === isNegated ? [] : [[a, b]];
            });
            const found = await rowsOf(engine.runViews(scanOf([left, right], { filter }), [view], options(), never));
            assert.equal(found, expected, `${isNegated ? 'not ' : ''}${left} ${operator} ${right}`);
          }
  } finally {
    release();
  }
});

bounds.run();
