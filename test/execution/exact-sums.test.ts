import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { withExactSums } from '../../src/planner/rules/exact-sums.js';
import { collect, everyWay, groupsOf, planOf, rowsOf } from './every-way.js';
import type { Row } from './oracle.js';

/** Tenths, of which hardly any is a double: added up as doubles, their sum depends on the order. */
const ROWS: readonly Row[] = rowsOf(3000).map((row) => ({
  ...row,
  double: row['double'] === null ? null : (Number(row['double']) * 8) / 10,
}));

const plan = withExactSums(
  planOf([
    { kind: 'sum', name: 'sum', filter: null, column: 'double', type: 'DOUBLE' },
    { kind: 'sum', name: 'long', filter: null, column: 'small', type: 'LONG' },
    collect({ type: 'moments', result: 'mean' }, ['double'], { name: 'mean' }),
    { kind: 'sum', name: 'none', filter: { kind: 'false' }, column: 'double', type: 'DOUBLE' },
  ]),
);

const test = suite('exact sums in plans');

test('sums and means of doubles are exact ones; those of longs are left alone', () => {
  assert.equal(
    plan.aggregators.map((each) => (each.kind === 'state' ? each.aggregateState.type : each.kind)),
    ['exactSum', 'sum', 'exactSum', 'exactSum'],
  );
});

test('the same bytes however rows are cut, batched, threaded and merged: the sum of the tenths, rounded once', async () => {
  const groups = groupsOf(ROWS, 'text');
  for (const { way, groups: found } of await everyWay(plan, ROWS)) {
    assert.is(found.size, groups.size, way);
    for (const [key, rows] of groups) {
      const tenths = rows.flatMap((row) => (row['double'] === null ? [] : [Math.round(Number(row['double']) * 10)]));
      // Whole tenths add up exactly; the doubles they stand for are off by less than the last bit of the sum can show.
      const sum = tenths.reduce((total, each) => total + each, 0) / 10;
      const [exact, long, mean, none] = found.get(key) ?? [];
      assert.ok(Math.abs(Number(exact) - sum) <= sum * 2 ** -50, `${way}: ${key}: ${String(exact)} is not ${sum}`);
      assert.is(exact, (await reference()).get(key)?.[0], `${way}: ${key}: not the same bytes`);
      assert.is(mean, Number(exact) / tenths.length, `${way}: ${key}`);
      assert.is(
        long,
        rows.reduce((total, row) => total + BigInt(row['small'] as bigint), 0n),
        `${way}: ${key}`,
      );
      assert.is(none, null, `${way}: ${key}`);
    }
  }
});

let first: Promise<Map<string, readonly unknown[]>> | undefined;

/** The answer over the rows in reverse. */
function reference(): Promise<Map<string, readonly unknown[]>> {
  first ??= everyWay(
    plan,
    [...ROWS].reverse().map((row, at) => ({ ...row, __time: ROWS[at]?.['__time'] ?? 0n })),
  ).then((ways) => ways[0]?.groups ?? new Map());
  return first;
}

test.run();
