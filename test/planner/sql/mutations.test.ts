import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../../src/base/errors.js';
import { caseCount } from '../../case-count.js';
import { planText } from './plan-text.js';
import { answer, memory } from './small-tables.js';

/** Statements that are planned only. */
const PLANNED = [
  "SELECT FLOOR(__time TO HOUR) AS t, COUNT(*) FILTER (WHERE isRobot = 'true') FROM wiki WHERE __time >= TIMESTAMP '2024-01-05' GROUP BY 1 ORDER BY 2 DESC NULLS LAST LIMIT 5 OFFSET 1",
  "SELECT DISTINCT w.channel, CASE WHEN added > 1 THEN 'x' ELSE UPPER(page) END AS c FROM svc.wiki AS w WHERE page LIKE '%a!%' ESCAPE '!' AND added NOT IN (1, 2, 3, 4, 5, 6, 7, 8, 9) OR city IS NOT DISTINCT FROM 'x'",
  'SELECT channel, AVG(price) FROM (SELECT channel, price FROM wiki WHERE added BETWEEN 1 AND ?) AS t GROUP BY channel HAVING COUNT(DISTINCT channel) > 0',
  "REPLACE INTO t OVERWRITE WHERE __time >= DATE '2024-01-01' SELECT TIME_PARSE(ts) AS __time, TRIM(BOTH 'x' FROM a) AS a FROM TABLE(EXTERN('{\"type\":\"inline\"}', '{}')) EXTEND (ts VARCHAR, a BIGINT) PARTITIONED BY TIME_FLOOR(__time, 'P1D') CLUSTERED BY a",
  "INSERT INTO t SELECT CURRENT_TIMESTAMP + INTERVAL '1' WEEK AS __time, SUBSTRING(b FROM 2 FOR 3) AS s, EXTRACT(MILLISECOND FROM __time) AS m FROM wiki PARTITIONED BY DAY",
  'WITH t (a) AS (SELECT page FROM wiki) SELECT a, -added || 1 FROM t, (VALUES (1, NULL), (2.5, 1e3)) AS v(x, y)',
  "SELECT a_s, k FROM (SELECT page, city, added FROM wiki) PIVOT (SUM(added) AS s FOR (page) IN ('x' AS a, NULL)) UNPIVOT INCLUDE NULLS (v FOR k IN (a_s AS 'l', city)) AS u (b, k, v)",
  'EXPLAIN PLAN FOR SELECT * FROM INFORMATION_SCHEMA.COLUMNS ORDER BY 1',
];
/** Statements over the small tables, which are answered as well where they still mean something. */
const ANSWERED = [
  "SELECT city, COUNT(*) AS n, SUM(added) FILTER (WHERE price > 2.5) FROM edits WHERE city NOT LIKE 'R%' GROUP BY 1 HAVING SUM(added) > 0 ORDER BY n DESC NULLS LAST LIMIT 3",
  'SELECT e.city, u.name, u.score + e.price FROM edits AS e LEFT JOIN users AS u ON e.usr = u.id AND u.score > 1 WHERE e.added IS NOT NULL ORDER BY e.__time, u.name',
  'SELECT city, usr, SUM(added), GROUPING(city, usr) FROM edits GROUP BY GROUPING SETS ((city, usr), (city), ()) ORDER BY 1, 2, 4',
  'SELECT usr FROM edits WHERE usr IN (SELECT id FROM users WHERE score > 3) UNION ALL SELECT id FROM users WHERE EXISTS (SELECT 1 FROM none) EXCEPT SELECT 5',
  'SELECT name, ROW_NUMBER() OVER (PARTITION BY city ORDER BY score DESC), SUM(score) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM users QUALIFY ROW_NUMBER() OVER (ORDER BY id) < 6',
  "SELECT CASE WHEN added > 3 THEN 'x' WHEN price BETWEEN 1 AND 2 THEN city ELSE CAST(usr AS VARCHAR) END, COALESCE(NULLIF(city, ''), 'none'), ROUND(price / 3, 2) FROM edits",
  "SELECT t.v, ARRAY_LENGTH(ARRAY[usr, added]), ARRAY_TO_STRING(ARRAY['a', city], '-') FROM edits CROSS JOIN UNNEST(ARRAY[1, added]) AS t(v) WHERE t.v <> 2",
  "SELECT TIME_FLOOR(__time, 'P1D') AS d, TIMESTAMPADD(HOUR, 3, MAX(__time)), EXTRACT(DOW FROM MIN(__time)) FROM edits WHERE __time > TIMESTAMP '2024-02-28 00:00:00' - INTERVAL '2' DAY GROUP BY 1",
  "SELECT JSON_VALUE(PARSE_JSON('{\"a\": [1, 2]}'), '$.a[1]' RETURNING BIGINT) + id, (SELECT MAX(added) FROM edits WHERE usr = users.id) FROM users WHERE name = 'u3' OR id = 4",
];
const SEEDS = [...PLANNED, ...ANSWERED];
const piecesOf = (seed: string): readonly string[] => seed.match(/'(?:[^']|'')*'|"[^"]*"|\w+|[^\s\w]/g) ?? [];
const WORDS = [...new Set(SEEDS.flatMap(piecesOf))].concat([
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

const STATEMENTS = caseCount(2_000);

const mutations = suite('mutated SQL');

/** Counts the mutations, of up to `maxLength` edits, that are accepted. Fails on any error that is not typed or names no place. */
async function countAccepted(seeds: readonly string[], maxLength: number, place: RegExp, run: (sql: string) => unknown): Promise<number> {
  let accepted = 0;
  const check = async (sql: string): Promise<void> => {
    try {
      await run(sql);
      accepted++;
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code === 'internal') throw error;
      assert.match(error.message, place, sql);
    }
  };
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...seeds.map(piecesOf)), fc.array(edit, { minLength: 1, maxLength }), (seed, edits) =>
      check(mutated(seed, edits)),
    ),
    { numRuns: STATEMENTS },
  );
  return accepted;
}

mutations(`are planned, or refused with a place; never a failure of ours: ${STATEMENTS} statements`, async () => {
  const place = /^(?:line \d+, column \d+|parameters): /;
  assert.ok((await countAccepted(PLANNED, 4, place, (sql) => planText(sql, {}, [{ type: 'BIGINT', value: 5 }]))) > 0);
});

mutations(`are answered, or refused: ${STATEMENTS} statements`, async () => {
  // Errors that only the values cause name no place.
  const count = await countAccepted(ANSWERED, 2, /./, (sql) => answer(sql));
  assert.ok(count > 0.06 * STATEMENTS, `only ${count} were answered`);
  assert.is(memory.allocatedBytes, 0);
});

mutations.run();
