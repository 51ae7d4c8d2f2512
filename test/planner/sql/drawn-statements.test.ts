import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { caseCount } from '../../case-count.js';
import { statement } from './drawn-statements.js';
import { answer, memory, type Oracle, openOracle } from './small-tables.js';

const RUNS = caseCount(300);

/** Rows in an order that is theirs whatever the order they came in; sums of doubles may differ in their last digits. */
function canonical(rows: readonly unknown[][]): string[] {
  return rows.map((row) => JSON.stringify(row.map((cell) => (typeof cell === 'number' ? Number(cell.toPrecision(12)) + 0 : cell)))).sort();
}

/** Undefined where a number grows too large for DuckDB, which makes an error of it. */
async function rowsOrOverflow(oracle: Oracle, query: string): Promise<unknown[][] | undefined> {
  try {
    return await oracle.rows(query);
  } catch (error) {
    if (/Out of Range Error|Type DOUBLE with value \S+ can't be cast/.test(String(error))) return undefined;
    throw error;
  }
}

const drawn = suite('drawn statements, against DuckDB');

drawn(`the same rows: ${RUNS} statements`, async () => {
  const oracle = await openOracle();
  try {
    await fc.assert(
      fc.asyncProperty(statement, async ({ ours, theirs }) => {
        const expected = await rowsOrOverflow(oracle, theirs);
        if (expected !== undefined) assert.equal(canonical(await answer(ours)), canonical(expected), `${ours}\n${theirs}`);
      }),
      { numRuns: RUNS },
    );
  } finally {
    oracle.close();
  }
  assert.is(memory.allocatedBytes, 0);
});

drawn.run();
