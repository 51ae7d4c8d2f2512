import type { Fields, Json } from '../case.js';
import type { Random } from '../random.js';
import { fillTemplate, makeExpression, type SqlExpression, writeSql } from './sql-expression.js';
import { AGGREGATES, type SqlKind } from './sql-functions.js';

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
  readonly grouping: 'sets' | 'rollup' | 'cube' | undefined;
  readonly ending: Ending | undefined;
  /** A query over its rows: `{rows}` stands for it. */
  readonly outer: string | undefined;
  /** Literals are sent as parameters. */
  readonly parameters: boolean;
  readonly context: Fields;
}

export const NASTY: Source = { text: 'nasty' };

const SHAPES = ['scan', 'scan', 'scan', 'ordered', 'distinct', 'group', 'group', 'group', 'group', 'group', 'window', 'union'] as const;
const VALUE_KINDS: readonly SqlKind[] = ['string', 'string', 'long', 'long', 'double', 'time', 'boolean', 'strings', 'longs', 'many'];
/** No doubles: the original keeps two zeros apart. */
const KEY_KINDS: readonly SqlKind[] = ['string', 'string', 'string', 'long', 'long', 'time', 'boolean', 'many'];
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
    case 'window':
      return { ...plain, source: NASTY, values: [makeExpression(random, 'string', 1), makeExpression(random, 'long', 1)] };
    case 'group': {
      const made = random.list(0, 2, () => makeExpression(random, random.pick(KEY_KINDS), random.below(3)));
      const keys = [...extra, ...made.filter((key) => !isZonedBucket(key, plain.context))];
      const values = random.list(1, 3, () => makeAggregate(random));
      // Sets that come twice, subqueries written twice and keys of several values are other matters.
      const texts = new Set(keys.map(writeSql));
      const isPlain = texts.size === keys.length && ![...texts].some((text) => /SELECT|mv/.test(text));
      const grouping =
        keys.length > 0 && isPlain
          ? random.pick([undefined, undefined, undefined, undefined, 'sets', 'rollup', 'cube'] as const)
          : undefined;
      return {
        ...plain,
        keys,
        values,
        having: keys.length > 0 && random.chance(0.2) ? fillTemplate(random, 'having', random.pick(HAVING), 0) : undefined,
        grouping,
        ending:
          keys.length > 0 && grouping === undefined && texts.size === keys.length && !keys.some(isOfValues) && random.chance(0.4)
            ? makeEnding(random, keys.length)
            : undefined,
        outer:
          random.chance(0.15) && ![...keys, ...values].some((part) => isOfValues(part) || writeSql(part).includes('SELECT'))
            ? random.pick(OUTER)
            : undefined,
      };
    }
  }
}

/** Buckets of a zone's days, whose rows near their bounds the original puts into either of two. */
function isZonedBucket(key: SqlExpression, context: Fields): boolean {
  const text = writeSql(key);
  return /FLOOR|DATE_TRUNC/.test(text) && text.includes('__time') && ('sqlTimeZone' in context || /'(America|Europe|Asia)\//.test(text));
}

/** A key of a multi-value column: the original counts its null differently where it cuts. */
function isOfValues(key: SqlExpression): boolean {
  return /\bmv|ARRAY_(CONCAT_)?AGG/.test(writeSql(key));
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
  {
    right: '(SELECT k AS key, COUNT(*) AS c FROM nasty WHERE n > 2 GROUP BY k) AS g',
    columns: 'g.c',
    condition: 'nasty.k = g.key',
  },
  { right: "(VALUES ('a', 1), ('b', 2), ('b', 3)) AS v(key, p)", columns: 'v.p', condition: 'nasty.k = v.key' },
] as const;
const UNNESTED = ['"as"', 'MV_TO_ARRAY(mv)', "ARRAY['p', 'q']", "STRING_TO_ARRAY(s, 'b')"];

function makeSource(random: Random): Source {
  if (random.chance(0.65)) return NASTY;
  switch (random.below(6)) {
    case 0:
    case 1: {
      const { right, columns, condition } = random.pick(RIGHTS);
      const join = random.pick(['INNER', 'LEFT']);
      const text = JOINED.replace('{columns}', columns).replace('{join}', join).replace('{right}', right).replace('{condition}', condition);
      return { text: `(${text})`, column: (columns.split(', ')[0] ?? '').replace(/^.*\./, '') };
    }
    case 2:
      return { text: `(SELECT nasty.*, u.e FROM nasty CROSS JOIN UNNEST(${random.pick(UNNESTED)}) AS u(e))`, column: 'e' };
    case 3:
      return { text: `(SELECT * FROM nasty ORDER BY __time LIMIT ${20 + random.below(100)})` };
    case 4:
      return { text: "(SELECT * FROM nasty WHERE n > 1 OR k = 'a')" };
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
  if (random.chance(0.15)) context['sqlTimeZone'] = random.pick(['America/New_York', 'Europe/Berlin', 'Asia/Kolkata']);
  return context;
}
