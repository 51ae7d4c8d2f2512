import type { DifferentialCase } from '../case.js';
import type { Random } from '../random.js';
import { AGGREGATES } from './sql-aggregates.js';
import { fillTemplate, makeExpression, type SqlExpression, shrinkExpression, wordsOf, writeSql } from './sql-expression.js';
import { makeSource, NASTY, type Source } from './statement.js';

/** A statement of which an order, a limit or an extreme decides what is answered. */
interface OrderedStatement {
  readonly form: Form;
  readonly source: Source;
  readonly where: SqlExpression | undefined;
  /** Keys of the order; `id` comes last, so that rows which are equal in the order are equal. */
  readonly keys: readonly Key[];
  readonly aggregates: readonly SqlExpression[];
  readonly limit: number;
  readonly offset: number | undefined;
}

interface Key {
  readonly value: SqlExpression;
  /** Direction and place of nulls. */
  readonly order: string;
}

type Form = keyof typeof FORMS;

/** Forms of statements, as they are written, and whether their rows have an order. */
const FORMS = {
  top: { isOrdered: true, write: (one) => topOf(one) },
  /** Without `id`: rows that are equal are the same. */
  topOfKeys: { isOrdered: true, write: (one) => `SELECT ${list(one)} ${from(one)} ORDER BY ${order(one)}${cut(one)}` },
  distinct: { isOrdered: true, write: (one) => `SELECT DISTINCT ${list(one)} ${from(one)} ORDER BY ${order(one)}${cut(one)}` },
  distinctCount: { isOrdered: false, write: (one) => `SELECT COUNT(*) AS c FROM (SELECT DISTINCT ${list(one)} ${from(one)}${cut(one)})` },
  rowNumber: { isOrdered: false, write: (one) => firstOfPartitions(one, 'ROW_NUMBER()', ', id') },
  rank: { isOrdered: false, write: (one) => firstOfPartitions(one, 'RANK()', '') },
  denseRank: { isOrdered: false, write: (one) => firstOfPartitions(one, 'DENSE_RANK()', '') },
  groups: { isOrdered: true, write: (one) => groupsOf(one, `${order(one)}`) },
  bestGroups: { isOrdered: true, write: (one) => groupsOf(one, `a0 DESC, ${order(one)}`) },
  leastGroups: { isOrdered: true, write: (one) => groupsOf(one, `a0, ${order(one)}`) },
  having: { isOrdered: false, write: (one) => `${groupRows(one)} HAVING COUNT(*) ${one.limit % 2 === 0 ? '>' : '<='} ${one.limit}` },
  aggregates: { isOrdered: false, write: (one) => `SELECT ${aggregatesOf(one)} ${from(one)}` },
  extremes: {
    isOrdered: false,
    write: (one) => `SELECT ${one.keys.map((_, at) => `MIN(k${at}) AS l${at}, MAX(k${at}) AS h${at}`).join(', ')} FROM (${topOf(one)})`,
  },
  countOfTop: { isOrdered: false, write: (one) => `SELECT COUNT(*) AS c, SUM(id) AS s FROM (${topOf(one)})` },
  groupsOfTop: { isOrdered: false, write: (one) => `SELECT k0, COUNT(*) AS c, MIN(id) AS l FROM (${topOf(one)}) GROUP BY k0` },
  topOfTop: { isOrdered: true, write: (one) => `SELECT * FROM (${topOf(one)}) ORDER BY id DESC LIMIT ${Math.ceil(one.limit / 2)}` },
  inTop: { isOrdered: false, write: (one) => `SELECT id FROM nasty WHERE id IN (SELECT id FROM (${topOf(one)}))` },
  joinedTop: {
    isOrdered: false,
    write: (one) => `SELECT nasty.id, t.k0 FROM nasty INNER JOIN (${topOf(one)}) AS t ON nasty.n = t.id`,
  },
  scalar: { isOrdered: false, write: (one) => `SELECT id FROM nasty WHERE n >= (SELECT MIN(n) ${from(one)})` },
  times: { isOrdered: false, write: (one) => `SELECT MIN(__time) AS l, MAX(__time) AS h ${from(one)}` },
  buckets: {
    isOrdered: true,
    write: (one) =>
      `SELECT FLOOR(__time TO YEAR) AS y, ${aggregatesOf(one)} ${from(one)} GROUP BY 1 ORDER BY 1${one.limit % 2 === 0 ? ' DESC' : ''}${cut(one)}`,
  },
  latest: {
    isOrdered: true,
    write: (one) => `SELECT __time, id ${from(one)} ORDER BY __time${one.limit % 2 === 0 ? ' DESC' : ''}, id${cut(one)}`,
  },
} as const satisfies Readonly<Record<string, { readonly isOrdered: boolean; write(one: OrderedStatement): string }>>;

function topOf(one: OrderedStatement): string {
  return `SELECT ${list(one)}, id ${from(one)} ORDER BY ${order(one)}, id${cut(one)}`;
}

function list({ keys }: OrderedStatement): string {
  return keys.map(({ value }, at) => `${writeSql(value)} AS k${at}`).join(', ');
}

function order({ keys }: OrderedStatement): string {
  return keys.map((key, at) => `k${at}${key.order}`).join(', ');
}

function from({ source, where }: OrderedStatement): string {
  return `FROM ${source.text}${source.text === 'nasty' ? '' : ' AS nasty'}${where === undefined ? '' : ` WHERE ${writeSql(where)}`}`;
}

function cut({ limit, offset }: OrderedStatement): string {
  return ` LIMIT ${limit}${offset === undefined ? '' : ` OFFSET ${offset}`}`;
}

/** Rows by the first key alone, in the order of the others. */
function firstOfPartitions(one: OrderedStatement, place: string, last: string): string {
  const [partition, ...others] = one.keys.map(({ value, order }) => ({ text: writeSql(value), order }));
  const by =
    others.length === 0
      ? `id${one.keys[0]?.order.replace(/ NULLS.*/, '') ?? ''}`
      : others.map(({ text, order }) => `${text}${order}`).join(', ');
  const numbered = `SELECT ${list(one)}, id, ${place} OVER (PARTITION BY ${partition?.text ?? 'k'} ORDER BY ${by}${last}) AS r ${from(one)}`;
  return `SELECT * FROM (${numbered}) WHERE r <= ${Math.ceil(one.limit / 4)}`;
}

function aggregatesOf({ aggregates }: OrderedStatement): string {
  return aggregates.map((aggregate, at) => `${writeSql(aggregate)} AS a${at}`).join(', ');
}

function groupRows(one: OrderedStatement): string {
  return `SELECT ${list(one)}, ${aggregatesOf(one)} ${from(one)} GROUP BY ${one.keys.map((_, at) => at + 1).join(', ')}`;
}

function groupsOf(one: OrderedStatement, by: string): string {
  return `${groupRows(one)} ORDER BY ${by}${cut(one)}`;
}

const PLAIN = ['s', 'k', 'k', 'b', 'n', 'n', 'l', 'x', 'd', 'f', 'ts', '__time', 'id'] as const;
const CONDITIONS = [
  'n = 3',
  'n > 7',
  "k = 'a'",
  "k IN ('b', '10')",
  'k IS NULL',
  'x < -100.0',
  'id < 40',
  'id BETWEEN 100 AND 109',
  "__time >= TIMESTAMP '2015-09-12 13:30:00'",
  "s > 'z'",
  'd > 100.0',
  "mv = 'a'",
  'n IS NULL AND x > 0.0',
  "b = 'true' OR n = 9",
  'l < 0',
] as const;
/** Aggregates that give a value that has an order. */
const ORDERED_AGGREGATES = [
  'COUNT(*)',
  'SUM({small})',
  'SUM({exact})',
  'MIN({small})',
  'MAX({exact})',
  'MAX(k)',
  'MIN(s)',
  'MAX(__time)',
  'LATEST(n)',
  'EARLIEST(x)',
  'COUNT(DISTINCT {few})',
  'COUNT(n)',
  'AVG({exact})',
] as const;
const ORDERS = ['', '', ' DESC', ' DESC', ' NULLS FIRST', ' NULLS LAST', ' DESC NULLS FIRST', ' DESC NULLS LAST'] as const;

/** Forms that are drawn most: the first rows of orders and of partitions. */
const FIRST_ROWS: readonly Form[] = ['top', 'top', 'topOfKeys', 'rowNumber', 'rank', 'countOfTop', 'latest'];

/** Statements over `nasty` whose answers depend on an order, on a limit or on extremes. */
export function orderCase(random: Random): DifferentialCase {
  const form = random.chance(0.5) ? random.pick(FIRST_ROWS) : random.pick(Object.keys(FORMS) as Form[]);
  const source = random.chance(0.75) ? NASTY : makeSource(random);
  const isPlain = source.with === undefined && !/LIMIT/.test(source.text);
  return asCase({
    form,
    source: isPlain ? source : NASTY,
    where: makeWhere(random),
    keys: random.list(1, 3, () => makeKey(random)),
    aggregates: [
      fillTemplate(random, 'aggregate', random.pick(ORDERED_AGGREGATES), 1),
      ...random.list(0, 2, () => fillTemplate(random, 'aggregate', random.pick<string>(AGGREGATES), 2)),
    ],
    limit: random.pick([1, 2, 3, 4, 5, 8, 10, 11, 20, 20, 35, 50, 150]),
    offset: random.chance(0.25) ? random.pick([1, 2, 3, 7, 40]) : undefined,
  });
}

function makeWhere(random: Random): SqlExpression | undefined {
  if (random.chance(0.3)) return undefined;
  if (random.chance(0.3)) return makeExpression(random, 'condition', 1 + random.below(3));
  return {
    kind: 'condition',
    texts: [random.list(1, 2, () => `(${random.pick(CONDITIONS)})`).join(random.pick([' AND ', ' OR ']))],
    parts: [],
  };
}

function makeKey(random: Random): Key {
  const value: SqlExpression = random.chance(0.7)
    ? { kind: 'plain', texts: [random.pick(PLAIN)], parts: [] }
    : makeExpression(random, random.pick(['string', 'long', 'double', 'time', 'boolean']), 1 + random.below(2));
  return { value, order: random.pick(ORDERS) };
}

function asCase(statement: OrderedStatement): DifferentialCase {
  const { form, source, where, keys, aggregates } = statement;
  const { isOrdered, write } = FORMS[form];
  const expressions = [...keys.map(({ value }) => value), ...(where === undefined ? [] : [where])];
  return {
    kind: 'sql',
    request: { query: write(statement), context: {} },
    tags: [form, ...(source === NASTY ? [] : ['SOURCE']), ...[...expressions, ...aggregates].flatMap(wordsOf)],
    order: isOrdered ? 'list' : 'bag',
    *shrink() {
      for (const smaller of smallerStatements(statement)) yield asCase(smaller);
    },
  };
}

function* smallerStatements(statement: OrderedStatement): Iterable<OrderedStatement> {
  const { source, where, keys, aggregates, offset, limit } = statement;
  if (where !== undefined) yield { ...statement, where: undefined };
  if (source !== NASTY) yield { ...statement, source: NASTY };
  if (offset !== undefined) yield { ...statement, offset: undefined };
  if (limit > 1) yield { ...statement, limit: limit >> 1 };
  for (const at of keys.keys()) if (keys.length > 1) yield { ...statement, keys: keys.toSpliced(at, 1) };
  for (const at of aggregates.keys()) if (aggregates.length > 1) yield { ...statement, aggregates: aggregates.toSpliced(at, 1) };
  if (where !== undefined) for (const smaller of shrinkExpression(where)) yield { ...statement, where: smaller };
  for (const [at, key] of keys.entries()) {
    if (key.order !== '') yield { ...statement, keys: keys.with(at, { ...key, order: '' }) };
    for (const value of shrinkExpression(key.value)) yield { ...statement, keys: keys.with(at, { ...key, value }) };
  }
  for (const [at, whole] of aggregates.entries())
    for (const smaller of shrinkExpression(whole)) yield { ...statement, aggregates: aggregates.with(at, smaller) };
}
