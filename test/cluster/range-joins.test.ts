import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { caseCount } from '../case-count.js';
import {
  type Case,
  held,
  JOINED_SCAN,
  joinedRows,
  joinOf,
  leftRow,
  memory,
  RANGES,
  rightRow,
  runnerOf,
  running,
  TYPES,
  threaded,
  way,
} from './join-cases.js';
import { rowsOf, sortedText } from './plain-rows.js';

/*
 * Joins by comparisons of both sides, with keys of few values or none, so that the rows of right sides are put in order, against nested loops over plain
 * rows.
 */

const joins = suite('joins by ranges');

const rangeCase: fc.Arbitrary<Case> = fc.record({
  left: fc.array(leftRow, { maxLength: 30 }),
  right: fc.array(rightRow, { minLength: 10, maxLength: 60 }),
  type: fc.constantFrom(...TYPES),
  keys: fc.constantFrom([], [], ['text'], ['number', 'text']),
  nullsMeet: fc.constantFrom([], ['text']),
  conditions: fc
    .tuple(
      fc.subarray(Object.keys(RANGES), { minLength: 1, maxLength: 4 }),
      fc.constantFrom([], [], [], ['text != "r.text" || number == 1'], ['"r.name" == \'p\'']),
    )
    .map((parts) => parts.flat()),
});

joins('rows of every type by any comparisons', async () => {
  await fc.assert(
    fc.asyncProperty(rangeCase, way, running, async (one, from, given) => {
      const found = await rowsOf(runnerOf(one, from, given).run(JOINED_SCAN, joinOf(one, from)));
      assert.equal(sortedText(found), sortedText(joinedRows(one)));
    }),
    { numRuns: caseCount(1000) },
  );
});

joins('gives back all memory', async () => {
  for (const release of held.splice(0)) release();
  await threaded.close();
  assert.is(memory.allocatedBytes, 0);
});

joins.run();
