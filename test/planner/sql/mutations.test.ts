import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../../src/base/errors.js';
import { planText } from './plan-text.js';

const SEEDS = [
  "SELECT FLOOR(__time TO HOUR) AS t, COUNT(*) FILTER (WHERE isRobot = 'true') FROM wiki WHERE __time >= TIMESTAMP '2024-01-05' GROUP BY 1 ORDER BY 2 DESC NULLS LAST LIMIT 5 OFFSET 1",
  "SELECT DISTINCT w.channel, CASE WHEN added > 1 THEN 'x' ELSE UPPER(page) END AS c FROM svc.wiki AS w WHERE page LIKE '%a!%' ESCAPE '!' AND added NOT IN (1, 2, 3, 4, 5, 6, 7, 8, 9) OR city IS NOT DISTINCT FROM 'x'",
  'SELECT channel, AVG(price) FROM (SELECT channel, price FROM wiki WHERE added BETWEEN 1 AND ?) AS t GROUP BY channel HAVING COUNT(DISTINCT channel) > 0',
  "REPLACE INTO t OVERWRITE WHERE __time >= DATE '2024-01-01' SELECT TIME_PARSE(ts) AS __time, TRIM(BOTH 'x' FROM a) AS a FROM TABLE(EXTERN('{\"type\":\"inline\"}', '{}')) EXTEND (ts VARCHAR, a BIGINT) PARTITIONED BY TIME_FLOOR(__time, 'P1D') CLUSTERED BY a",
  "INSERT INTO t SELECT CURRENT_TIMESTAMP + INTERVAL '1' WEEK AS __time, SUBSTRING(b FROM 2 FOR 3) AS s, EXTRACT(MILLISECOND FROM __time) AS m FROM wiki PARTITIONED BY DAY",
  'WITH t (a) AS (SELECT page FROM wiki) SELECT a, -added || 1 FROM t, (VALUES (1, NULL), (2.5, 1e3)) AS v(x, y)',
  "SELECT a_s, k FROM (SELECT page, city, added FROM wiki) PIVOT (SUM(added) AS s FOR (page) IN ('x' AS a, NULL)) UNPIVOT INCLUDE NULLS (v FOR k IN (a_s AS 'l', city)) AS u (b, k, v)",
  'EXPLAIN PLAN FOR SELECT * FROM INFORMATION_SCHEMA.COLUMNS ORDER BY 1',
];
const PIECES = SEEDS.map((seed) => seed.match(/'(?:[^']|'')*'|"[^"]*"|\w+|[^\s\w]/g) ?? []);
const WORDS = [...new Set(PIECES.flat())].concat([
  "'",
  '"',
  '(',
  ')',
  '/*',
  '--',
  ';',
  '?',
  '::',
  'U&',
  "E'x'",
  '9223372036854775808',
  '\u0000',
  '😀',
  'OVER',
  'UNION',
  'JOIN',
  'NULL',
  '$$',
  '1e999',
  '[',
  ']',
]);

type Edit = { readonly kind: 'drop' | 'repeat' | 'swap' | 'insert' | 'glue'; readonly at: number; readonly word: string };

const edit: fc.Arbitrary<Edit> = fc.record({
  kind: fc.constantFrom('drop', 'repeat', 'swap', 'insert', 'glue'),
  at: fc.nat({ max: 200 }),
  word: fc.constantFrom(...WORDS),
});

function mutated(seed: readonly string[], edits: readonly Edit[]): string {
  const pieces = seed.map((piece) => `${piece} `);
  for (const { kind, at, word } of edits) {
    const index = at % Math.max(1, pieces.length);
    const piece = pieces[index] ?? '';
    if (kind === 'drop') pieces.splice(index, 1);
    else if (kind === 'repeat') pieces.splice(index, 0, piece);
    else if (kind === 'swap') pieces.splice(index, 2, pieces[index + 1] ?? '', piece);
    else if (kind === 'insert') pieces.splice(index, 0, `${word} `);
    else pieces.splice(index, 1, piece.trimEnd());
  }
  return pieces.join('');
}

const mutations = suite('mutated SQL');

mutations('is planned, or refused with a place; never a failure of ours', () => {
  let planned = 0;
  fc.assert(
    fc.property(fc.constantFrom(...PIECES), fc.array(edit, { minLength: 1, maxLength: 4 }), (seed, edits) => {
      const sql = mutated(seed, edits);
      try {
        planText(sql, {}, [{ type: 'BIGINT', value: 5 }]);
        planned++;
      } catch (error) {
        if (!(error instanceof ServiceError) || error.code === 'internal') throw error;
        assert.match(error.message, /^line \d+, column \d+: /, sql);
      }
    }),
    { numRuns: 1500 },
  );
  assert.ok(planned > 0);
});
mutations.run();
