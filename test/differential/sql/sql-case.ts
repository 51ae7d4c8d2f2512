import type { DifferentialCase, Fields, Json } from '../case.js';
import type { Random } from '../random.js';
import { fillTemplate, makeExpression, type SqlExpression, shrinkExpression, wordsOf, writeSql } from './sql-expression.js';
import { AGGREGATES, type SqlKind } from './sql-functions.js';

/** A generated statement, by its clauses. Rows are in any order unless it says `ordered`. */
interface Statement {
  readonly keys: readonly SqlExpression[];
  readonly values: readonly SqlExpression[];
  readonly from: string;
  readonly where: SqlExpression | undefined;
  readonly having: SqlExpression | undefined;
  /** Written behind GROUP BY; `undefined`: by the keys where there are values, else not at all. */
  readonly grouping: 'sets' | 'rollup' | undefined;
  /** Sorted by all keys, and cut. */
  readonly limit: number | undefined;
  readonly shape: 'scan' | 'group' | 'window' | 'union';
  readonly context: Fields;
}

/** Statements over `nasty` and `small`. */
export function sqlCase(random: Random): DifferentialCase {
  return asCase(makeStatement(random));
}

const VALUE_KINDS: readonly SqlKind[] = ['string', 'string', 'long', 'long', 'double', 'time', 'boolean', 'strings', 'longs'];
const KEY_KINDS: readonly SqlKind[] = ['string', 'long', 'time', 'boolean'];
const JOINED = 'SELECT nasty.*, small.num, small.w FROM nasty {join} JOIN small ON nasty.{left} = small.{right}';

function makeStatement(random: Random): Statement {
  const shape = random.pick(['scan', 'scan', 'group', 'group', 'group', 'window', 'union'] as const);
  const depth = 1 + random.below(3);
  const where = random.chance(0.6) ? makeExpression(random, 'boolean', 1 + random.below(3)) : undefined;
  const common = { from: makeSource(random), where, context: makeContext(random) };
  switch (shape) {
    case 'scan':
      return {
        ...common,
        shape,
        keys: [],
        values: random.list(1, 3, () => makeExpression(random, random.pick(VALUE_KINDS), depth)),
        having: undefined,
        grouping: undefined,
        limit: undefined,
      };
    case 'union':
    case 'window':
      return {
        ...common,
        from: 'nasty',
        shape,
        keys: [],
        values: [makeExpression(random, 'string', 1), makeExpression(random, 'long', 1)],
        having: undefined,
        grouping: undefined,
        limit: undefined,
      };
    case 'group': {
      const keys = random.list(0, 2, () => makeExpression(random, random.pick(KEY_KINDS), random.below(3)));
      return {
        ...common,
        shape,
        keys,
        values: random.list(1, 3, () => makeAggregate(random)),
        having: keys.length > 0 && random.chance(0.2) ? fillTemplate(random, 'having', random.pick(HAVING), 0) : undefined,
        grouping: keys.length > 0 ? random.pick([undefined, undefined, undefined, 'sets', 'rollup'] as const) : undefined,
        limit: keys.length > 0 && random.chance(0.4) ? 1 + random.below(20) : undefined,
      };
    }
  }
}

const HAVING = ['COUNT(*) > 3', 'SUM(n) > 10', 'NOT (SUM(n) > 10)', 'MAX(n) IS NULL', 'MIN(x) < 0.0 OR COUNT(*) = 1'];

function makeAggregate(random: Random): SqlExpression {
  const aggregate = fillTemplate(random, 'aggregate', random.pick<string>(AGGREGATES), 2);
  if (!random.chance(0.25)) return aggregate;
  const filter = makeExpression(random, 'boolean', 1);
  return { kind: 'aggregate', texts: ['', ' FILTER (WHERE ', ')'], parts: [aggregate, filter] };
}

function makeSource(random: Random): string {
  if (random.chance(0.75)) return 'nasty';
  const [left, right] = random.pick([
    ['k', 'key'],
    ['n', 'num'],
  ] as const);
  const join = random.pick(['INNER', 'LEFT']);
  return `(${JOINED.replace('{join}', join).replace('{left}', left).replace('{right}', right)})`;
}

function makeContext(random: Random): Fields {
  const context: Record<string, Json> = {};
  if (random.chance(0.15)) context['sqlTimeZone'] = random.pick(['America/New_York', 'Europe/Berlin', 'Asia/Kolkata']);
  return context;
}

function asCase(statement: Statement): DifferentialCase {
  const expressions = [...statement.keys, ...statement.values, statement.where, statement.having].filter((one) => one !== undefined);
  return {
    kind: 'sql',
    request: { query: write(statement), context: statement.context },
    tags: [statement.shape, ...(statement.grouping === undefined ? [] : [statement.grouping]), ...expressions.flatMap(wordsOf)],
    order: 'bag',
    shrink: () => shrinkStatement(statement),
  };
}

function write({ keys, values, from, where, having, grouping, limit, shape }: Statement): string {
  const condition = where === undefined ? '' : ` WHERE ${writeSql(where)}`;
  const named = (list: readonly SqlExpression[], name: string): string[] => list.map((one, at) => `${writeSql(one)} AS ${name}${at}`);
  const source = `FROM ${from}${from === 'nasty' ? '' : ' AS nasty'}${condition}`;
  if (shape === 'scan') return `SELECT ${named(values, 'v').join(', ')} ${source}`;
  const [first, second] = values.map(writeSql);
  if (shape === 'window')
    return `SELECT id, ROW_NUMBER() OVER (PARTITION BY k ORDER BY id) AS r, SUM(n) OVER (PARTITION BY k ORDER BY id) AS t, LAG(id) OVER (PARTITION BY k ORDER BY id) AS g, ${first} AS v0 ${source}`;
  if (shape === 'union') return `SELECT ${first} AS v0, ${second} AS v1 ${source} UNION ALL SELECT key, num FROM small`;
  const items = [...named(keys, 'k'), ...named(values, 'v')].join(', ');
  if (keys.length === 0) return `SELECT ${items} ${source}`;
  const numbers = keys.map((_, at) => String(at + 1));
  const texts = keys.map(writeSql);
  const groups =
    grouping === 'sets'
      ? `GROUPING SETS (${texts.map((text) => `(${text})`).join(', ')}, ())`
      : grouping === 'rollup'
        ? `ROLLUP (${texts.join(', ')})`
        : numbers.join(', ');
  const cut = limit === undefined || grouping !== undefined ? '' : ` ORDER BY ${numbers.join(', ')} LIMIT ${limit}`;
  return `SELECT ${items} ${source} GROUP BY ${groups}${having === undefined ? '' : ` HAVING ${writeSql(having)}`}${cut}`;
}

function* shrinkStatement(statement: Statement): Iterable<DifferentialCase> {
  for (const smaller of smallerStatements(statement)) yield asCase(smaller);
}

function* smallerStatements(statement: Statement): Iterable<Statement> {
  const { keys, values, where, having, context } = statement;
  if (where !== undefined) yield { ...statement, where: undefined };
  if (having !== undefined) yield { ...statement, having: undefined };
  if (statement.from !== 'nasty') yield { ...statement, from: 'nasty' };
  if (statement.limit !== undefined) yield { ...statement, limit: undefined };
  if (statement.grouping !== undefined) yield { ...statement, grouping: undefined };
  if (Object.keys(context).length > 0) yield { ...statement, context: {} };
  if (statement.shape === 'scan' || statement.shape === 'group') {
    for (const at of values.keys()) if (values.length > 1) yield { ...statement, values: values.toSpliced(at, 1) };
    for (const at of keys.keys()) yield { ...statement, keys: keys.toSpliced(at, 1) };
  }
  if (where !== undefined) for (const smaller of shrinkExpression(where)) yield { ...statement, where: smaller };
  for (const [at, value] of values.entries())
    for (const smaller of shrinkExpression(value)) yield { ...statement, values: values.with(at, smaller) };
  for (const [at, key] of keys.entries()) for (const smaller of shrinkExpression(key)) yield { ...statement, keys: keys.with(at, smaller) };
}
