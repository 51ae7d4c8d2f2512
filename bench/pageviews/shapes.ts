import { randomSource } from '../data/random.js';
import type { Question } from '../side-by-side.js';
import { below, pick, type Random, wordOf, zipf } from './words.js';

/*
 * Statements over the table of page views that nobody wrote by hand: one to three keys (columns and what is computed of them), filters,
 * aggregates, HAVING, ORDER BY … LIMIT. Orders are total. The same (count, seed) gives the same statements.
 */

/** Text of a part of a statement, and of DuckDB's where that differs. */
export type Part = string | readonly [ours: string, theirs: string];

export const FEW = [
  'country',
  'language',
  'os',
  'browser',
  'deviceModel',
  'deviceMaker',
  'screenClass',
  'medium',
  'pageKind',
  'section',
  'source',
];
export const MANY = ['url', 'title', 'phrase', 'session', 'referrer', 'city', 'region', 'agent', 'author', 'host', 'campaign', 'orderCode'];
export const SMALL = [
  'site',
  'regionId',
  'age',
  'engine',
  'adEngine',
  'goals',
  'hits',
  'localHour',
  'quantity',
  'trafficSource',
  'coupon',
  'width',
];
export const NULLABLE = ['loadMs', 'domMs', 'waitMs', 'dnsMs', 'paintMs'];
export const WIDE = ['userId', 'ip', 'viewId', 'urlHash', 'referrerHash', 'bytesSent', 'cents'];
export const DOUBLES = ['price', 'scrolled', 'score', 'latitude', 'revenue'];

export type Maker = (random: Random) => Part;

const anyOf =
  (...lists: readonly (readonly string[])[]): Maker =>
  (random) => {
    const all = lists.flat();
    return all[below(random, all.length)] ?? 'site';
  };
const text = (random: Random): string => String(anyOf(FEW, FEW, MANY)(random));
const number = (random: Random): string => String(anyOf(SMALL, NULLABLE, WIDE)(random));

export const KEYS: readonly [Maker, ...Maker[]] = [
  anyOf(FEW),
  anyOf(FEW),
  anyOf(MANY),
  anyOf(SMALL),
  anyOf(SMALL, NULLABLE),
  anyOf(WIDE),
  (random) => `UPPER(${text(random)})`,
  (random) => {
    // Past the end of a string there is null, in DuckDB an empty string.
    const part = `SUBSTRING(${text(random)}, ${1 + below(random, 4)}, ${1 + below(random, 8)})`;
    return [part, `NULLIF(${part}, '')`];
  },
  (random) => `${text(random)} || '-' || ${text(random)}`,
  (random) => `LENGTH(${text(random)})`,
  (random) => `${number(random)} + ${below(random, 100)}`,
  (random) => `MOD(${anyOf(SMALL, NULLABLE)(random)}, ${2 + below(random, 50)})`,
  (random) => `COALESCE(${text(random)}, ${text(random)}, 'none')`,
  (random) => `CASE WHEN ${number(random)} > ${below(random, 2000)} THEN ${text(random)} ELSE ${text(random)} END`,
  (random) => `CAST(${number(random)} AS VARCHAR)`,
  (random) => `FLOOR(${pick(random, ['price', 'score', 'latitude'])} / ${1 + below(random, 50)})`,
  (random) => {
    const [period, word] = pick<readonly [string, string]>(random, [
      ['PT1M', 'minute'],
      ['PT1H', 'hour'],
      ['P1D', 'day'],
    ]);
    return [`TIME_FLOOR(__time, '${period}')`, `date_trunc('${word}', __time)`];
  },
  (random) => `EXTRACT(${pick(random, ['HOUR', 'MINUTE', 'DAY', 'DOY'])} FROM __time)`,
];

export const FILTERS: readonly [Maker, ...Maker[]] = [
  (random) => `${anyOf(SMALL)(random)} = ${zipf(random, 30)}`,
  (random) => `${number(random)} > ${below(random, 1000)}`,
  (random) => `${anyOf(SMALL, NULLABLE)(random)} BETWEEN ${below(random, 20)} AND ${20 + below(random, 500)}`,
  (random) => `${anyOf(SMALL)(random)} IN (${Array.from({ length: 2 + below(random, 30) }, () => zipf(random, 300)).join(', ')})`,
  (random) => `${anyOf(['country', 'city', 'region', 'section'])(random)} = '${wordOf(zipf(random, 100))}'`,
  (random) => `${anyOf(MANY)(random)} LIKE '%${wordOf(zipf(random, 30)).slice(0, 4)}%'`,
  (random) => `${anyOf(MANY, FEW)(random)} LIKE '${wordOf(zipf(random, 30)).slice(0, 2)}%'`,
  (random) => `${text(random)} IS NOT NULL`,
  (random) => `${anyOf(NULLABLE, ['revenue', 'campaign', 'deviceModel'])(random)} IS NULL`,
  (random) => `${pick(random, ['price', 'score', 'latitude'])} > ${below(random, 100)}`,
  (random) => `LENGTH(${text(random)}) > ${below(random, 40)}`,
  (random) => `${number(random)} > ${number(random)}`,
  (random) => `${text(random)} <> ${text(random)}`,
  (random) => `MOD(${anyOf(SMALL)(random)}, ${2 + below(random, 9)}) = ${below(random, 2)}`,
  (random) => {
    const day = 1 + below(random, 8);
    const to = day + 1 + below(random, 3);
    return `__time >= TIMESTAMP '2024-03-0${day} 00:00:00' AND __time < TIMESTAMP '2024-03-${String(to).padStart(2, '0')} 00:00:00'`;
  },
];

export const AGGREGATES: readonly [Maker, ...Maker[]] = [
  (random) => `SUM(${anyOf(SMALL, NULLABLE, ['bytesSent', 'cents'])(random)})`,
  (random) => `SUM(${anyOf(SMALL, NULLABLE)(random)} * ${anyOf(SMALL)(random)})`,
  (random) => `SUM(CASE WHEN ${number(random)} > ${below(random, 500)} THEN ${anyOf(SMALL)(random)} ELSE 0 END)`,
  (random) => `MIN(${number(random)})`,
  (random) => `MAX(${number(random)})`,
  (random) => `AVG(${anyOf(SMALL, NULLABLE, DOUBLES)(random)})`,
  (random) => `SUM(${anyOf(DOUBLES)(random)})`,
  (random) => `MAX(${text(random)})`,
  (random) => `MIN(${text(random)})`,
  (random) => `COUNT(${anyOf(FEW, MANY, NULLABLE)(random)})`,
  (random) => `COUNT(DISTINCT ${anyOf(FEW, MANY)(random)})`,
  (random) => `COUNT(DISTINCT ${number(random)})`,
  (random) => `SUM(LENGTH(${text(random)}))`,
  (random) => `COUNT(*) FILTER (WHERE ${String(pick(random, FILTERS.slice(0, 5) as unknown as typeof FILTERS)(random))})`,
  () => 'SUM(CAST(orderCode AS BIGINT))',
  () => ["MAX(TIME_FLOOR(__time, 'PT1H'))", "MAX(date_trunc('hour', __time))"],
];

export const times = (count: number, random: Random, makers: readonly [Maker, ...Maker[]]): Part[] =>
  Array.from({ length: count }, () => pick(random, makers)(random));

/** The words of a part: 0 of ours, 1 of DuckDB's. */
export const said = (part: Part, which: 0 | 1): string => (typeof part === 'string' ? part : part[which]);

/** Questions `s<seed>-<number>`. */
export function shapes(count: number, seed: number): Question[] {
  const random = randomSource(seed);
  return Array.from({ length: count }, (_, index) => {
    const keys = times(pick(random, [0, 1, 1, 1, 2, 2, 3]), random, KEYS);
    const filters = times(pick(random, [0, 0, 0, 1, 1, 2]), random, FILTERS);
    const aggregates = ['COUNT(*)', ...times(below(random, 4), random, AGGREGATES)];
    const having = random() < 0.15 ? ` HAVING COUNT(*) > ${1 + below(random, 100)}` : '';
    const direction = random() < 0.8 ? ' DESC' : '';
    const limit = 1 + below(random, 50);
    const joins = random() < 0.8 ? ' AND ' : ' OR ';
    const statement = (which: 0 | 1): string => {
      const saidAll = (parts: readonly Part[], between: string): string => parts.map((part) => said(part, which)).join(between);
      const where = filters.length === 0 ? '' : ` WHERE ${filters.map((filter) => `(${said(filter, which)})`).join(joins)}`;
      const from = `SELECT ${saidAll([...keys, ...aggregates], ', ')} FROM views${where}`;
      if (keys.length === 0) return from;
      const places = keys.map((_key, at) => at + 1);
      return `${from} GROUP BY ${places.join(', ')}${having} ORDER BY ${keys.length + 1}${direction}, ${places.join(', ')} LIMIT ${limit}`;
    };
    return { id: `s${seed}-${index + 1}`, sql: statement(0), duckdb: statement(1) };
  });
}
