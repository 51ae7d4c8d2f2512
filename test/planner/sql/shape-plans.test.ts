import { inspect, isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../../src/base/errors.js';
import type { PlannedStatement } from '../../../src/model/statement.js';
import type { SqlSchema } from '../../../src/planner/sql/catalog/schema.js';
import { tokenize } from '../../../src/planner/sql/parse/lexer.js';
import { SourceText } from '../../../src/planner/sql/parse/source-text.js';
import { PlanCache } from '../../../src/planner/sql/plan-cache.js';
import { planSql } from '../../../src/planner/sql/plan-sql.js';
import { PlanWatch } from '../../../src/planner/sql/plan-watch.js';
import { caseCount } from '../../case-count.js';
import { statement } from './drawn-statements.js';
import { FUNCTION_EXAMPLES, statementsOf } from './function-examples.js';
import { NOW, SCHEMA } from './plan-text.js';
import { type Choices, choices, redrawn } from './redrawn-literals.js';
import { ANSWERED, PLANNED } from './seed-statements.js';
import { SMALL_SCHEMA } from './small-tables.js';

const RUNS = caseCount(40);

const TABLES: SqlSchema = {
  ...SCHEMA,
  table: (name: string) => SCHEMA.table(name) ?? SMALL_SCHEMA.table(name),
  lookups: () => ['codes'],
  systemRows: () => [],
};

/** Statements whose plans hang on literals in every way there is. */
const STATEMENTS: readonly string[] = [
  "SELECT COUNT(*) FROM wiki WHERE __time >= TIMESTAMP '2024-01-01' AND __time < TIMESTAMP '2024-02-01' AND added > 5",
  "SELECT COUNT(*) FROM wiki WHERE __time BETWEEN '2024-01-01' AND '2024-02-01' OR __time = TIMESTAMP '2024-03-01'",
  "SELECT COUNT(*) FROM wiki WHERE __time >= CURRENT_TIMESTAMP - INTERVAL '1' DAY AND __time < CURRENT_DATE",
  "SELECT page FROM wiki WHERE __time > CURRENT_TIMESTAMP - INTERVAL '1-2' YEAR TO MONTH ORDER BY __time DESC LIMIT 10 OFFSET 2",
  "SELECT TIME_FLOOR(__time, 'P1D', NULL, 'UTC') AS t, SUM(added) FROM wiki WHERE NOT __time < TIMESTAMP '2024-01-01' GROUP BY 1 ORDER BY 1 LIMIT 5",
  "SELECT channel, COUNT(*) FROM wiki WHERE channel IN ('a', 'b') AND added IN (1, 2, 3) AND added NOT IN (4) GROUP BY 1 HAVING COUNT(*) > 5 ORDER BY 2 DESC LIMIT 3",
  "SELECT added FROM wiki WHERE added IN (1, 2, 3, 4, 5, 6, 7, 8, 9) OR channel IN ('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h') OR price IN (1, 2.5)",
  "SELECT UPPER(page), COUNT(*) FROM wiki WHERE UPPER(page) IN ('A', 'B') AND added + 1 IN (1, 2, 3) GROUP BY 1 HAVING UPPER(page) LIKE 'A%' LIMIT 5",
  "SELECT CASE WHEN added < 10 THEN 'small' WHEN added < 100 THEN 'more' ELSE 'much' END AS size, COUNT(*) FROM wiki GROUP BY CASE WHEN added < 10 THEN 'small' WHEN added < 100 THEN 'more' ELSE 'much' END ORDER BY 1",
  "SELECT page FROM wiki WHERE (added = 1 AND page = 'a') OR (added = 1 AND page = 'b') OR (added = 2 AND page = 'c')",
  'SELECT added + 1, added + 1, added + 2, SUM(delta + 3), SUM(delta + 3), COUNT(*) FILTER (WHERE added > 4) FROM wiki GROUP BY 1, 2, 3',
  "SELECT page FROM wiki WHERE added > 5 AND added <= 7 AND added > '12' AND price = 1 AND ratio = 0.1 AND ratio > 2 AND channel = 12",
  "SELECT page FROM wiki WHERE 1 = 1 AND ('a' = 'b' OR added > 3) AND 2 + 3 > 4 AND NOT 5 IS NULL AND NULLIF(6, 7) IS NULL",
  "SELECT page FROM wiki WHERE page LIKE 'a%' AND page NOT LIKE '%b!%' ESCAPE '!' AND REGEXP_LIKE(page, 'a') AND city IS NOT DISTINCT FROM 'x'",
  "SELECT CAST('12' AS BIGINT) + added, CAST('2024-01-05' AS TIMESTAMP), CAST('true' AS BOOLEAN), CAST(1.5 AS BIGINT), DATE '2024-01-05' + INTERVAL '1' MONTH FROM wiki",
  "SELECT SUBSTRING(page, 2, 3), SUBSTRING('abc', 2), CONCAT('a', 'b', page), LPAD(page, 5, 'x'), 1 || 'a', ROUND(price, 2), POWER(2, 3) FROM wiki",
  "SELECT EXTRACT(DAY FROM TIMESTAMP '2024-01-05'), TIMESTAMPADD(HOUR, 3, __time), TIMESTAMPDIFF(DAY, TIMESTAMP '2024-01-05', __time), TIME_SHIFT(__time, 'P1D', 2) FROM wiki",
  'SELECT page, price * 1.1, -5 + added, 0.06 + 0.01, 1e3 * price, MOD(added, 7), added / 2 FROM wiki WHERE price > 0.5 * 2 ORDER BY 2, 1 LIMIT 7',
  "SELECT APPROX_QUANTILE_DS(price, 0.5, 128), STRING_AGG(page, ',', 1000), ARRAY_AGG(page, 100), LATEST_BY(page, __time, 10) FROM wiki WHERE added > 3",
  "SELECT page, SUM(added) OVER (PARTITION BY channel ORDER BY __time ROWS BETWEEN 3 PRECEDING AND 1 FOLLOWING), LAG(added, 2, 5) OVER (ORDER BY __time) FROM wiki WHERE page > 'b'",
  "SELECT a.page, b.n FROM wiki AS a JOIN (SELECT page, COUNT(*) AS n FROM wiki WHERE added > 5 GROUP BY 1 LIMIT 10) AS b ON a.page = b.page AND b.n > 3 WHERE a.channel = 'x' AND a.added > 1",
  'SELECT * FROM (SELECT page, added FROM wiki WHERE added > 5 ORDER BY added DESC LIMIT 10) AS t WHERE added < 100 ORDER BY page LIMIT 3',
  "SELECT page FROM wiki WHERE added > (SELECT AVG(added) FROM wiki WHERE channel = 'x') AND page IN (SELECT page FROM wiki WHERE added > 9) AND EXISTS (SELECT 1 FROM wiki AS w WHERE w.page = wiki.page AND w.added > 7)",
  "SELECT page FROM wiki WHERE added > 1 UNION ALL SELECT 'x' FROM wiki WHERE added < 2 LIMIT 4",
  "WITH t AS (SELECT page, SUM(added) AS s FROM wiki WHERE channel = 'c' GROUP BY 1 HAVING SUM(added) > 3) SELECT x.page FROM t AS x, t AS y WHERE x.s > y.s + 1",
  "SELECT v.a, v.b FROM (VALUES (1, 'x'), (2, 'y')) AS v(a, b) WHERE v.a > 1",
  "SELECT MV_FILTER_ONLY(page, ARRAY['a', 'b']), ARRAY[1, 2, added], ARRAY_CONTAINS(ARRAY['a', page], 'b'), MV_CONTAINS(page, ARRAY['a']) FROM wiki",
  "SELECT JSON_VALUE(PARSE_JSON('{\"a\": 1}'), '$.a' RETURNING BIGINT), JSON_QUERY(PARSE_JSON(page), '$.b') FROM wiki",
  "SELECT channel, GROUPING(channel), COUNT(*) FROM wiki WHERE added > 5 GROUP BY GROUPING SETS ((channel, CASE WHEN added > 1 THEN 'x' END), (channel), ()) HAVING COUNT(*) > 2",
  "SELECT 1, 'a', 2.5, -3, 2147483648, TRUE, NULL, 9223372036854775807, DATE '2024-01-05', ARRAY[1, 2]",
  "SELECT COALESCE(page, 'none'), NVL(city, 'x'), GREATEST(added, 5, 7), LOOKUP(page, 'codes') FROM wiki WHERE NVL(city, 'x') = 'x'",
  "SELECT DECODE_BASE64_UTF8('YQ=='), HUMAN_READABLE_BINARY_BYTE_FORMAT(1000), IPV4_MATCH(page, '10.0.0.0/8'), TIME_FORMAT(__time, 'yyyy', 'UTC') FROM wiki",
];

function outcome(plan: () => PlannedStatement): unknown {
  try {
    return plan();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return `${error.code} ${error.message}`;
  }
}

/** A statement, and the values of its `?`. */
type Asked = string | { readonly query: string; readonly parameters: readonly unknown[] };

/** @returns how many of the statements were made of another's plan */
function check(cache: PlanCache, statements: readonly Asked[], zones = ['UTC']): number {
  let filled = 0;
  for (const [index, each] of statements.entries()) {
    const context = { sqlTimeZone: zones[index % zones.length] };
    const now = NOW + index * 7_777_777;
    const request = { context, ...(typeof each === 'string' ? { query: each, parameters: [] } : each) };
    const expected = outcome(() => planSql(request, TABLES, now));
    const watch = new PlanWatch();
    const found = outcome(() => cache.plan({ ...request, watch }, TABLES, now));
    assert.ok(
      isDeepStrictEqual(found, expected),
      `${statements.slice(0, index).map(shown).join('\n')}\nthen ${shown(each)}\nfound ${inspect(found, { depth: 20 })}\nexpected ${inspect(expected, { depth: 20 })}`,
    );
    if (typeof found !== 'string' && !watch.stages.some(({ stage }) => stage === 'bind')) filled++;
  }
  return filled;
}

function shown(asked: Asked): string {
  return typeof asked === 'string' ? asked : `${asked.query} of ${inspect(asked.parameters, { depth: 5, breakLength: Infinity })}`;
}

/** Words before strings that are a part of one literal with them. */
const BEFORE_STRINGS: ReadonlySet<string> = new Set(['TIMESTAMP', 'DATE', 'INTERVAL', 'ESCAPE']);

/** The statement with `?` in the place of those literals whose bit is set, and their values. */
function withParameters(text: string, places: number): Asked {
  const tokens = tokenize(new SourceText(text));
  const parameters: unknown[] = [];
  let [query, end, literals] = ['', 0, 0];
  for (const [index, { kind, start, end: behind }] of tokens.entries()) {
    const written = text.slice(start, behind);
    const isString = kind === 'string' && written.startsWith("'") && !BEFORE_STRINGS.has(tokens[index - 1]?.text.toUpperCase() ?? '');
    const isChosen = (isString || kind === 'number') && ((places >> (literals++ % 16)) & 1) === 1;
    if (isChosen && isString) parameters.push({ type: 'VARCHAR', value: written.slice(1, -1).replaceAll("''", "'") });
    if (isChosen && !isString)
      parameters.push(/^\d+$/.test(written) ? { type: 'BIGINT', value: written } : { type: 'DOUBLE', value: Number(written) });
    query += text.slice(end, start) + (isChosen ? '?' : written);
    end = behind;
  }
  return { query: query + text.slice(end), parameters };
}

const several = fc.array(choices, { minLength: 8, maxLength: 8 });
const changedBy = (text: string, all: readonly Choices[]): readonly string[] => [
  text,
  text,
  text,
  ...all.map((each) => redrawn(text, each)),
];

const plans = suite('plans by shape');

plans('plans that are made of others are those that planning makes', () => {
  const EXAMPLES = Object.values(FUNCTION_EXAMPLES).flatMap((examples) => examples.flatMap(statementsOf).map(({ sql }) => sql));
  let filled = 0;
  fc.assert(
    fc.property(fc.constantFrom(...STATEMENTS, ...STATEMENTS, ...PLANNED, ...ANSWERED, ...EXAMPLES), several, (text, all) => {
      filled += check(new PlanCache(1 << 24), changedBy(text, all));
    }),
    { numRuns: RUNS * 4 },
  );
  assert.ok(filled > RUNS * 4, `${filled} of ${RUNS * 4 * 11} were filled in`);
});

plans('each of the statements is made of another', () => {
  const never: string[] = [];
  for (const text of STATEMENTS)
    if (check(new PlanCache(1 << 24), [text, text, text, text, text.replace('SELECT', 'SELECT ')]) === 0) never.push(text);
  assert.equal(never, []);
});

plans('so are drawn statements', () => {
  let filled = 0;
  fc.assert(
    fc.property(statement, several, ({ ours }, all) => {
      filled += check(new PlanCache(1 << 24), changedBy(ours, all));
    }),
    { numRuns: RUNS * 2 },
  );
  assert.ok(filled > RUNS * 2, `${filled} of ${RUNS * 2 * 11} were filled in`);
});

plans('so are statements with parameters, of the values of others', () => {
  let filled = 0;
  fc.assert(
    fc.property(fc.constantFrom(...STATEMENTS, ...PLANNED), several, fc.integer({ min: 1, max: 0xffff }), (text, all, places) => {
      const asked = changedBy(text, all).map((each) => withParameters(each, places));
      filled += check(new PlanCache(1 << 24), asked);
    }),
    { numRuns: RUNS },
  );
  assert.ok(filled > RUNS / 2, `${filled} of ${RUNS * 11} were filled in`);
});

const PARAMETERS: readonly { readonly query: string; readonly values: readonly (readonly [type: string, values: readonly unknown[]])[] }[] =
  [
    {
      query:
        'SELECT channel, SUM(added) FROM wiki WHERE __time >= ? AND __time < ? AND page = ? AND added > ? GROUP BY 1 ORDER BY 2 DESC LIMIT ?',
      values: [
        ['TIMESTAMP', ['2024-01-01', '2024-01-02 03:04:05', 1_704_200_000_000]],
        ['TIMESTAMP', ['2024-02-01', '2024-02-03', '2024-02-04']],
        ['VARCHAR', ['a', "it's", '']],
        ['BIGINT', [5, '9223372036854775807', -1]],
        ['INTEGER', [10, 3, 7]],
      ],
    },
    {
      query: 'SELECT COUNT(*) FROM wiki WHERE price > ? OR page LIKE ?',
      values: [
        ['DOUBLE', [0.5, 2, 1e300]],
        ['VARCHAR', ['a%', '%b', 'c']],
      ],
    },
    {
      query: 'SELECT page FROM wiki WHERE added IN (?, ?) AND channel <> ?',
      values: [
        ['BIGINT', [1, 2, 3]],
        ['BIGINT', [4, 5, 6]],
        ['VARCHAR', ['x', 'y', 'z']],
      ],
    },
  ];

for (const { query, values } of PARAMETERS)
  plans(`a known statement is made of other parameters: ${query}`, () => {
    const asked = Array.from({ length: 12 }, (_, round) => ({
      query,
      parameters: values.map(([type, given]) => ({ type, value: given[round % given.length] })),
    }));
    assert.ok(check(new PlanCache(1 << 24), asked) >= 8);
  });

plans('plans of parameters that come once are not kept', () => {
  const cache = new PlanCache(1 << 24);
  const plan = (value: number): unknown =>
    cache.plan({ query: 'SELECT COUNT(*) FROM wiki WHERE added > ?', context: {}, parameters: [{ type: 'BIGINT', value }] }, SCHEMA, NOW);
  for (let value = 0; value < 10; value++) plan(value);
  const { bytes } = cache;
  for (let value = 10; value < 200; value++) plan(value);
  assert.is(cache.bytes, bytes);
});

plans('truth values given as strings are not those that the planner shares', () => {
  const cache = new PlanCache(1 << 24);
  const asked = (value: string): Asked => ({
    query: 'SELECT ? AS x, CAST(page AS BOOLEAN) AS t FROM wiki WHERE added > 3 OR CAST(page AS BOOLEAN)',
    parameters: [{ type: 'BOOLEAN', value }],
  });
  check(cache, ['false', 'false', 'false', 'true', 'false', 'true'].map(asked));
  check(cache, [
    'SELECT page FROM wiki WHERE 1 = 1 AND (2 > 3 OR added > 3)',
    "SELECT CAST(page AS BOOLEAN) FROM wiki WHERE page = 'false'",
  ]);
});

plans('parameters of other types, or null, or too many or too few, are not those of the plan', () => {
  const query = 'SELECT COUNT(*) FROM wiki WHERE added > ?';
  const given: readonly (readonly unknown[])[] = [
    [{ type: 'BIGINT', value: 5 }],
    [{ type: 'BIGINT', value: null }],
    [{ type: 'DOUBLE', value: 5 }],
    [{ type: 'VARCHAR', value: '5' }],
    [{ type: 'NULL', value: null }],
    [{ type: 'OTHER', value: 5 }],
    [{ type: 'BIGINT', value: 'five' }],
    [{ type: 'ARRAY', value: [5] }],
    [{ type: 'INTEGER', value: 2_147_483_648 }],
    [],
    [
      { type: 'BIGINT', value: 5 },
      { type: 'BIGINT', value: 6 },
    ],
  ];
  assert.ok(
    check(
      new PlanCache(1 << 24),
      Array.from({ length: 6 }, () => given)
        .flat()
        .map((parameters) => ({ query, parameters })),
    ) > 0,
  );
});

plans('the time zone is a part of the shape', () => {
  const text = "SELECT COUNT(*) FROM wiki WHERE __time >= TIMESTAMP '2024-01-01' AND added > 5";
  const texts = Array.from({ length: 20 }, (_, index) => text.replace('5', String(index)));
  assert.ok(check(new PlanCache(1 << 24), texts, ['UTC', '+01:00', 'America/Los_Angeles']) > 5);
});

plans('a shape of which no plan can be kept is soon planned once again', () => {
  const cache = new PlanCache(1 << 24);
  let asked = 0;
  const schema: SqlSchema = {
    ...TABLES,
    table(name) {
      asked++;
      return TABLES.table(name);
    },
  };
  const askedBy = (plan: () => unknown): number => {
    asked = 0;
    plan();
    return asked;
  };
  const times = Array.from({ length: 30 }, (_, index) => {
    const request = { query: `EXPLAIN PLAN FOR SELECT page FROM wiki WHERE added > ${index}`, context: {}, parameters: [] };
    return { cached: askedBy(() => cache.plan(request, schema, NOW)), plain: askedBy(() => planSql(request, schema, NOW)) };
  });
  assert.equal(times.at(-1)?.cached, times.at(-1)?.plain);
});

plans.run();
