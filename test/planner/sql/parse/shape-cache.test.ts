import { inspect, isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../../../src/base/errors.js';
import { tokenize } from '../../../../src/planner/sql/parse/lexer.js';
import { parseSql } from '../../../../src/planner/sql/parse/parse.js';
import { ShapeCache } from '../../../../src/planner/sql/parse/shape/shape-cache.js';
import { SourceText } from '../../../../src/planner/sql/parse/source-text.js';
import type { SqlStatement } from '../../../../src/planner/sql/parse/syntax.js';
import { caseCount } from '../../../case-count.js';
import { statement } from '../drawn-statements.js';
import { FUNCTION_EXAMPLES, statementsOf } from '../function-examples.js';
import { ANSWERED, PLANNED } from '../seed-statements.js';

const RUNS = caseCount(100);

/** Statements of every kind that is answered, and some that are refused. */
const STATEMENTS: readonly string[] = [
  ...PLANNED,
  ...ANSWERED,
  ...Object.values(FUNCTION_EXAMPLES).flatMap((examples) => examples.flatMap(statementsOf).map(({ sql }) => sql)),
  "SELECT U&'\\00e9', 'é', -1, - 1, 1 - -2, 1.5, .5, 1e3 FROM wiki",
  "SELECT a FROM t WHERE a IN (1, 2, 3, 4, 5, 6, 7, 8, 9) AND b IN ('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h') AND c IN (1, 'x')",
  "SELECT a FROM t WHERE a = 1 OR b = 'x' AND c > -2 OR d <> 3 OR e < 4 OR f >= 5.5 OR g = 6 OR h = 7 OR i = 8",
  "SELECT CAST(a AS VARCHAR(20)), CAST(a AS DECIMAL(10, 2)), INTERVAL '1' DAY, INTERVAL '2' DAY(3), INTERVAL '1-2' YEAR TO MONTH FROM t",
  'SELECT SUM(a) OVER (ORDER BY b ROWS BETWEEN 3 PRECEDING AND 2 FOLLOWING), SUM(a) OVER (ORDER BY b RANGE 5 PRECEDING) FROM t',
  "SELECT * FROM TABLE(APPEND('a', 'b')) LIMIT 10 OFFSET 5",
  'SELECT a FROM (VALUES (1, 2), (3, 4), (5, 6), (7, 8), (9, 10), (11, 12), (13, 14), (15, 16), (17, 18)) AS v(a, b) FETCH FIRST 3 ROWS ONLY',
  `SELECT '${'long '.repeat(300)}' AS a`,
  'SELECT 9223372036854775807, -9223372036854775808, 9223372036854775808, -2147483648, 2147483648',
  "SELECT a FROM t PIVOT (SUM(b) FOR c IN (1, 2, 'x' AS y))",
  "SELECT E'x', N'x' FROM t",
  'SELECT a FROM t WHERE a = 1 GROUP BY',
];

function outcome(parse: () => SqlStatement): unknown {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return `${error.code} ${error.message}`;
  }
}

interface Changes {
  /** Chosen for one literal after the other. */
  readonly digits: readonly string[];
  readonly strings: readonly string[];
  readonly gaps: readonly string[];
}

const changes: fc.Arbitrary<Changes> = fc.record({
  digits: fc.array(fc.stringMatching(/^[0-9]{1,20}$/), { minLength: 1, maxLength: 8 }),
  strings: fc.array(fc.oneof(fc.string(), fc.constantFrom('2024-01-05', "it's", 'P1D', '$.a', '%')), { minLength: 1, maxLength: 8 }),
  gaps: fc.array(fc.constantFrom(' ', '  ', '\n', ' /* c */ ', ' -- d\n'), { minLength: 1, maxLength: 8 }),
});

/** The statement with other literals and other white space. */
function changed(text: string, { digits, strings, gaps }: Changes): string {
  const source = new SourceText(text);
  let result = '';
  let end = 0;
  let count = 0;
  const next = (values: readonly string[]): string => values[count++ % values.length] ?? '';
  const literal = (written: string): string => {
    if (written.startsWith("'")) return `'${next(strings).replaceAll("'", "''")}'`;
    return /^[\d.]/.test(written) ? written.replace(/\d+/g, () => next(digits)) : written;
  };
  for (const token of tokenize(source)) {
    const written = text.slice(token.start, token.end);
    const isList = token.kind === 'list';
    result += token.start > end ? next(gaps) : '';
    result += isList ? written.replace(/'(?:[^']|'')*'|\d+/g, literal) : literal(written);
    end = token.end;
  }
  return result;
}

/** @returns whether the second statement was parsed without the parser */
function check(cache: ShapeCache, texts: readonly string[], parsed: () => number): boolean {
  for (const text of texts) {
    const expected = outcome(() => parseSql(new SourceText(text)));
    const before = parsed();
    const found = outcome(() => cache.parse(new SourceText(text)));
    // Trees with queries of WITH can hold themselves.
    assert.ok(isDeepStrictEqual(found, expected), `${text}\nfound ${inspect(found, { depth: 20 })}`);
    if (text === texts.at(-1)) return parsed() === before;
  }
  return false;
}

function counting(): { readonly cache: ShapeCache; readonly parsed: () => number } {
  let count = 0;
  const cache = new ShapeCache(1 << 25, (source) => {
    count++;
    return parseSql(source);
  });
  return { cache, parsed: () => count };
}

const shapes = suite('syntax trees by shape');

shapes('statements of one shape have the trees that the parser makes', () => {
  const { cache, parsed } = counting();
  let filled = 0;
  fc.assert(
    fc.property(fc.constantFrom(...STATEMENTS), changes, (text, other) => {
      if (check(cache, [text, text, changed(text, other)], parsed)) filled++;
    }),
    { numRuns: RUNS * 4 },
  );
  assert.ok(filled > RUNS * 2, `${filled} of ${RUNS * 4} were filled in`);
});

shapes('so do drawn statements', () => {
  const { cache, parsed } = counting();
  let filled = 0;
  fc.assert(
    fc.property(statement, changes, ({ ours }, other) => {
      if (check(cache, [ours, ours, changed(ours, other)], parsed)) filled++;
    }),
    { numRuns: RUNS },
  );
  assert.ok(filled > RUNS / 2, `${filled} of ${RUNS} were filled in`);
});

/** Parts of statements, some of which mean something else in another place. */
const PIECES = [
  ...['a', 'a b', 'a AS b', '*', 't.*', 'COUNT(*)', 'SUM(a) FILTER (WHERE b > 1 AND c = 2)', "CASE WHEN a AND b THEN 1 ELSE 'x' END AS c"],
  ...['a BETWEEN 1 AND 2', 'a IS NOT DISTINCT FROM b', '(a OR b)', '(a AND b)', 'a OR b', 'NOT a = 1', "a LIKE 'x%' ESCAPE '!'"],
  ...[
    'a IN (1, 2)',
    '(SELECT MAX(a) FROM t WHERE b = 1)',
    'EXISTS (SELECT 1 FROM t)',
    'EXTRACT(DAY FROM a)',
    "INTERVAL '1' DAY + a",
    '-1',
    '?',
  ],
  ...['SUM(a) OVER (PARTITION BY b ORDER BY c ROWS 1 PRECEDING)', 'SUM(a) OVER w', 'ARRAY[1, 2][1]', '(a, b)', '', 'a INTO b', 'a LIMIT 1'],
  ...[
    "TIMESTAMP '2024-01-01'",
    'a b c',
    'a = 1 b',
    'DISTINCT a',
    'ALL a',
    'TRUE',
    '"a"',
    "U&'\\00e9'",
    '(a',
    'a)',
    'END',
    'CASE',
    'a := 1',
    'a || b + 1',
  ],
];
const piece = fc.constantFrom(...PIECES);
/** Many of these are read in front of the parser. */
const comparison = fc.constantFrom('a = 1', "b <> 'x'", 'c.d >= -2', '(a < 1)', 'NOT a = 1', 'a = b');
const ENDINGS = [
  '',
  ' GROUP BY 1',
  ' GROUP BY a HAVING COUNT(*) > 1 ORDER BY 1 DESC LIMIT 5',
  ' WINDOW w AS (ORDER BY a)',
  ' UNION ALL SELECT 1',
  ';',
  ' ORDER BY a OFFSET 1',
];
const composed = fc
  .record({
    select: fc.constantFrom('SELECT ', 'SELECT DISTINCT ', 'SELECT', 'EXPLAIN PLAN FOR SELECT ', 'WITH t AS (SELECT 1 AS a) SELECT '),
    items: fc.array(piece, { minLength: 1, maxLength: 4 }),
    comma: fc.constantFrom(', ', ',', ' , '),
    from: fc.constantFrom(
      ' FROM t',
      ' FROM t AS u',
      ' FROM t JOIN v ON t.a = v.a AND v.b = 1',
      ' FROM (SELECT a FROM t WHERE b = 1) AS x',
      '',
    ),
    conditions: fc.oneof(fc.array(piece, { maxLength: 4 }), fc.array(comparison, { minLength: 6, maxLength: 12 })),
    and: fc.constantFrom(' AND ', '\nand ', 'AND'),
    ending: fc.constantFrom(...ENDINGS),
  })
  .map(
    ({ select, items, comma, from, conditions, and, ending }) =>
      `${select}${items.join(comma)}${from}${conditions.length === 0 ? '' : ` WHERE ${conditions.join(and)}`}${ending}`,
  );

shapes('statements that are put together of parts have the trees that the parser makes', () => {
  const { cache, parsed } = counting();
  let right = 0;
  fc.assert(
    fc.property(composed, (text) => {
      check(cache, [text], parsed);
      if (typeof outcome(() => parseSql(new SourceText(text))) !== 'string') right++;
    }),
    { numRuns: RUNS * 5 },
  );
  assert.ok(right > RUNS / 2, `${right} of ${RUNS * 5} were right`);
});

shapes('a statement of an unknown shape whose parts are known is not parsed', () => {
  const { cache, parsed } = counting();
  const [n, sum, range, list] = ['COUNT(*) AS n', 'SUM(a)', 'a BETWEEN 3 AND 4', "b IN ('x', 'y')"];
  cache.parse(new SourceText(`SELECT ${n}, ${sum} FROM t WHERE ${range} AND ${list} GROUP BY c`));
  cache.parse(new SourceText(`SELECT ${sum}, ${n} FROM t WHERE ${range} AND ${list} GROUP BY c`));
  const before = parsed();
  assert.not.ok(check(cache, [`SELECT ${sum}, ${n} FROM t WHERE ${list} AND ${range} GROUP BY d`], parsed));
  assert.is(parsed() - before, 1, 'the frame, which groups by another column');
  assert.ok(check(cache, [`SELECT ${n}, ${sum} FROM t WHERE ${list} AND ${range} GROUP BY c`], parsed));
});

shapes('a statement of very many parts is parsed once', () => {
  const { cache, parsed } = counting();
  const names = (letter: string): string => Array.from({ length: 300 }, (_, index) => `${letter}${index}`).join(', ');
  cache.parse(new SourceText(`SELECT ${names('a')} FROM t`));
  assert.is(parsed(), 1);
  cache.parse(new SourceText(`SELECT 1 FROM t WHERE ${names('b').replaceAll(', ', ' AND ')}`));
  assert.is(parsed(), 2);
});

shapes('a word that means something behind SELECT begins no part', () => {
  for (const text of ['SELECT a, ALL b FROM t', 'SELECT a FROM t WHERE ALL b AND c = 1', 'SELECT a FROM t WHERE b = 1 AND DISTINCT c'])
    assert.throws(() => new ShapeCache(1 << 20).parse(new SourceText(text)), /unexpected/, text);
});

shapes('a literal that is more than a value is part of the key', () => {
  const { cache, parsed } = counting();
  const over = (rows: number): string => `SELECT SUM(a) OVER (ORDER BY b ROWS ${rows} PRECEDING) FROM t WHERE a > ${rows}`;
  assert.not.ok(check(cache, [over(1), over(1), over(2)], parsed));
  assert.ok(check(cache, [over(1).replace('> 1', '> 77')], parsed));
  assert.ok(check(cache, [over(2).replace('> 2', '> 78')], parsed));
});

shapes('trees make room for others', () => {
  const cache = new ShapeCache(20_000);
  for (let index = 0; index < 200; index++) cache.parse(new SourceText(`SELECT a${index >> 1} FROM t WHERE b = 1`));
  assert.ok(cache.bytes <= 20_000 && cache.bytes > 5000);
});

shapes.run();
