import type { Fields, Json } from '../case.js';
import type { Random } from '../random.js';
import { AGGREGATES, GROUP_WINDOWS, WINDOWS } from './sql-aggregates.js';
import { fillTemplate, makeExpression, type SqlExpression, writeSql } from './sql-expression.js';
import type { SqlKind } from './sql-functions.js';

/** A table expression named `nasty` with at least the columns of that table, and what is put before the statement for it. */
export interface Source {
  readonly with?: string;
  readonly text: string;
  /** A column that it has besides. */
  readonly column?: string;
}

/** Order and limit of groups. The order is by all keys, so that no two groups are equal. */
export interface Ending {
  /** Direction of each key: `''` or `' DESC'`. */
  readonly directions: readonly string[];
  /** Ordered by the first value before the keys: its direction. */
  readonly byValue: string | undefined;
  readonly limit: number | undefined;
  readonly offset: number | undefined;
}

/** A generated statement, by its clauses. */
export interface Statement {
  readonly shape: 'scan' | 'ordered' | 'distinct' | 'group' | 'window' | 'union';
  readonly keys: readonly SqlExpression[];
  readonly values: readonly SqlExpression[];
  readonly source: Source;
  readonly where: SqlExpression | undefined;
  readonly having: SqlExpression | undefined;
  readonly grouping: 'sets' | 'rollup' | 'cube' | 'pairs' | undefined;
  readonly ending: Ending | undefined;
  /** Further queries of the same columns, behind UNION ALL. */
  readonly others: readonly string[];
  /** A query over its rows: `{rows}` stands for it. */
  readonly outer: string | undefined;
  /** Literals are sent as parameters. */
  readonly parameters: boolean;
  readonly context: Fields;
}

export const NASTY: Source = { text: 'nasty' };

const SHAPES = [
  'scan',
  'scan',
  'scan',
  'ordered',
  'distinct',
  'group',
  'group',
  'group',
  'group',
  'group',
  'window',
  'window',
  'union',
] as const;
const VALUE_KINDS: readonly SqlKind[] = [
  'string',
  'string',
  'long',
  'long',
  'double',
  'time',
  'boolean',
  'strings',
  'longs',
  'doubles',
  'json',
  'many',
];
/** No doubles: the original keeps two zeros apart. */
const KEY_KINDS: readonly SqlKind[] = [
  'string',
  'string',
  'string',
  'string',
  'long',
  'long',
  'long',
  'time',
  'time',
  'boolean',
  'many',
  'strings',
  'longs',
];
const HAVING = [
  'COUNT(*) > 3',
  'SUM(n) > 10',
  'NOT (SUM(n) > 10)',
  'MAX(n) IS NULL',
  'MIN(x) < 0.0 OR COUNT(*) = 1',
  'SUM(n) BETWEEN {small!} AND 20',
  'MAX(k) = {string!}',
  'COUNT(DISTINCT k) IN (1, 2)',
];
const OUTER = [
  'SELECT COUNT(*) AS c FROM ({rows})',
  'SELECT COUNT(*) AS c, COUNT(v0) AS d FROM ({rows})',
  'WITH w AS ({rows}) SELECT COUNT(*) AS c, COUNT(v0) AS d FROM w',
  'SELECT v0, COUNT(*) AS c FROM ({rows}) GROUP BY v0',
  'SELECT v0 FROM ({rows}) WHERE v0 IS NOT NULL',
  'SELECT DISTINCT v0 FROM ({rows})',
  'SELECT v0, COUNT(*) AS c FROM ({rows}) GROUP BY v0 HAVING COUNT(*) > 1',
];
const OUTER_OF_GROUPS = [
  ...OUTER,
  'SELECT k0, COUNT(*) AS c, COUNT(v0) AS d FROM ({rows}) GROUP BY k0',
  'SELECT k0, v0, RANK() OVER (ORDER BY v0) AS r FROM ({rows})',
  'SELECT q.k0, q.v0, small.w FROM ({rows}) AS q INNER JOIN small ON CAST(q.k0 AS VARCHAR) = small.key',
  'SELECT q.v0, small.num FROM ({rows}) AS q LEFT JOIN small ON CAST(q.k0 AS VARCHAR) = small.key',
  'SELECT id FROM nasty WHERE k IN (SELECT CAST(k0 AS VARCHAR) FROM ({rows}))',
  'SELECT k0, v0 FROM ({rows}) UNION ALL SELECT k0, v0 FROM ({rows})',
];
/** Second halves of unions: of a string and a number each. */
const OTHERS = [
  'SELECT key, num FROM small',
  'SELECT k, n FROM nasty WHERE n > 3',
  'SELECT b, COUNT(*) FROM nasty GROUP BY b',
  'SELECT key, SUM(num) FROM small GROUP BY key HAVING COUNT(*) > 1',
  "SELECT 'x', 1",
  '(SELECT k, id FROM nasty ORDER BY __time LIMIT 3)',
  'SELECT DISTINCT k, 0 FROM nasty',
];

/** A statement over `nasty`, or over joins of it, subqueries and lists of its values. */
export function makeStatement(random: Random): Statement {
  const shape = random.pick(SHAPES);
  const depth = 1 + random.below(3);
  const source = makeSource(random);
  const plain: Statement = {
    shape,
    source,
    keys: [],
    values: [],
    where: random.chance(0.6) ? makeExpression(random, 'condition', 2 + random.below(3)) : undefined,
    having: undefined,
    grouping: undefined,
    ending: undefined,
    others: [],
    outer: undefined,
    parameters: random.chance(0.08),
    context: makeContext(random),
  };
  const extra: readonly SqlExpression[] =
    source.column !== undefined && random.chance(0.7) ? [{ kind: 'extra', texts: [source.column], parts: [] }] : [];
  switch (shape) {
    case 'distinct':
      return {
        ...plain,
        values: [...extra, ...random.list(1, 3, () => makeExpression(random, random.pick([...KEY_KINDS, 'strings']), depth))],
      };
    case 'scan': {
      const values = [...extra, ...random.list(1, 3, () => makeExpression(random, random.pick(VALUE_KINDS), depth))];
      return { ...plain, values, outer: random.chance(0.15) && !values.some(isOfValues) ? random.pick(OUTER) : undefined };
    }
    case 'ordered':
      return {
        ...plain,
        source: NASTY,
        values: random.list(1, 3, () => makeExpression(random, random.pick(VALUE_KINDS), depth)),
        ending: makeEnding(random, 1),
      };
    case 'union':
      return {
        ...plain,
        source: NASTY,
        values: [makeExpression(random, 'string', depth), makeExpression(random, 'long', depth)],
        others: random.list(1, 2, () => random.pick(OTHERS)),
      };
    case 'window': {
      const windows = random.list(1, 3, () => fillTemplate(random, 'window', random.pick<string>(WINDOWS), random.below(3)));
      const values = [...windows, ...random.list(0, 1, () => makeExpression(random, random.pick(VALUE_KINDS), 1))];
      return { ...plain, source: NASTY, values, outer: random.chance(0.15) && !values.some(isOfValues) ? random.pick(OUTER) : undefined };
    }
    case 'group': {
      const made = random.list(0, 2, () => makeExpression(random, random.pick(KEY_KINDS), random.below(3)));
      const keys = [...extra, ...made.filter((key) => !isZonedBucket(key, plain.context))];
      const values = random.list(1, 4, () => makeAggregate(random));
      // Sets that come twice, subqueries written twice and keys of several values are other matters.
      const texts = new Set(keys.map(writeSql));
      const isPlain = texts.size === keys.length && ![...texts].some((text) => /SELECT|mv/.test(text));
      const grouping =
        keys.length > 0 && isPlain
          ? random.pick([undefined, undefined, undefined, undefined, 'sets', 'rollup', 'cube', 'pairs'] as const)
          : undefined;
      if (grouping !== undefined && random.chance(0.4)) values.push(groupingOf(random, [...texts]));
      else if (grouping === undefined && keys.length > 0 && random.chance(0.1))
        values.push(fillTemplate(random, 'window', random.pick<string>(GROUP_WINDOWS), 1));
      return {
        ...plain,
        keys,
        values,
        having: keys.length > 0 && random.chance(0.2) ? fillTemplate(random, 'having', random.pick(HAVING), 0) : undefined,
        grouping,
        ending:
          keys.length > 0 && grouping === undefined && texts.size === keys.length && !keys.some(isOfValues) && random.chance(0.4)
            ? endingOf(keys, values, makeEnding(random, keys.length))
            : undefined,
        outer:
          random.chance(0.15) &&
          ![...keys, ...values].some((part) => isOfValues(part) || /SELECT|STRING_AGG/.test(writeSql(part))) &&
          !isOfSubquery(source)
            ? random.pick(keys.length > 0 ? OUTER_OF_GROUPS : OUTER)
            : undefined,
      };
    }
  }
}

/** A join with a subquery on its left, which the original loses where it is grouped twice. */
function isOfSubquery({ text }: Source): boolean {
  return /\) AS nasty \w+ JOIN/.test(text);
}

/** GROUPING of some of the keys. */
function groupingOf(random: Random, texts: readonly string[]): SqlExpression {
  return { kind: 'aggregate', texts: [`GROUPING(${random.some(texts, 3).join(', ')})`], parts: [] };
}

/** Buckets of a zone's days, whose rows near their bounds the original puts into either of two. */
function isZonedBucket(key: SqlExpression, context: Fields): boolean {
  const text = writeSql(key);
  return /FLOOR|DATE_TRUNC/.test(text) && text.includes('__time') && ('sqlTimeZone' in context || /'(America|Europe|Asia)\//.test(text));
}

/** An expression of several values, whose nulls the original counts differently where it cuts, or takes for none. */
function isOfValues(key: SqlExpression): boolean {
  return /\bmv|ARRAY|STRING_TO_MV/.test(writeSql(key));
}

function makeEnding(random: Random, keys: number): Ending {
  const byValue = random.chance(0.3) ? random.pick(['', ' DESC']) : undefined;
  return {
    // One key alone, descending and cut, has its nulls first in the original, and last in all other statements.
    directions: Array.from({ length: keys }, () => (keys === 1 && byValue === undefined ? '' : random.pick(['', '', ' DESC']))),
    byValue,
    limit: random.chance(0.8) ? 1 + random.below(20) : undefined,
    offset: random.chance(0.25) ? 1 + random.below(5) : undefined,
  };
}

/** Without a limit over arrays, of which the original loses some, and none behind windows, where it orders strings by other rules. */
function endingOf(keys: readonly SqlExpression[], values: readonly SqlExpression[], ending: Ending): Ending | undefined {
  if (values.some(({ kind }) => kind === 'window')) return undefined;
  return keys.some(({ kind }) => kind === 'strings' || kind === 'longs') ? { ...ending, limit: undefined, offset: undefined } : ending;
}

function makeAggregate(random: Random): SqlExpression {
  const aggregate = fillTemplate(random, 'aggregate', random.pick<string>(AGGREGATES), 2);
  if (!random.chance(0.25) || !/^[A-Z_]+\([^()]*\)?\)$/.test(aggregate.texts.join('{}'))) return aggregate;
  const filter = makeExpression(random, 'boolean', 1);
  return { kind: 'aggregate', texts: ['', ' FILTER (WHERE ', ')'], parts: [aggregate, filter] };
}

const JOINED = 'SELECT nasty.*, {columns} FROM nasty {join} JOIN {right} ON {condition}';
const RIGHTS = [
  { right: 'small', columns: 'small.num, small.w', condition: 'nasty.k = small.key' },
  { right: 'small', columns: 'small.key, small.w', condition: 'nasty.n = small.num' },
  { right: 'small', columns: 'small.w', condition: 'nasty.k = small.key AND nasty.n = small.num' },
  { right: 'small', columns: 'small.num', condition: 'UPPER(nasty.k) = UPPER(small.key)' },
  { right: 'small', columns: 'small.num', condition: 'nasty.k IS NOT DISTINCT FROM small.key' },
  { right: 'small', columns: 'small.key', condition: 'CAST(nasty.n AS VARCHAR) = small.key' },
  { right: 'small', columns: 'small.key, small.w', condition: 'nasty.x = small.w' },
  { right: 'lookup.lookyloo AS look', columns: 'look.v', condition: 'nasty.k = look.k' },
  { right: 'lookup.lookyloo AS look', columns: 'look.v', condition: 'nasty.s = look.k' },
  { right: '(SELECT * FROM small WHERE w > 1) AS part', columns: 'part.w', condition: 'nasty.k = part.key' },
  { right: 'nasty AS twin', columns: 'twin.n AS tn, twin.s AS tw', condition: 'nasty.n = twin.id' },
  {
    right: '(SELECT n AS m, MAX(k) AS mk FROM (SELECT n, k FROM nasty GROUP BY n, k) GROUP BY n) AS top',
    columns: 'top.m',
    condition: 'nasty.n = top.m',
  },
  {
    right: '(SELECT k AS key, COUNT(*) AS c FROM nasty WHERE n > 2 GROUP BY k) AS g',
    columns: 'g.c',
    condition: 'nasty.k = g.key',
  },
  { right: "(VALUES ('a', 1), ('b', 2), ('b', 3)) AS v(key, p)", columns: 'v.p', condition: 'nasty.k = v.key' },
] as const;
const UNNESTED = [
  '"as"',
  'al',
  'ad',
  'MV_TO_ARRAY(mv)',
  'MV_TO_ARRAY(mv2)',
  "STRING_TO_ARRAY(s, 'b')",
  'ARRAY[k, b]',
  'ARRAY[n, id]',
  `ARRAY_CONCAT("as", ARRAY['q'])`,
  'ARRAY_SLICE(al, 0, 2)',
  "ARRAY['p', 'q']",
] as const;
const UNNESTED_WHERE = ['', '', '', ' WHERE e IS NOT NULL', ' WHERE nasty.n > 2', " WHERE nasty.k = 'a' OR e IS NULL"] as const;

export function makeSource(random: Random): Source {
  if (random.chance(0.6)) return NASTY;
  switch (random.below(10)) {
    case 0:
    case 1:
    case 2: {
      const { right, columns, condition } = random.pick(RIGHTS);
      const join = random.pick(['INNER', 'LEFT']);
      const text = JOINED.replace('{columns}', columns).replace('{join}', join).replace('{right}', right).replace('{condition}', condition);
      return { text: `(${text})`, column: (columns.split(', ')[0] ?? '').replace(/^.*(?: AS |\.)/, '') };
    }
    case 3:
      return {
        text: '(SELECT nasty.*, small.w, t.num AS tn FROM nasty INNER JOIN small ON nasty.k = small.key LEFT JOIN small AS t ON nasty.n = t.num)',
        column: 'tn',
      };
    case 4:
      return {
        text: `(SELECT nasty.*, small.num FROM (SELECT * FROM nasty WHERE n > 1) AS nasty INNER JOIN small ON nasty.k = small.key WHERE small.w > 0 OR nasty.id > 30)`,
        column: 'num',
      };
    case 5:
      return {
        text: `(SELECT nasty.*, u.e FROM nasty CROSS JOIN UNNEST(${random.pick(UNNESTED)}) AS u(e)${random.pick(UNNESTED_WHERE)})`,
        column: 'e',
      };
    case 6:
      return {
        text: `(SELECT nasty.*, u.e, o.g FROM nasty CROSS JOIN UNNEST(${random.pick(UNNESTED.slice(0, 5))}) AS u(e) CROSS JOIN UNNEST(${random.pick(UNNESTED)}) AS o(g))`,
        column: random.pick(['e', 'g']),
      };
    case 7:
      return {
        text: `(SELECT * FROM nasty ORDER BY __time${random.pick(['', ' DESC'])} LIMIT ${20 + random.below(100)}${random.pick(['', ' OFFSET 7'])})`,
      };
    case 8:
      return {
        text: random.pick([
          "(SELECT * FROM nasty WHERE n > 1 OR k = 'a')",
          '(SELECT * FROM nasty UNION ALL SELECT * FROM nasty)',
          '(SELECT * FROM nasty WHERE k IN (SELECT key FROM small))',
        ]),
      };
    default:
      return {
        with: 'WITH g AS (SELECT n AS gn, COUNT(*) AS gc, MAX(id) AS gm FROM nasty GROUP BY n) ',
        text: `(SELECT nasty.*, g.gc FROM nasty ${random.pick(['INNER', 'LEFT'])} JOIN g ON nasty.n = g.gn)`,
        column: 'gc',
      };
  }
}

function makeContext(random: Random): Fields {
  const context: Record<string, Json> = {};
  if (random.chance(0.05)) context['skipEmptyBuckets'] = true;
  if (random.chance(0.08)) context['useApproximateCountDistinct'] = false;
  if (random.chance(0.05)) context['sqlStringifyArrays'] = false;
  if (random.chance(0.03)) context['useApproximateTopN'] = false;
  if (random.chance(0.15)) context['sqlTimeZone'] = random.pick(['America/New_York', 'Europe/Berlin', 'Asia/Kolkata']);
  return context;
}
