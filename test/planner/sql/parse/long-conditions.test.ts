import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { planText } from '../plan-text.js';

/**
 * Long chains of comparisons and long lists of literals are not read by the parser. Written in a way that only the parser
 * reads (a column in parentheses, a comment in a list), each must give the same plan, or the same refusal.
 */
const long = suite('long conditions and lists');

type Condition =
  | { readonly column: string; readonly operator: string; readonly literal: string }
  | { readonly word: 'AND' | 'OR'; readonly parts: readonly Condition[]; readonly parentheses: boolean };

const leaf = fc.record({
  column: fc.constantFrom('page', 'added', 'wiki.city', 'svc.wiki.score', '"user"', 'ratio', 'missing', 'freeze', 'DATE'),
  operator: fc.constantFrom('=', '<>', '!=', '<', '<=', '>', '>='),
  literal: fc.constantFrom("'a'", "'it''s'", '1', '-2', '- 3', '4.5', '-6e2', 'NULL', 'TRUE', "'7'"),
});
const { condition } = fc.letrec<{ condition: Condition }>((tie) => ({
  condition: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 1, arbitrary: leaf },
    {
      weight: 3,
      arbitrary: fc.record({
        word: fc.constantFrom('AND' as const, 'OR' as const),
        parts: fc.array(tie('condition'), { minLength: 2, maxLength: 4 }),
        parentheses: fc.boolean(),
      }),
    },
  ),
}));
const chain = fc.array(condition, { minLength: 8, maxLength: 9 });

function written(condition: Condition, parserOnly: boolean): string {
  if ('column' in condition) {
    const { column, operator, literal } = condition;
    return `${parserOnly ? `(${column})` : column} ${operator} ${literal}`;
  }
  const { word, parts, parentheses } = condition;
  const text = parts.map((part) => written(part, parserOnly)).join(` ${word} `);
  return parentheses ? `(${text})` : text;
}

/** The plan, or what is wrong without where it is: the two texts differ in places. */
function outcome(sql: string): string {
  try {
    return planText(sql);
  } catch (error) {
    assert.instance(error, Error);
    return error instanceof Error ? error.message.replace(/line \d+, column \d+/, '') : '';
  }
}

const PLACES: readonly ((condition: string) => string)[] = [
  (condition) => `SELECT page FROM wiki WHERE ${condition}`,
  (condition) => `SELECT page FROM wiki WHERE ${condition} ORDER BY page LIMIT 3`,
  (condition) => `SELECT COUNT(*) FILTER (WHERE ${condition}) AS n FROM wiki`,
  (condition) => `SELECT CASE WHEN ${condition} THEN 1 END AS x FROM wiki`,
  (condition) => `SELECT page FROM wiki WHERE NOT (${condition})`,
  (condition) => `SELECT page FROM wiki WHERE (${condition}) IS TRUE AND added > 5`,
  (condition) => `SELECT page, COUNT(*) AS n FROM wiki WHERE ${condition} GROUP BY page HAVING COUNT(*) > 1`,
  (condition) => `SELECT page FROM wiki WHERE added IN (SELECT added FROM wiki WHERE ${condition})`,
];

long('chains of comparisons', () => {
  fc.assert(
    fc.property(chain, fc.constantFrom('AND', 'OR'), fc.constantFrom(...PLACES), (parts, word, place) => {
      const text = (parserOnly: boolean): string => place(parts.map((part) => written(part, parserOnly)).join(` ${word} `));
      assert.is(outcome(text(false)), outcome(text(true)));
    }),
    { numRuns: 40 },
  );
});

const literal = fc.constantFrom(
  "'a'",
  "'it''s'",
  "''",
  "','",
  "')'",
  '1',
  '-2',
  '2147483648',
  '99999999999999999999',
  '4.5',
  '.5',

  '-7e-2',
  'NULL',
  'TRUE',
);
const gap = fc.constantFrom('', ' ', '\n', '\t ');

long('lists of literals', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(gap, literal, gap), { minLength: 6, maxLength: 20 }),
      fc.constantFrom('page', 'added', 'score', 'ratio', 'UPPER(page)', '__time'),
      fc.constantFrom('IN', 'NOT IN'),
      (items, operand, operator) => {
        const list = items.map(([before, item, after]) => before + item + after).join(',');
        const text = (end: string): string => `SELECT page FROM wiki WHERE ${operand} ${operator} (${list}${end}) AND deleted > 1`;
        assert.is(outcome(text('')), outcome(text(' /* read by the parser */ ')));
      },
    ),
    { numRuns: 40 },
  );
});

const REFUSED: readonly { readonly sql: string; readonly says: RegExp }[] = [
  { sql: "page IN ('a','b','c','d','e','f','g','h',)", says: /unexpected/ },
  { sql: "page IN ('a','b','c','d','e','f','g' 'h')", says: /unexpected/ },
  { sql: "page IN ('a','b','c','d','e','f','g','h'", says: /never closed/ },
  { sql: "page IN ('a','b','c','d','e','f','g','h)", says: /no closing '/ },
  { sql: 'added IN (1,2,3,4,5,6,7,8x)', says: /unexpected|unknown/ },
  {
    sql: "page = 'a' OR page = 'b' OR page = 'c' OR page = 'd' OR page = 'e' OR page = 'f' OR page = 'g' OR page = 'h' OR",
    says: /ends|unexpected/,
  },
  {
    sql: "page = 'a' OR page = 'b' OR page = 'c' OR page = 'd' OR page = 'e' OR page = 'f' OR page = 'g' OR page = 'h' page",
    says: /unexpected/,
  },
];
for (const { sql, says } of REFUSED)
  long(`refused: ${sql}`, () => assert.throws(() => planText(`SELECT page FROM wiki WHERE ${sql}`), says));

long.run();
