import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../../../src/base/errors.js';
import { parseSql } from '../../../../src/planner/sql/parse/parse.js';
import { rewrite } from '../../../../src/planner/sql/parse/rewrite.js';
import { SourceText } from '../../../../src/planner/sql/parse/source-text.js';
import type { SelectQuery, SqlStatement } from '../../../../src/planner/sql/parse/syntax.js';
import { NESTING_MAX, TokenStream } from '../../../../src/planner/sql/parse/token-stream.js';
import { expressionShape } from './syntax-text.js';

const shapes = suite('SQL expressions by tree shape');

const SHAPES: readonly { readonly sql: string; readonly tree: string }[] = [
  // Syntax that sql-parser-cst reads wrongly without an error.
  { sql: "U&'\\00e9 it''s \\\\ \\+01f600'", tree: "'é it's \\ 😀'" },
  { sql: 'a!=-1', tree: '(<> a -1:INTEGER)' },
  { sql: 'a=-1', tree: '(= a -1:INTEGER)' },
  { sql: 'a||-1', tree: '(|| a -1:INTEGER)' },
  { sql: 'a||?', tree: '(|| a ?0)' },
  { sql: "INTERVAL '1' WEEK", tree: "(INTERVAL '1' WEEK)" },
  { sql: "INTERVAL '2' QUARTER", tree: "(INTERVAL '2' QUARTER)" },
  { sql: "INTERVAL '1-2' YEAR TO MONTH", tree: "(INTERVAL '1-2' YEAR MONTH)" },
  { sql: "'a' || b + c", tree: "(+ (|| 'a' b) c)" },
  { sql: 'a + b || c', tree: '(+ a (|| b c))' },
  { sql: '(a + b) || c', tree: '(|| (+ a b) c)' },
  { sql: 'a - b - c * d % e', tree: '(- (- a b) (% (* c d) e))' },
  { sql: 'a || b * c || d', tree: '(|| (* (|| a b) c) d)' },
  { sql: 'a - (b - c)', tree: '(- a (- b c))' },
  // Syntax that sql-parser-cst does not know.
  { sql: 'FLOOR(t TO DAY)', tree: '(FLOOR:DAY t)' },
  { sql: 'FLOOR(t, DAY)', tree: '(FLOOR t DAY)' },
  { sql: "FLOOR(x, 'DAY')", tree: "(FLOOR x 'DAY')" },
  { sql: 'CEIL(FLOOR(t TO HOUR) TO MONTH)', tree: '(CEIL:MONTH (FLOOR:HOUR t))' },
  { sql: 'EXTRACT(MILLISECOND FROM t)', tree: '(EXTRACT:MILLISECOND t)' },
  { sql: 'EXTRACT(HOUR FROM t)', tree: '(EXTRACT:HOUR t)' },
  { sql: 'TIMESTAMPADD(DAY, 1, t)', tree: '(TIMESTAMPADD:DAY 1:INTEGER t)' },
  { sql: "TRIM(BOTH 'x' FROM a)", tree: "(BTRIM a 'x')" },
  { sql: "TRIM('x' FROM a)", tree: "(BTRIM a 'x')" },
  { sql: 'TRIM(LEADING FROM a)', tree: '(LTRIM a)' },
  { sql: "TRIM(TRAILING 'y' FROM UPPER(a))", tree: "(RTRIM (UPPER a) 'y')" },
  { sql: 'TRIM(a)', tree: '(TRIM a)' },
  { sql: 'SUBSTRING(a FROM 2 FOR 3)', tree: '(SUBSTRING a 2:INTEGER 3:INTEGER)' },
  { sql: 'SUBSTRING(a, 2)', tree: '(SUBSTRING a 2:INTEGER)' },
  { sql: "POSITION('a' IN b FROM 2)", tree: "(POSITION 'a' b 2:INTEGER)" },
  { sql: "POSITION('a' IN b)", tree: "(POSITION 'a' b)" },
  { sql: 'do', tree: 'do' },
  // The rest.
  { sql: '9223372036854775807', tree: '9223372036854775807:BIGINT' },
  { sql: '-9223372036854775808', tree: '-9223372036854775808:BIGINT' },
  { sql: '2147483647', tree: '2147483647:INTEGER' },
  { sql: '1.50', tree: '1.5:DECIMAL' },
  { sql: '1e3', tree: '1000:DOUBLE' },
  { sql: '- a', tree: '(negate a)' },
  { sql: 'NOT a = b', tree: '(not (= a b))' },
  { sql: 'a = 1 AND b = 2 OR c AND d', tree: '(or (and (= a 1:INTEGER) (= b 2:INTEGER)) (and c d))' },
  { sql: "a NOT LIKE 'x!%' ESCAPE '!'", tree: "(not like a 'x!%' '!')" },
  { sql: 'a NOT BETWEEN 1 AND 2', tree: '(not between a 1:INTEGER 2:INTEGER)' },
  { sql: 'a IS NOT DISTINCT FROM b', tree: '(not distinct a b)' },
  { sql: 'a IS NOT TRUE', tree: '(not is TRUE a)' },
  { sql: 'a IS UNKNOWN', tree: '(is UNKNOWN a)' },
  { sql: "a NOT IN (1, 'x', b)", tree: "(not in a 1:INTEGER 'x' b)" },
  {
    sql: "a IN (1, -2, 3.5, '4', 5, 6, 7, 8, 9, 'it''s')",
    tree: "(in a 1:INTEGER -2:INTEGER 3.5:DECIMAL '4' 5:INTEGER 6:INTEGER 7:INTEGER 8:INTEGER 9:INTEGER 'it's')",
  },
  {
    sql: `a IN ('${'x'.repeat(2000)}', 2, 3, 4, 5, 6, 7, 8)`,
    tree: `(in a '${'x'.repeat(2000)}' 2:INTEGER 3:INTEGER 4:INTEGER 5:INTEGER 6:INTEGER 7:INTEGER 8:INTEGER)`,
  },
  {
    sql: 'a IN (- 1, 2, 3, 4, 5, 6, 7, 8)',
    tree: '(in a -1:INTEGER 2:INTEGER 3:INTEGER 4:INTEGER 5:INTEGER 6:INTEGER 7:INTEGER 8:INTEGER)',
  },
  {
    sql: 'a IN (1, 2, 3, 4, 5, 6, 7, 8, 9, b)',
    tree: '(in a 1:INTEGER 2:INTEGER 3:INTEGER 4:INTEGER 5:INTEGER 6:INTEGER 7:INTEGER 8:INTEGER 9:INTEGER b)',
  },
  { sql: 'CASE a WHEN 1 THEN b ELSE c END', tree: '(case a [1:INTEGER b] c)' },
  { sql: 'CAST(a AS DOUBLE PRECISION)', tree: '(cast a DOUBLE)' },
  { sql: 'CAST(a AS VARCHAR(10))', tree: '(cast a VARCHAR)' },
  { sql: 'COUNT(DISTINCT a) FILTER (WHERE b = ?)', tree: '(COUNT:distinct a filter (= b ?0))' },
  { sql: 't."a""b".c', tree: 't.a"b.c' },
  { sql: "TIMESTAMP '2000-01-01 00:00:00'", tree: "(TIMESTAMP '2000-01-01 00:00:00')" },
  { sql: 'a /* no -- comment */ + 1 -- end', tree: '(+ a 1:INTEGER)' },
];

for (const { sql, tree } of SHAPES) shapes(sql, () => assert.is(expressionShape(sql), tree));
shapes.run();

const statements = suite('SQL statements');

function selectOf({ query }: SqlStatement): SelectQuery {
  if (query.kind !== 'select') throw new Error('not a SELECT');
  return query;
}

statements('a long literal goes around the parser and comes back whole', () => {
  const data = `${'x'.repeat(3_000_000)}''y`;
  const statement = parseSql(new SourceText(`SELECT 'a', '${data}' FROM t`));
  const [, item] = selectOf(statement).items;
  assert.is(item?.expression.kind === 'literal' ? item.expression.value : undefined, data.replace("''", "'"));
});

statements('parameters are numbered as written, in every clause', () => {
  const statement = parseSql(new SourceText('SELECT ? FROM t WHERE a = ? LIMIT ?'));
  const numbers = JSON.stringify(statement, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)).match(
    /"index":\d/g,
  );
  assert.equal(numbers, ['"index":0', '"index":1', '"index":2']);
});

statements('EXTERN takes its columns in either form', () => {
  for (const columns of ['EXTEND (a VARCHAR, "b c" BIGINT)', '(a VARCHAR(9), "b c" BIGINT)']) {
    const query = selectOf(parseSql(new SourceText(`SELECT * FROM TABLE(EXTERN('{}', '{}')) ${columns} AS x WHERE a = 'y'`)));
    assert.is(query.from?.kind, 'extern');
    if (query.from?.kind === 'extern') {
      assert.equal(query.from.columns, [
        { name: 'a', type: 'STRING' },
        { name: 'b c', type: 'LONG' },
      ]);
      assert.is(query.from.alias, 'x');
    }
    assert.is(query.where?.kind, 'compare');
  }
});

statements('a VALUES of one row in parentheses is no function call', () => {
  const query = selectOf(parseSql(new SourceText('SELECT * FROM (VALUES (1, 2)) AS t(a, b)')));
  assert.is(query.from?.kind, 'values');
  if (query.from?.kind === 'values') assert.equal(query.from.columnNames, ['a', 'b']);
});

statements('an ingestion statement is taken apart', () => {
  const statement = parseSql(
    new SourceText(
      'REPLACE INTO svc.t OVERWRITE WHERE __time >= x SELECT a FROM (VALUES (1)) PARTITIONED BY FLOOR(__time TO DAY) CLUSTERED BY a, 2;',
    ),
  );
  assert.is(statement.kind, 'replace');
  if (statement.kind !== 'replace') return;
  assert.equal(statement.target, ['svc', 't']);
  assert.is(statement.overwrite !== 'all' && statement.overwrite?.kind, 'compare');
  assert.is(statement.partitionedBy.kind === 'call' && statement.partitionedBy.unit, 'DAY');
  assert.is(statement.clusteredBy.length, 2);
});
statements.run();

const errors = suite('SQL errors and their places');

const ERRORS: readonly { readonly sql: string; readonly code: string; readonly at: string; readonly says: RegExp }[] = [
  { sql: '', code: 'sql_invalid', at: 'line 1, column 1', says: /empty/ },
  { sql: 'SELEKT 1', code: 'sql_invalid', at: 'line 1, column 1', says: /SELEKT/ },
  { sql: 'SELECT a,\n  b c d\nFROM t', code: 'sql_invalid', at: 'line 2, column 7', says: /unexpected "d"/ },
  { sql: 'SELECT a, FROM t', code: 'sql_invalid', at: 'line 1, column 11', says: /expected an expression/ },
  { sql: "SELECT 'a", code: 'sql_invalid', at: 'line 1, column 8', says: /no closing '/ },
  { sql: 'SELECT (a', code: 'sql_invalid', at: 'line 1, column 8', says: /never closed/ },
  { sql: 'SELECT a)', code: 'sql_invalid', at: 'line 1, column 9', says: /closes nothing/ },
  { sql: 'SELECT a::int', code: 'sql_invalid', at: 'line 1, column 9', says: /::/ },
  { sql: 'SELECT a FROM t WHERE a IN (1,2,3,4,5,6,7,8,9)\n AND AND b', code: 'sql_invalid', at: 'line 2, column 6', says: /AND/ },
  { sql: 'SELECT a IN (1,2,3,4,5,6,7,8,)', code: 'sql_invalid', at: 'line 1, column 30', says: /expected an expression|unexpected/ },
  { sql: "SELECT U&'\\+110000'", code: 'sql_invalid', at: 'line 1, column 8', says: /names no character/ },
  { sql: 'REPLACE INTO t', code: 'sql_invalid', at: 'line 1, column 15', says: /OVERWRITE/ },
  { sql: 'INSERT INTO t SELECT 1', code: 'sql_invalid', at: 'line 1, column 23', says: /PARTITIONED BY/ },
  { sql: "SELECT E'x'", code: 'unsupported', at: 'line 1, column 8', says: /prefix E/ },
  { sql: 'SELECT 1; SELECT 2', code: 'unsupported', at: 'line 1, column 9', says: /more than one statement/ },
  { sql: 'SET a = 1', code: 'unsupported', at: 'line 1, column 1', says: /SET/ },
  { sql: 'SELECT a FROM t\nJOIN u', code: 'sql_invalid', at: 'line 2, column 6', says: /join needs ON or USING/ },
  { sql: 'SELECT a FROM t CROSS JOIN u ON t.a = u.a', code: 'sql_invalid', at: 'line 1, column 28', says: /CROSS JOIN takes no ON/ },
  { sql: 'WITH RECURSIVE a AS (SELECT 1) SELECT * FROM a', code: 'unsupported', at: 'line 1, column 6', says: /RECURSIVE/ },
  { sql: 'SELECT a FROM t QUALIFY ORDER BY a', code: 'sql_invalid', at: 'line 1, column 25', says: /QUALIFY needs a condition/ },
  { sql: 'SELECT a[1:2] FROM t', code: 'unsupported', at: 'line 1, column 8', says: /subscript/ },
  {
    sql: 'SELECT SUM(a) OVER (ORDER BY b ROWS 1.5 PRECEDING) FROM t',
    code: 'sql_plan_invalid',
    at: 'line 1, column 37',
    says: /literal number of rows/,
  },
  { sql: 'SELECT /*+ hint */ a', code: 'unsupported', at: 'line 1, column 8', says: /hint/ },
  {
    sql: 'SELCT a FROM t',
    code: 'sql_invalid',
    at: 'line 1, column 1',
    says: /unexpected "SELCT"; did you mean SELECT instead of SELCT\?/,
  },
  { sql: 'SELECT a FORM t', code: 'sql_invalid', at: 'line 1, column 15', says: /did you mean FROM instead of FORM\?/ },
  { sql: 'SELECT a FROM t\nWERE b > 1', code: 'sql_invalid', at: 'line 2, column 6', says: /did you mean WHERE instead of WERE\?/ },
  { sql: 'SELECT a FROM t ORDER b', code: 'sql_invalid', at: 'line 1, column 23', says: /; expected BY$/ },
  { sql: 'SELECT a FROM t GRUOP BY a', code: 'sql_invalid', at: 'line 1, column 23', says: /did you mean GROUP instead of GRUOP\?/ },
  { sql: 'SELECT a FROM t x y', code: 'sql_invalid', at: 'line 1, column 19', says: /expected one of \( , / },
  {
    sql: 'SELECT CAST(a AS VARCHR) FROM t',
    code: 'sql_plan_invalid',
    at: 'line 1, column 18',
    says: /unknown type VARCHR; did you mean VARCHAR\?/,
  },
  { sql: 'SELECT CAST(a AS MONEY) FROM t', code: 'unsupported', at: 'line 1, column 18', says: /the type MONEY/ },
  { sql: 'SELECT a FROM t TABLESAMPLE BERNOULLI(10)', code: 'unsupported', at: 'line 1, column 17', says: /TABLESAMPLE/ },
  { sql: "SELECT JSON_VALUE(a, '$.x' RETURNING MONEY) FROM t", code: 'unsupported', at: 'line 1, column 38', says: /type MONEY/ },
  { sql: "SELECT JSON_VALUE(a, '$.x' ERROR ON EMPTY) FROM t", code: 'unsupported', at: 'line 1, column 34', says: /ON EMPTY/ },
  { sql: 'DELETE FROM t', code: 'unsupported', at: 'line 1, column 1', says: /DELETE/ },
  {
    sql: `SELECT ${'('.repeat(NESTING_MAX + 1)}1${')'.repeat(NESTING_MAX + 1)}`,
    code: 'resource_limit',
    at: `line 1, column ${8 + NESTING_MAX}`,
    says: /nested/,
  },
  { sql: `SELECT ${'NOT '.repeat(20_000)} a`, code: 'resource_limit', at: 'line 1, column 1', says: /nested/ },
];

for (const { sql, code, at, says } of ERRORS) {
  errors(sql.slice(0, 60), () => {
    try {
      parseSql(new SourceText(sql));
    } catch (error) {
      assert.instance(error, ServiceError);
      if (!(error instanceof ServiceError)) return;
      assert.is(error.code, code);
      assert.ok(error.message.startsWith(`${at}: `), error.message);
      assert.match(error.message, says);
      return;
    }
    assert.unreachable('it parsed');
  });
}
errors.run();

const rewriting = suite('rewriting in front of the parser');

/** Pieces that do not change a statement's length, joined by any white space. */
const SAME_LENGTH = [
  'FLOOR(t TO DAY)',
  "TRIM(BOTH 'x' FROM a)",
  'SUBSTRING(a FROM 2 FOR 3)',
  "POSITION('a' IN b)",
  'EXTRACT(MILLISECOND FROM t)',
  "INTERVAL '1' WEEK",
  'a != 1',
  '/* note */',
  "'text'",
  '"a b"',
  '1.5',
];
const OTHER_LENGTH = ['a!=-1', '2GROUP', 'do', `'${'long '.repeat(500)}'`, 'x IN (1,2,3,4,5,6,7,8,9,10)'];

function rewritten(sql: string): { stream: TokenStream; text: ReturnType<TokenStream['parserText']> } {
  const stream = new TokenStream(new SourceText(sql));
  rewrite(stream);
  return { stream, text: stream.parserText(0, stream.tokens.length, '') };
}

const space = fc.constantFrom(' ', '\n', '  ', ' \n ');

rewriting('most edits keep the length of the text, and its lines', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom(...SAME_LENGTH), space), { minLength: 1, maxLength: 12 }), (pieces) => {
      const sql = `${pieces.flat().join('')}last`;
      const { text } = rewritten(sql);
      assert.is(text.text.length, sql.length);
      for (let index = 0; index < sql.length; index++) assert.is(text.text[index] === '\n', sql[index] === '\n');
    }),
  );
});

rewriting('every word that is left is found at its own place in the source', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom(...SAME_LENGTH, ...OTHER_LENGTH, 'marker'), space), { minLength: 1, maxLength: 12 }),
      (pieces) => {
        const sql = pieces.flat().join('');
        const { text } = rewritten(sql);
        const inSource = [...sql.matchAll(/marker/g)].map(({ index }) => index);
        const inText = [...text.text.matchAll(/marker/g)].map(({ index }) => text.sourceOffset(index));
        assert.equal(inText, inSource);
      },
    ),
  );
});
rewriting.run();
