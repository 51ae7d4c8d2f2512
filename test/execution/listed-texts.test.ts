import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { BLOCK_ROWS } from '../../src/base/layout.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import type { Filter } from '../../src/model/filter.js';
import { cellAt } from '../../src/model/frame.js';
import { listOf } from '../../src/model/value-list.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import { caseCount } from '../case-count.js';
import { memory, never, options, planOf, rowsOf } from './every-way.js';
import type { Row } from './oracle.js';
import { frameOf } from './random-data.js';

const lists = suite('lists of strings over dictionaries');

/** In the order of UTF-16 code units, which is not that of the bytes, and with halves of pairs, which are in no dictionary. */
const CHARACTERS = ['', 'a', 'b', '\u0080', '\ud7ff', '\ue000', '\ufffd', '😀', '𐐷'];
const HALVES = ['\ud83d', 'a\ude00'];

function textOf(number: number): string {
  let text = '';
  for (let left = number; left > 0; left = Math.floor(left / CHARACTERS.length)) text += CHARACTERS[left % CHARACTERS.length] ?? '';
  return text;
}

function rows(count: number, nulls: boolean): Row[] {
  return rowsOf(count).map((row, index) => ({ ...row, plain: nulls && index % 13 === 5 ? null : textOf(index) }));
}

const arbitraryValue = fc.oneof(
  { weight: 8, arbitrary: fc.nat(9000).map(textOf) },
  { weight: 1, arbitrary: fc.constantFrom(null, ...HALVES) },
);

for (const { count, nulls } of [
  { count: 3, nulls: false },
  { count: 700, nulls: true },
  { count: 6000, nulls: false },
])
  lists(`finds the rows that have one of the listed (${count} rows${nulls ? ', with nulls' : ''})`, async () => {
    const engine = createEngine({ memory, kernels: 'simd', threads: 0 });
    const all = rows(count, nulls);
    const placed = uploadFrame(frameOf(all), memory);
    const found = async (values: readonly (string | null)[], isNegated: boolean): Promise<number> => {
      const list: Filter = { kind: 'in', column: 'plain', type: 'STRING', values: listOf(values) };
      const filter: Filter = isNegated ? { kind: 'not', filter: list } : list;
      const plan = { ...planOf([{ kind: 'count', name: 'rows', filter: null }], false), filter };
      for await (const frame of engine.runViews(plan, [placed.view], options(), never))
        return Number(frame.columns[0] === undefined ? -1 : cellAt(frame.columns[0], 0));
      return -1;
    };
    /** Null is unlike every string, listed or not, unless it is listed itself. */
    const expected = (values: readonly (string | null)[], isNegated: boolean): number => {
      const wanted = new Set(values);
      return all.filter(({ plain }) => {
        const text = typeof plain === 'string' ? plain : null;
        if (text === null && !wanted.has(null)) return false;
        return wanted.has(text) !== isNegated;
      }).length;
    };
    try {
      await fc.assert(
        fc.asyncProperty(fc.array(arbitraryValue, { maxLength: 60, minLength: 1 }), fc.boolean(), async (values, isNegated) => {
          assert.is(await found(values, isNegated), expected(values, isNegated), JSON.stringify(values));
        }),
        { numRuns: caseCount(150) },
      );
      // More than a block of them, most of which no row has.
      const many = Array.from({ length: 2 * BLOCK_ROWS + 7 }, (_, number) => textOf(number * 2));
      for (const isNegated of [false, true]) assert.is(await found(many, isNegated), expected(many, isNegated));
    } finally {
      placed.release();
    }
  });

lists.run();
