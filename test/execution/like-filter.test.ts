import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { likeTest, parseLike } from '../../src/base/like-pattern.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import type { Filter } from '../../src/model/filter.js';
import { cellAt } from '../../src/model/frame.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import { caseCount } from '../case-count.js';
import { memory, never, options, planOf, rowsOf } from './every-way.js';
import type { Row } from './oracle.js';
import { frameOf } from './random-data.js';

const patterns = suite('LIKE over dictionaries');

const CHARACTERS = ['a', 'b', '~', '\u007f', '\u0080', 'é', '\ud7ff', '\ue000', '\uffff', '😀', '𐐷', '_', '%'];

/** Every string of up to three characters, and null; each with its number. */
function rows(count: number): Row[] {
  const base = rowsOf(count);
  return base.map((row, index) => {
    let text = '';
    for (let left = index; left > 0; left = Math.floor(left / CHARACTERS.length)) text += CHARACTERS[left % CHARACTERS.length] ?? '';
    return { ...row, plain: index % 97 === 5 ? null : text, small: BigInt(index % 50) };
  });
}

const arbitraryPattern = fc
  .array(fc.constantFrom(...CHARACTERS, '%', '%', '_', '!%', '!_'), { maxLength: 5 })
  .map((parts) => parts.join(''));

for (const count of [300, 6000])
  patterns(`finds what the test of each string finds (${count} rows)`, async () => {
    const engine = createEngine({ memory, kernels: 'simd', threads: 0 });
    const all = rows(count);
    const placed = uploadFrame(frameOf(all), memory);
    const small = (value: bigint): Filter => ({ kind: 'equals', column: 'small', type: 'LONG', value });
    try {
      await fc.assert(
        fc.asyncProperty(arbitraryPattern, fc.boolean(), fc.constantFrom(null, 7n, 99n), async (pattern, isNegated, number) => {
          const like: Filter = { kind: 'like', column: 'plain', pattern, escape: '!' };
          const wanted: Filter = isNegated ? { kind: 'not', filter: like } : like;
          const filter: Filter = number === null ? wanted : { kind: 'and', filters: [wanted, small(number)] };
          const plan = { ...planOf([{ kind: 'count', name: 'rows', filter: null }], false), filter };
          const test = likeTest(parseLike(pattern, '!'));
          const expected = all.filter(({ plain, small: of }) => {
            if (typeof plain !== 'string' || (number !== null && of !== number)) return false;
            return test(plain) !== isNegated;
          }).length;
          for await (const frame of engine.runViews(plan, [placed.view], options(), never))
            for (let row = 0; row < frame.rowCount; row++)
              assert.is(Number(frame.columns[0] === undefined ? -1 : cellAt(frame.columns[0], row)), expected, pattern);
        }),
        { numRuns: caseCount(200) },
      );
    } finally {
      placed.release();
    }
  });

patterns.run();
