import { randomSource } from '../data/random.js';
import type { Question } from '../side-by-side.js';
import { AGGREGATES, DOUBLES, FEW, FILTERS, KEYS, MANY, type Maker, NULLABLE, type Part, SMALL, said, times, WIDE } from './shapes.js';
import { below, pick, type Random, wordOf, zipf } from './words.js';

/*
 * Statements of more kinds than those of `shapes.ts`, over the table of page views: subqueries, joins of the table with itself, unions,
 * windows, GROUPING SETS, groups of groups, casts, times, rows in order, several values, JSON. Each is a kind with random parts; orders are
 * total, or all rows leave. The same (count, seed) gives the same statements.
 */

/** A statement of ours, and of DuckDB's. */
type Pair = readonly [ours: string, theirs: string];
type Kind = (random: Random) => Pair;

const both = (sql: string): Pair => [sql, sql];
/** One text of parts that may differ: each hole is said in the words of either. */
function sql(strings: TemplateStringsArray, ...parts: readonly (Part | number)[]): Pair {
  const of = (which: 0 | 1): string =>
    strings.reduce(
      (text, piece, at) =>
        `${text}${at === 0 ? '' : said(typeof parts[at - 1] === 'number' ? String(parts[at - 1]) : (parts[at - 1] as Part), which)}${piece}`,
      '',
    );
  return [of(0), of(1)];
}
const joined = (parts: readonly Part[], between: string): Pair => [
  parts.map((part) => said(part, 0)).join(between),
  parts.map((part) => said(part, 1)).join(between),
];

const column = (random: Random, ...lists: readonly (readonly string[])[]): string => {
  const all = lists.flat();
  return all[below(random, all.length)] ?? 'site';
};
const oneOf = (random: Random, makers: readonly [Maker, ...Maker[]]): Part => pick(random, makers)(random);
const filtered = (random: Random, often = 0.7): Part => (random() < often ? sql` WHERE ${oneOf(random, MORE_FILTERS)}` : '');
const places = (from: number, count: number): string => Array.from({ length: count }, (_, at) => from + at).join(', ');
const limited = (random: Random): string => ` LIMIT ${1 + below(random, 60)}${random() < 0.25 ? ` OFFSET ${below(random, 200)}` : ''}`;

const PERIODS = [
  ['PT1M', 'minute'],
  ['PT1H', 'hour'],
  ['P1D', 'day'],
  ['P1W', 'week'],
  ['P1M', 'month'],
] as const;

/** Keys beside those of `shapes.ts`: functions of strings and of times, casts between types. */
const MORE_KEYS: readonly [Maker, ...Maker[]] = [
  ...KEYS,
  (random) => `LOWER(${column(random, FEW, MANY)})`,
  (random) => `REPLACE(${column(random, FEW, MANY)}, '${wordOf(zipf(random, 30)).slice(0, 2)}', '${pick(random, ['-', 'x', 'aa'])}')`,
  (random) => `TRIM(BOTH '${pick(random, ['a', 'b', 'h', '0'])}' FROM ${column(random, FEW, MANY)})`,
  (random) => `LEFT(${column(random, MANY)}, ${1 + below(random, 12)})`,
  (random) => `RIGHT(${column(random, MANY)}, ${1 + below(random, 6)})`,
  (random) => `REVERSE(${column(random, FEW, MANY)})`,
  (random) => `STRPOS(${column(random, MANY)}, '${pick(random, ['a', 'br', '/', '-'])}')`,
  (random) => {
    const [name, length] = [column(random, SMALL), 3 + below(random, 6)];
    return `LPAD(CAST(${name} AS VARCHAR), ${length}, '0')`;
  },
  (random) => {
    const [name, pattern] = [column(random, MANY), pick(random, ['([a-z]+)-', '/([a-z]+)/', '([0-9]+)', '^(.)'])];
    return [`REGEXP_EXTRACT(${name}, '${pattern}', 1)`, `NULLIF(REGEXP_EXTRACT(${name}, '${pattern}', 1), '')`];
  },
  (random) => `FLOOR(CAST(${column(random, SMALL, WIDE)} AS DOUBLE) / ${2 + below(random, 30)})`,
  (random) => `CAST(SUBSTRING(orderCode, ${1 + below(random, 5)}, 2) AS BIGINT)`,
  (random) => `ABS(clockSkew - ${below(random, 500)})`,
  (random) => `GREATEST(${column(random, SMALL)}, ${column(random, SMALL)})`,
  (random) => `NULLIF(${column(random, SMALL)}, ${below(random, 20)})`,
  (random) => `${column(random, SMALL)} * ${column(random, SMALL)}`,
  (random) => `ROUND(${column(random, ['price', 'score', 'latitude'])})`,
  (random) => `CASE ${column(random, FEW)} WHEN '${wordOf(0)}' THEN 'one' WHEN 'phone' THEN 'two' ELSE ${column(random, FEW)} END`,
  (random) => `${column(random, NULLABLE)} IS NULL`,
  (random) => `${column(random, SMALL)} > ${column(random, SMALL)}`,
  (random) => `EXTRACT(${pick(random, ['SECOND', 'MINUTE', 'HOUR', 'DAY', 'WEEK', 'MONTH', 'QUARTER', 'DOY'])} FROM __time)`,
  () => ['EXTRACT(DOW FROM __time)', 'EXTRACT(ISODOW FROM __time)'],
  (random) => {
    const [, word] = pick<(typeof PERIODS)[number]>(random, [...PERIODS]);
    return `DATE_TRUNC('${word}', __time)`;
  },
  (random) => {
    const [unit, count] = [pick(random, ['MINUTE', 'HOUR', 'DAY']), 1 + below(random, 40)];
    return [`TIME_FLOOR(TIMESTAMPADD(${unit}, ${count}, __time), 'P1D')`, `date_trunc('day', __time + INTERVAL ${count} ${unit})`];
  },
  (random) => {
    const format = pick<readonly [string, string]>(random, [
      ['yyyy-MM-dd', '%Y-%m-%d'],
      ['HH:mm', '%H:%M'],
      ['dd/MM HH', '%d/%m %H'],
    ]);
    return [`TIME_FORMAT(__time, '${format[0]}')`, `strftime(__time, '${format[1]}')`];
  },
  (random) => {
    const path = pick<readonly [string, string]>(random, [
      ['$.variant', 'VARCHAR'],
      ['$.depth', 'BIGINT'],
      ['$.cart.items', 'BIGINT'],
      ['$.note.by', 'VARCHAR'],
    ]);
    return [`JSON_VALUE(properties, '${path[0]}' RETURNING ${path[1]})`, `CAST(properties->>'${path[0]}' AS ${path[1]})`];
  },
  () => ['MV_LENGTH(tags)', 'len(tags)'],
];

const MORE_FILTERS: readonly [Maker, ...Maker[]] = [
  ...FILTERS,
  (random) => {
    const pattern = pick(random, ['^h.*br', '[aeiou]{2}', 'dron$', '(clar|fell)', '^[A-M]', '[0-9]{3}']);
    const name = column(random, FEW, MANY);
    return [`REGEXP_LIKE(${name}, '${pattern}')`, `regexp_matches(${name}, '${pattern}')`];
  },
  (random) => `${column(random, MANY)} NOT LIKE '%${wordOf(zipf(random, 30)).slice(0, 2)}%'`,
  (random) =>
    `${column(random, FEW)} IN (${Array.from({ length: 1 + below(random, 12) }, () => `'${wordOf(zipf(random, 60))}'`).join(', ')})`,
  (random) => `${column(random, FEW)} NOT IN ('${wordOf(zipf(random, 60))}', 'phone', 'de', 'iOS')`,
  (random) => `NOT (${column(random, SMALL)} BETWEEN ${below(random, 10)} AND ${10 + below(random, 90)})`,
  (random) => `EXTRACT(${pick(random, ['HOUR', 'DAY', 'MINUTE'])} FROM __time) BETWEEN ${below(random, 8)} AND ${8 + below(random, 10)}`,
  (random) => `userId IN (SELECT userId FROM views WHERE ${said(oneOf(random, FILTERS.slice(0, 4) as unknown as typeof FILTERS), 0)})`,
  (random) => `site NOT IN (SELECT site FROM views WHERE ${column(random, SMALL)} = ${zipf(random, 30)})`,
  (random) => `${column(random, SMALL)} > (SELECT AVG(${column(random, SMALL)}) FROM views)`,
  (random) => `${column(random, WIDE)} = (SELECT ${pick(random, ['MAX', 'MIN'])}(${column(random, WIDE)}) FROM views)`,
  (random) => {
    const tag = `'tag ${zipf(random, 60)}'`;
    return [`MV_CONTAINS(tags, ${tag})`, `list_contains(tags, ${tag})`];
  },
  (random) => `CAST(orderCode AS BIGINT) < ${below(random, 50_000)}`,
  (random) => `price * quantity > ${below(random, 4000)}`,
  (random) => `UPPER(${column(random, FEW)}) = '${wordOf(zipf(random, 60)).toUpperCase()}'`,
  (random) => `COALESCE(${column(random, NULLABLE)}, 0) < ${below(random, 2000)}`,
  (random) => `(${column(random, SMALL)} = ${zipf(random, 30)} OR ${column(random, FEW)} = '${wordOf(zipf(random, 60))}')`,
];

const MORE_AGGREGATES: readonly [Maker, ...Maker[]] = [
  ...AGGREGATES,
  (random) => `STDDEV_POP(${column(random, SMALL, DOUBLES)})`,
  (random) => `VAR_POP(${column(random, SMALL)})`,
  (random) => `MAX(CASE WHEN ${column(random, SMALL)} > ${below(random, 50)} THEN ${column(random, FEW)} END)`,
  (random) => `MIN(SUBSTRING(${column(random, MANY)}, 1, ${1 + below(random, 12)}))`,
  (random) => `MAX(UPPER(${column(random, FEW, MANY)}))`,
  (random) => {
    const [word, name] = [pick(random, ['LATEST', 'EARLIEST']), column(random, SMALL, WIDE, DOUBLES.slice(0, 1))];
    return [`${word}(${name})`, `${word === 'LATEST' ? 'arg_max' : 'arg_min'}(${name}, __time)`];
  },
  (random) => {
    const [word, name] = [pick(random, ['LATEST', 'EARLIEST']), column(random, ['url', 'title', 'session', 'country', 'agent', 'os'])];
    return [`${word}(${name}, 1024)`, `${word === 'LATEST' ? 'arg_max' : 'arg_min'}(${name}, __time)`];
  },
  (random) => `COUNT(DISTINCT ${column(random, FEW)}) FILTER (WHERE ${column(random, SMALL)} > ${below(random, 40)})`,
  (random) => `SUM(CAST(${column(random, SMALL, WIDE.slice(5))} AS DOUBLE)) / COUNT(*)`,
  (random) => `MAX(${column(random, SMALL)}) - MIN(${column(random, SMALL)})`,
  () => 'MIN(__time)',
  () => 'MAX(__time)',
  (random) => `BIT_AND(${column(random, SMALL)})`,
  (random) => `SUM(ABS(${column(random, NULLABLE, ['clockSkew'])}))`,
  () => ['SUM(MV_LENGTH(tags))', 'SUM(len(tags))'],
  () => ["SUM(JSON_VALUE(properties, '$.depth' RETURNING BIGINT))", "SUM(CAST(properties->>'$.depth' AS BIGINT))"],
  (random) =>
    `COUNT(DISTINCT ${said(oneOf(random, [(r) => `LOWER(${column(r, FEW, MANY)})`, (r) => `MOD(${column(r, WIDE.slice(0, 3))}, 1000)`, (r) => `${column(r, FEW)} || ${column(r, FEW)}`]), 0)})`,
];

/** Groups of wider keys, filters and aggregates. */
const groups: Kind = (random) => {
  const keys = times(1 + below(random, 3), random, MORE_KEYS);
  const aggregates = ['COUNT(*)', ...times(below(random, 4), random, MORE_AGGREGATES)];
  const ends = ` GROUP BY ${places(1, keys.length)} ORDER BY ${keys.length + 1} DESC, ${places(1, keys.length)}${limited(random)}`;
  return sql`SELECT ${joined([...keys, ...aggregates], ', ')} FROM views${filtered(random)}${ends}`;
};

/** Aggregates of all rows. */
const totals: Kind = (random) =>
  sql`SELECT ${joined(['COUNT(*)', ...times(1 + below(random, 4), random, MORE_AGGREGATES)], ', ')} FROM views${filtered(random)}`;

const KINDS: readonly [Kind, ...Kind[]] = [
  groups,
  groups,
  groups,
  groups,
  groups,
  groups,
  totals,
  totals,
  // GROUPING SETS, which give no row of no rows (docs/sql-conformance.md).
  (random) => {
    const keys = [column(random, FEW), column(random, FEW), column(random, SMALL)].filter((key, at, list) => list.indexOf(key) === at);
    const sets = pick(random, [
      `ROLLUP (${keys.join(', ')})`,
      `CUBE (${keys.join(', ')})`,
      `GROUPING SETS ((${keys[0]}), (${keys.join(', ')}), ())`,
    ]);
    const aggregate = oneOf(random, MORE_AGGREGATES);
    return sql`SELECT ${keys.join(', ')}, GROUPING(${keys.join(', ')}), COUNT(*), ${aggregate} FROM views${filtered(random)} GROUP BY ${sets} HAVING COUNT(*) > 0 ORDER BY ${keys.length + 2} DESC, ${places(1, keys.length + 1)}${limited(random)}`;
  },
  // Groups of groups.
  (random) => {
    const [one, two] = [oneOf(random, MORE_KEYS), column(random, WIDE, MANY)];
    const inner = sql`SELECT ${one} AS a, ${two} AS b, COUNT(*) AS n, ${oneOf(random, AGGREGATES.slice(0, 5) as unknown as typeof AGGREGATES)} AS s FROM views${filtered(random, 0.4)} GROUP BY 1, 2`;
    const having = random() < 0.4 ? ` HAVING COUNT(*) > ${1 + below(random, 5)}` : '';
    return sql`SELECT a, COUNT(*), SUM(n), MAX(n), AVG(s) FROM (${inner}${having}) GROUP BY 1 ORDER BY 2 DESC, 1${limited(random)}`;
  },
  (random) => {
    const key = column(random, WIDE, MANY);
    return both(`SELECT n, COUNT(*) FROM (SELECT ${key}, COUNT(*) AS n FROM views GROUP BY 1) GROUP BY 1 ORDER BY 1${limited(random)}`);
  },
  // Rows in an order.
  (random) => {
    const columns = [column(random, FEW, MANY), column(random, SMALL, NULLABLE), column(random, DOUBLES, WIDE)];
    const by = `${column(random, SMALL, NULLABLE, MANY, DOUBLES, ['__time'])}${random() < 0.5 ? ' DESC' : ''}`;
    return sql`SELECT ${columns.join(', ')}, viewId FROM views${filtered(random)} ORDER BY ${by}, viewId${limited(random)}`;
  },
  (random) => {
    const key = oneOf(random, MORE_KEYS);
    return sql`SELECT ${key}, viewId FROM views${filtered(random)} ORDER BY 1${random() < 0.5 ? ' DESC' : ''}, 2${limited(random)}`;
  },
  (random) =>
    sql`SELECT DISTINCT ${oneOf(random, MORE_KEYS)}, ${column(random, FEW)} FROM views${filtered(random)} ORDER BY 1, 2${limited(random)}`,
  // Windows.
  (random) => {
    const [by, within] = [column(random, FEW, SMALL), pick(random, ['ROW_NUMBER', 'RANK', 'DENSE_RANK'])];
    const order = within === 'ROW_NUMBER' ? `${column(random, SMALL, NULLABLE)} DESC, viewId` : `${column(random, SMALL)} DESC`;
    return sql`SELECT * FROM (SELECT ${by} AS b, viewId, ${within}() OVER (PARTITION BY ${by} ORDER BY ${order}) AS r FROM views${filtered(random)}) WHERE r <= ${1 + below(random, 3)} ORDER BY 1, 3, 2${limited(random)}`;
  },
  (random) => {
    const [by, value] = [column(random, FEW, SMALL, ['userId', 'ip']), column(random, SMALL, ['bytesSent'])];
    const frame = pick(random, ['', ' ROWS BETWEEN 3 PRECEDING AND CURRENT ROW', ' ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW']);
    return sql`SELECT SUM(s), MAX(s) FROM (SELECT SUM(${value}) OVER (PARTITION BY ${by} ORDER BY __time${frame}) AS s FROM views${filtered(random)})`;
  },
  (random) => {
    const [by, value] = [column(random, FEW, ['userId', 'ip', 'site']), column(random, SMALL)];
    const call = pick(random, [`LAG(${value})`, `LEAD(${value}, 2)`, `FIRST_VALUE(${value})`]);
    return sql`SELECT MAX(d), SUM(d), COUNT(d) FROM (SELECT ${value} - ${call} OVER (PARTITION BY ${by} ORDER BY __time) AS d FROM views${filtered(random)})`;
  },
  (random) => {
    const [one, two] = [column(random, FEW), column(random, FEW, SMALL)];
    const call = pick(random, [
      'RANK() OVER (PARTITION BY a ORDER BY n DESC)',
      'SUM(n) OVER (PARTITION BY a)',
      'SUM(n) OVER (ORDER BY n, a, b)',
      'ROW_NUMBER() OVER (ORDER BY n DESC, a, b)',
    ]);
    return sql`SELECT a, b, n, ${call} FROM (SELECT ${one} AS a, ${two} AS b, COUNT(*) AS n FROM views${filtered(random)} GROUP BY 1, 2) ORDER BY 3 DESC, 1, 2${limited(random)}`;
  },
  // Joins of the table with itself, and with groups of it.
  (random) => {
    const [key, name] = [pick(random, ['viewId', 'userId', 'ip', 'session']), column(random, FEW)];
    const one = sql`SELECT ${key} AS k, ${name} AS a, ${column(random, SMALL)} AS x FROM views WHERE ${oneOf(random, FILTERS.slice(0, 5) as unknown as typeof FILTERS)}`;
    const two = sql`SELECT ${key} AS k, COUNT(*) AS n, MAX(${column(random, SMALL, FEW)}) AS m FROM views${filtered(random, 0.5)} GROUP BY 1`;
    return sql`SELECT o.a, COUNT(*), SUM(o.x), SUM(t.n), MAX(t.m) FROM (${one}) o ${pick(random, ['JOIN', 'LEFT JOIN'])} (${two}) t ON o.k = t.k GROUP BY 1 ORDER BY 2 DESC, 1${limited(random)}`;
  },
  (random) => {
    const name = column(random, FEW, ['city', 'region']);
    return sql`SELECT v.${name}, v.${column(random, SMALL)} - t.m, COUNT(*) FROM views v JOIN (SELECT ${name}, MAX(${column(random, SMALL)}) AS m FROM views${filtered(random, 0.5)} GROUP BY 1) t ON v.${name} = t.${name} GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2${limited(random)}`;
  },
  (random) => {
    const has = random() < 0.5 ? 'EXISTS' : 'NOT EXISTS';
    return sql`SELECT ${column(random, FEW)}, COUNT(*) FROM views v WHERE ${has} (SELECT 1 FROM views w WHERE w.userId = v.userId AND w.${column(random, SMALL)} = ${below(random, 10)}) GROUP BY 1 ORDER BY 2 DESC, 1${limited(random)}`;
  },
  // Unions.
  (random) => {
    const part = (name: string): Pair => sql`SELECT ${name} AS k, ${column(random, SMALL)} AS x FROM views${filtered(random)}`;
    return sql`SELECT k, COUNT(*), SUM(x) FROM (${part(column(random, FEW, MANY))} UNION ALL ${part(column(random, FEW, MANY))}) GROUP BY 1 ORDER BY 2 DESC, 1${limited(random)}`;
  },
  // Several values, arrays, JSON.
  (random) => {
    const aggregate = oneOf(random, AGGREGATES);
    const from = ['CROSS JOIN UNNEST(MV_TO_ARRAY(tags))', 'CROSS JOIN UNNEST(tags)'] as const;
    return sql`SELECT t, COUNT(*), ${aggregate} FROM views ${from} AS u(t)${filtered(random)} GROUP BY 1 ORDER BY 2 DESC, 1${limited(random)}`;
  },
  (random) => {
    const tags = Array.from({ length: 1 + below(random, 3) }, () => `'tag ${zipf(random, 300)}'`).join(', ');
    const [call, other] = pick<readonly [string, string]>(random, [
      [`MV_CONTAINS(tags, ARRAY[${tags}])`, `list_has_all(tags, [${tags}])`],
      [`MV_OVERLAP(tags, ARRAY[${tags}])`, `list_has_any(tags, [${tags}])`],
      ['MV_LENGTH(tags) > 2', 'len(tags) > 2'],
      [`MV_ORDINAL(tags, 1) = ${tags.split(', ')[0]}`, `tags[1] = ${tags.split(', ')[0]}`],
    ]);
    return sql`SELECT ${column(random, FEW, SMALL)}, COUNT(*), ${oneOf(random, AGGREGATES)} FROM views WHERE ${[call, other]} GROUP BY 1 ORDER BY 2 DESC, 1${limited(random)}`;
  },
  (random) => {
    const value = column(random, FEW);
    return sql`SELECT ${column(random, SMALL.slice(3, 8))}, ${[`ARRAY_LENGTH(ARRAY_AGG(DISTINCT ${value}, 1000000))`, `len(list(DISTINCT ${value}))`]}, COUNT(*) FROM views${filtered(random)} GROUP BY 1 ORDER BY 3 DESC, 1${limited(random)}`;
  },
];

/** Questions `w<seed>-<number>`. */
export function wideShapes(count: number, seed: number): Question[] {
  const random = randomSource(seed);
  return Array.from({ length: count }, (_, index) => {
    const [ours, theirs] = pick(random, KINDS)(random);
    return { id: `w${seed}-${index + 1}`, sql: ours, duckdb: theirs };
  });
}
