import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../../../src/base/errors.js';
import { RULES } from '../../../../src/planner/sql/relation/rules/rules.js';
import { caseCount } from '../../../case-count.js';
import { answer, differencesOf, memory, rowsOfTable } from '../small-tables.js';

/*
 * Drawn statements whose subqueries use values of the queries around them, one to three levels deep, over small tables with nulls, against an
 * evaluation row by row, as the standard says it. (DuckDB 1.5 answers some of them wrongly: semi joins by inequality with nulls.)
 */

type Cell = string | number | null;
type Row = Readonly<Record<string, Cell>>;
/** true, false, unknown. */
type Truth = boolean | null;
/** The rows of the queries around, by their aliases. */
type Environment = Readonly<Record<string, Row>>;

interface Table {
  readonly name: string;
  readonly alias: string;
  readonly longs: readonly string[];
  readonly texts: readonly string[];
}

/** A piece of SQL, and what it is. */
interface Piece<Value> {
  readonly sql: string;
  of(environment: Environment): Value;
}

const tableOf = (alias: string): fc.Arbitrary<Table> =>
  fc.constantFrom(
    { name: 'edits', alias, longs: ['usr', 'added'], texts: ['city'] },
    { name: 'users', alias, longs: ['id'], texts: ['city', 'name'] },
    { name: 'none', alias, longs: ['x'], texts: ['city'] },
  );

const COMPARISONS: Readonly<Record<string, (a: string | number, b: string | number) => boolean>> = {
  '=': (a, b) => a === b,
  '<>': (a, b) => a !== b,
  '<': (a, b) => a < b,
  '>=': (a, b) => a >= b,
};
const operators = fc.constantFrom('=', '=', '=', '<>', '<', '>=');

function compared(operator: string, a: Cell, b: Cell): Truth {
  return a === null || b === null ? null : (COMPARISONS[operator]?.(a, b) ?? null);
}

function both(a: Truth, b: Truth): Truth {
  return a === false || b === false ? false : a === null || b === null ? null : true;
}

function negated(a: Truth): Truth {
  return a === null ? null : !a;
}

function either(a: Truth, b: Truth): Truth {
  return negated(both(negated(a), negated(b)));
}

function column({ alias }: Table, name: string): Piece<Cell> {
  return { sql: `${alias}.${name}`, of: (environment) => environment[alias]?.[name] ?? null };
}

function comparison(left: Piece<Cell>, operator: string, right: Piece<Cell>): Piece<Truth> {
  return { sql: `${left.sql} ${operator} ${right.sql}`, of: (rows) => compared(operator, left.of(rows), right.of(rows)) };
}

/** A condition on own columns and, mostly, those of the queries around. */
function correlation(own: Table, around: readonly Table[]): fc.Arbitrary<Piece<Truth>> {
  const of = (kind: 'longs' | 'texts') =>
    fc
      .tuple(fc.constantFrom(...own[kind]), operators, fc.constantFrom(...around))
      .chain(([name, operator, table]) =>
        fc.constantFrom(...table[kind]).map((other) => comparison(column(own, name), operator, column(table, other))),
      );
  const alone = fc
    .tuple(fc.constantFrom(...own.longs), operators, fc.integer({ min: -2, max: 9 }))
    .map(([name, operator, value]) => comparison(column(own, name), operator, { sql: String(value), of: () => value }));
  const and = ([a, b]: [Piece<Truth>, Piece<Truth>]) => ({
    sql: `${a.sql} AND ${b.sql}`,
    of: (rows: Environment) => both(a.of(rows), b.of(rows)),
  });
  const or = ([a, b]: [Piece<Truth>, Piece<Truth>]) => ({
    sql: `(${a.sql} OR ${b.sql})`,
    of: (rows: Environment) => either(a.of(rows), b.of(rows)),
  });
  return fc.oneof(
    { arbitrary: of('longs'), weight: 4 },
    { arbitrary: of('texts'), weight: 3 },
    { arbitrary: fc.tuple(of('longs'), of('texts')).map(and), weight: 3 },
    { arbitrary: fc.tuple(of('longs'), alone).map(or), weight: 1 },
    alone,
  );
}

function aggregated(kind: string, values: readonly Cell[]): Cell {
  const numbers = values.filter((value) => typeof value === 'number');
  if (kind === 'COUNT') return numbers.length;
  if (numbers.length === 0) return null;
  return kind === 'SUM' ? numbers.reduce((sum, value) => sum + value, 0) : kind === 'MAX' ? Math.max(...numbers) : Math.min(...numbers);
}

/** A subquery of one column: its values, in any order. */
function subquery(around: readonly Table[], depth: number): fc.Arbitrary<Piece<readonly Cell[]> & { readonly isOne: boolean }> {
  return tableOf(`t${around.length}`).chain((own) =>
    fc
      .tuple(
        correlation(own, around),
        depth > 1 ? fc.option(condition([own, ...around], depth - 1), { nil: null, freq: 1 }) : fc.constant(null),
        fc.constantFrom(...own.longs),
        fc.constantFrom('rows', 'rows', 'MAX', 'MIN', 'SUM', 'COUNT', 'groups', 'most'),
      )
      .map(([where, deeper, name, kind]) => {
        const from = `FROM ${own.name} ${own.alias} WHERE ${where.sql}${deeper === null ? '' : ` AND ${deeper.sql}`}`;
        const value = `${own.alias}.${name}`;
        const rows = (environment: Environment): Row[] =>
          rowsOfTable(own.name).filter((row) => {
            const inner = { ...environment, [own.alias]: row };
            return where.of(inner) === true && (deeper === null || deeper.of(inner) === true);
          });
        const values = (environment: Environment): Cell[] => rows(environment).map((row) => row[name] ?? null);
        switch (kind) {
          case 'rows':
            return { sql: `SELECT ${value} ${from}`, of: values, isOne: false };
          case 'groups': {
            const groups = (environment: Environment): Cell[] => {
              const counts = new Map<Cell, number>();
              for (const each of values(environment)) counts.set(each, (counts.get(each) ?? 0) + 1);
              return [...counts.values()];
            };
            return { sql: `SELECT COUNT(*) ${from} GROUP BY ${value}`, of: groups, isOne: false };
          }
          case 'most': {
            // Nulls are the lowest.
            const most = (environment: Environment): Cell[] => {
              const sorted = values(environment).sort((a, b) => (a === null ? -1 : b === null ? 1 : Number(a) - Number(b)));
              return sorted.slice(-1);
            };
            return { sql: `SELECT ${value} ${from} ORDER BY ${value} DESC LIMIT 1`, of: most, isOne: true };
          }
          default:
            return { sql: `SELECT ${kind}(${value}) ${from}`, of: (environment) => [aggregated(kind, values(environment))], isOne: true };
        }
      }),
  );
}

/** A condition that holds a subquery, in a query that reads `around[0]`. */
function condition(around: readonly Table[], depth: number): fc.Arbitrary<Piece<Truth>> {
  const [nearest = { name: '', alias: '', longs: [''], texts: [] }] = around;
  return fc
    .tuple(
      subquery(around, depth),
      fc.constantFrom(...nearest.longs),
      fc.boolean(),
      fc.boolean(),
      operators,
      fc.constantFrom('IN', 'IN', 'ANY', 'SOME', 'ALL'),
    )
    .map(([query, name, exists, isNegated, operator, quantifier]) => {
      const value = column(nearest, name);
      const not = isNegated ? 'NOT ' : '';
      const turned = (truth: Truth): Truth => (isNegated ? negated(truth) : truth);
      if (query.isOne && !exists) {
        const one = { sql: `(${query.sql})`, of: (rows: Environment) => query.of(rows)[0] ?? null };
        return comparison(value, operator, one);
      }
      if (exists) return { sql: `${not}EXISTS (${query.sql})`, of: (rows) => turned(query.of(rows).length > 0) };
      if (quantifier !== 'IN') {
        const of = (rows: Environment): Truth => {
          const truths = query.of(rows).map((each) => compared(operator, value.of(rows), each));
          return turned(quantifier === 'ALL' ? truths.reduce<Truth>(both, true) : truths.reduce<Truth>(either, false));
        };
        return { sql: `${not}(${value.sql} ${operator} ${quantifier} (${query.sql}))`, of };
      }
      const of = (rows: Environment): Truth => {
        const wanted = value.of(rows);
        return turned(query.of(rows).reduce<Truth>((found, each) => either(found, compared('=', wanted, each)), false));
      };
      return { sql: `${value.sql} ${not}IN (${query.sql})`, of };
    });
}

const statement = tableOf('o').chain((table) =>
  fc.tuple(condition([table], 3), fc.boolean(), fc.constantFrom(...table.longs)).map(([test, isFilter, name]): Piece<unknown[][]> => {
    const rows = rowsOfTable(table.name).map((row) => ({ row, truth: test.of({ [table.alias]: row }) }));
    const from = `FROM ${table.name} ${table.alias}`;
    return isFilter
      ? {
          sql: `SELECT ${table.alias}.${name} ${from} WHERE ${test.sql}`,
          of: () => rows.flatMap(({ row, truth }) => (truth === true ? [[row[name] ?? null]] : [])),
        }
      : {
          sql: `SELECT ${table.alias}.${name}, ${test.sql} AS t ${from}`,
          of: () => rows.map(({ row, truth }) => [row[name] ?? null, truth]),
        };
  }),
);

const sortedRows = (rows: readonly unknown[][]): string[] => rows.map((row) => JSON.stringify(row)).sort();

const subqueries = suite('subqueries that use values of the queries around them');

subqueries('give the rows that evaluation row by row gives: 400 statements, with rules and without', async () => {
  await fc.assert(
    fc.asyncProperty(
      statement,
      fc.constantFrom(
        [],
        RULES.map(({ name }) => name),
      ),
      async ({ sql, of }, rulesOff) => {
        assert.equal(sortedRows(await answer(sql, rulesOff)), sortedRows(of({})), sql);
      },
    ),
    { numRuns: caseCount(200) },
  );
  assert.is(memory.allocatedBytes, 0);
});

subqueries('a subquery that stands for one value and gives several rows is an error of the query', async () => {
  for (const sql of [
    'SELECT (SELECT id FROM users) FROM edits',
    'SELECT COUNT(*) FROM users u WHERE id = (SELECT usr FROM edits e WHERE e.city = u.city)',
  ])
    try {
      await answer(sql);
      assert.unreachable(sql);
    } catch (error) {
      assert.ok(error instanceof ServiceError && error.code === 'query_invalid', `${sql}: ${error}`);
      assert.match(error.message, /a subquery that stands for one value gave \d+ rows/);
    }
});

const OF_NO_ROWS: readonly (readonly [aggregate: string, value: number | string | null])[] = [
  ['COUNT(*)', 0],
  ['COUNT(DISTINCT e.city) + 1', 1],
  ['APPROX_COUNT_DISTINCT_DS_HLL(e.city)', 0],
  ['APPROX_COUNT_DISTINCT_DS_HLL(e.city) FILTER (WHERE e.added > 3)', 0],
  ['APPROX_COUNT_DISTINCT_DS_THETA(e.city)', 0],
  ['SUM(DISTINCT e.added)', null],
  ['AVG(e.added)', null],
  ["STRING_AGG(e.city, '-')", null],
];
subqueries('an aggregate gives of no rows what it gives without the outer query', async () => {
  for (const [aggregate, value] of OF_NO_ROWS) {
    assert.equal(await answer(`SELECT ${aggregate} FROM edits e WHERE e.usr > 99`), [[value]]);
    for (const operator of ['=', '>']) {
      const [row] = await answer(`SELECT (SELECT ${aggregate} FROM edits e WHERE e.usr ${operator} u.id + 99) FROM users u WHERE u.id = 2`);
      assert.equal(row, [value], `${aggregate} ${operator}`);
    }
  }
});

subqueries('that compare with each of several values have NaN above every number, as DuckDB has', async () => {
  const orNaN = (condition: string, value: string): string => `CASE WHEN ${condition} THEN CAST('NaN' AS DOUBLE) ELSE ${value} END`;
  const statements = ['<', '<=', '>', '>=', '<>'].flatMap((operator) =>
    ['ANY', 'ALL'].flatMap((quantifier) =>
      // Some and all of the values are NaN.
      [5, 0].flatMap((id) => {
        const compared = `${orNaN('e.usr = 3', 'e.price')} ${operator} ${quantifier} (SELECT ${orNaN(`u.id > ${id}`, 'u.score')} FROM users u`;
        return [
          `SELECT e.__time, e.usr, ${compared} WHERE u.score IS NOT NULL AND u.id IS NOT NULL) AS t FROM edits e`,
          `SELECT COUNT(*) FROM edits e WHERE ${compared} WHERE u.city = e.city)`,
        ];
      }),
    ),
  );
  assert.is(await differencesOf(statements.map((statement) => [statement, statement])), '');
});

subqueries.run();
