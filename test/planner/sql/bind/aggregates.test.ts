import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { caseCount } from '../../../case-count.js';
import { answer, difference, memory, type Oracle, openOracle } from '../small-tables.js';

/** Drawn combinations of aggregates, of all and of distinct values, filtered and ordered, over several sources, against DuckDB. */
const aggregates = suite('aggregates beside each other, against DuckDB');
let oracle: Oracle;

aggregates.before(async () => {
  oracle = await openOracle();
});
aggregates.after(() => {
  oracle.close();
  assert.is(memory.allocatedBytes, 0);
});

const number = fc.constantFrom('added', 'price', 'usr', 'added * 2 - usr', 'CASE WHEN price > 3 THEN added END');
const integer = fc.constantFrom('added', 'usr', 'added + usr');
const text = fc.constantFrom('city', "COALESCE(city, 'none')", 'UPPER(city)');
const any = fc.oneof(number, text);
const distinct = fc.constantFrom('', 'DISTINCT ');
const filter = fc.constantFrom('', '', ' FILTER (WHERE price > 2)', ' FILTER (WHERE city IS NOT NULL)', ' FILTER (WHERE added > 1000)');
const down = fc.constantFrom('', ' DESC', ' NULLS LAST', ' DESC NULLS FIRST');

/** `@`: where FILTER goes. Doubles are multiples of 1/4: their sums are exact. */
const aggregate: fc.Arbitrary<string> = fc.oneof(
  fc.constant('COUNT(*)@'),
  fc.tuple(fc.constantFrom('COUNT', 'MIN', 'MAX'), distinct, any).map(([name, only, x]) => `${name}(${only}${x})@`),
  fc.tuple(fc.constantFrom('SUM', 'AVG'), distinct, number).map(([name, only, x]) => `${name}(${only}${x})@`),
  fc.tuple(fc.constantFrom('VAR_POP', 'STDDEV_POP'), distinct, number).map(([name, only, x]) => `ROUND(${name}(${only}${x})@, 6)`),
  fc.tuple(fc.constantFrom('BIT_AND', 'BIT_OR', 'BIT_XOR'), distinct, integer).map(([name, only, x]) => `${name}(${only}${x})@`),
  fc.tuple(any, down).map(([x, order]) => `ARRAY_AGG(${x} ORDER BY __time, added, usr, price${order})@`),
  fc.tuple(any, down).map(([x, order]) => `ARRAY_AGG(DISTINCT ${x} ORDER BY ${x}${order})@`),
  fc.tuple(distinct, text, down).map(([only, x, order]) => `STRING_AGG(${only}${x}, '/' ORDER BY ${x}${order})@`),
);

const SOURCES = [
  'edits',
  '(SELECT * FROM edits WHERE added IS NULL OR added > 4)',
  '(SELECT e.__time, e.city, e.usr, e.added, e.price FROM edits e JOIN users u ON e.usr = u.id)',
  '(SELECT * FROM edits UNION ALL SELECT __time, city, id, id, score FROM users)',
];
const GROUPINGS = ['', 'city', 'usr, city', 'ROLLUP (city)', 'GROUPING SETS ((city), (usr), (city))', 'usr > 3, price IS NULL'];

aggregates('of every kind', () =>
  fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...SOURCES),
      fc.constantFrom(...GROUPINGS),
      fc.array(fc.tuple(aggregate, filter), { minLength: 2, maxLength: 5 }),
      async (source, grouping, drawn) => {
        const calls = drawn.map(([call, rows]) => call.replace('@', rows));
        const sql = `SELECT ${calls.join(', ')} FROM ${source} AS t${grouping === '' ? '' : ` GROUP BY ${grouping}`}`;
        assert.is(difference(sql, await answer(sql), await oracle.rows(sql)), undefined);
      },
    ),
    { numRuns: caseCount(60), seed: 7 },
  ),
);

const LONG_MAX = '9223372036854775807';

/** The mean of n and n is n, whatever their sum is. */
aggregates('means of longs whose sum is beyond a long', async () => {
  for (const over of ['', ' OVER ()', ' FILTER (WHERE x > 0)'])
    for (const only of ['', 'DISTINCT '])
      assert.equal(
        (await answer(`SELECT AVG(${only}x)${over} FROM (VALUES (${LONG_MAX}), (${LONG_MAX}), (${LONG_MAX} - 1)) AS t (x)`))[0],
        [2 ** 63],
      );
});

aggregates.run();
