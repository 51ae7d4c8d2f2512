// Requests that practice sends itself.

import { DAY_MS, DAYS, FIRST_DAY, TABLE } from './practice-rows.js';

/** A query as its sender would send it. */
export interface PracticeRequest {
  readonly path: '/svc/v2/sql' | '/svc/v2';
  readonly body: Readonly<Record<string, unknown>>;
}

type Piece = (number: number) => string;

const KEYS: readonly Piece[] = [
  () => 'kind',
  () => 'place',
  () => 'visitor',
  () => 'amount',
  () => `TIME_FLOOR(__time, 'PT1H')`,
  () => 'EXTRACT(HOUR FROM __time)',
  () => `DATE_TRUNC('day', __time)`,
  () => 'UPPER(place)',
  (number) => `SUBSTRING(visitor, ${(number % 4) + 1}, 9)`,
  (number) => `CASE WHEN amount > ${number % 500} THEN 'above' WHEN amount IS NULL THEN 'none' ELSE 'below' END`,
  () => 'FLOOR(price / 10)',
  () => 'large % 17',
  () => 'tags',
  (number) => `CONCAT(kind, ' ', ${number % 2 === 0 ? 'place' : 'kind'})`,
];

const AGGREGATORS: readonly Piece[] = [
  () => 'COUNT(*)',
  () => 'SUM(amount)',
  () => 'SUM(price)',
  () => 'AVG(ratio)',
  () => 'MIN(amount)',
  () => 'MAX(price)',
  () => 'COUNT(DISTINCT place)',
  () => 'COUNT(DISTINCT visitor)',
  (number) => `COUNT(*) FILTER (WHERE kind = 'kind ${number % 5}')`,
  (number) => `SUM(amount * ${(number % 9) + 1} + 1)`,
  () => 'SUM(CASE WHEN ratio > 0.5 THEN price ELSE 0 END)',
  () => 'MAX(__time)',
  () => 'SUM(CAST(large AS DOUBLE))',
  () => 'LATEST(price)',
];

const CONDITIONS: readonly Piece[] = [
  (number) => `amount > ${number % 700}`,
  (number) => `kind = 'kind ${number % 5}'`,
  (number) => `place IN ('place ${number % 200}', 'place ${(number * 7) % 200}', 'place 3')`,
  (number) => `visitor LIKE 'visitor ${number % 10}%'`,
  (number) => `price BETWEEN ${number % 40} AND ${(number % 40) + 30}`,
  () => 'amount IS NOT NULL',
  (number) => `kind <> 'kind ${number % 5}'`,
  (number) => `NOT (ratio < 0.${(number % 8) + 1} OR place = 'place ${number % 200}')`,
  (number) => `tags = 'tag ${number % 30}'`,
  (number) => `large % 5 = ${number % 5}`,
  (number) => `LOWER(place) = 'place ${number % 200}'`,
  (number) => `visitor > 'visitor ${number % 1000}'`,
];

/** A part of the days, or all of them. */
function range(number: number): string {
  const instant = (ms: number): string => `TIMESTAMP '${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')}'`;
  const start = FIRST_DAY + (number % 20) * 3_600_000;
  const ranges = [
    'TRUE',
    `__time >= ${instant(start)} AND __time < ${instant(start + 2 * DAY_MS)}`,
    `__time >= ${instant(start)}`,
    `__time BETWEEN ${instant(start)} AND ${instant(FIRST_DAY + DAYS * DAY_MS)}`,
  ];
  return pick(ranges, number);
}

function pick<Item>(items: readonly Item[], number: number): Item {
  const item = items[number % items.length];
  if (item === undefined) throw new RangeError('nothing to pick from');
  return item;
}

/** Steps through the lists are of different lengths, so that pieces meet in ever new ways. */
const key = (number: number): string => pick(KEYS, number)(number);
const otherKey = (number: number): string => pick(KEYS, number * 5 + 3)(number + 1);
const aggregator = (number: number): string => pick(AGGREGATORS, number)(number);
const otherAggregator = (number: number): string => pick(AGGREGATORS, number * 3 + 5)(number);
const condition = (number: number): string => pick(CONDITIONS, number)(number);
const otherCondition = (number: number): string => pick(CONDITIONS, number * 5 + 1)(number + 3);

const SHAPES: readonly Piece[] = [
  (n) => `SELECT COUNT(*) AS n FROM ${TABLE} WHERE ${range(n)} AND ${condition(n)}`,
  (n) =>
    `SELECT ${key(n)} AS k, ${aggregator(n)} AS a, ${otherAggregator(n)} AS b FROM ${TABLE} WHERE ${condition(n)} AND ${otherCondition(n)} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ${(n % 20) + 1}`,
  (n) =>
    `SELECT ${key(n)} AS k, ${otherKey(n)} AS m, ${aggregator(n)} AS a FROM ${TABLE} WHERE ${range(n)} AND ${condition(n)} GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 50`,
  (n) =>
    `SELECT ${aggregator(n)} AS a, ${otherAggregator(n)} AS b, COUNT(*) AS n FROM ${TABLE} WHERE ${range(n)} AND (${condition(n)} OR ${otherCondition(n)})`,
  (n) =>
    `SELECT ${key(n)} AS k, ${aggregator(n)} AS a FROM ${TABLE} WHERE ${range(n)} GROUP BY 1 HAVING COUNT(*) > ${n % 30} ORDER BY 1 LIMIT 100`,
  (n) =>
    `SELECT __time, kind, place, amount, price FROM ${TABLE} WHERE ${condition(n)} ORDER BY __time ${n % 2 === 0 ? 'DESC' : 'ASC'} LIMIT ${(n % 50) + 1}`,
  (n) => `SELECT place, visitor, price FROM ${TABLE} WHERE ${condition(n)} ORDER BY price DESC, visitor LIMIT 10`,
  (n) =>
    `SELECT k, MAX(a) AS top FROM (SELECT kind AS k, place, ${aggregator(n)} AS a FROM ${TABLE} WHERE ${condition(n)} GROUP BY 1, 2) GROUP BY 1 ORDER BY 2 DESC`,
  (n) =>
    `SELECT COUNT(*) AS n FROM ${TABLE} WHERE visitor IN (SELECT visitor FROM ${TABLE} WHERE ${condition(n)} GROUP BY 1 ORDER BY COUNT(*) DESC LIMIT 20) AND ${otherCondition(n)}`,
  (n) =>
    `SELECT t.kind AS k, SUM(t.amount) AS a, MAX(p.best) AS b FROM ${TABLE} AS t JOIN (SELECT place, MAX(price) AS best FROM ${TABLE} WHERE ${condition(n)} GROUP BY 1) AS p ON t.place = p.place WHERE ${range(n)} GROUP BY 1 ORDER BY 2 DESC`,
  (n) =>
    `WITH days AS (SELECT TIME_FLOOR(__time, 'PT6H') AS t, COUNT(*) AS a, ${aggregator(n)} AS b FROM ${TABLE} WHERE ${condition(n)} GROUP BY 1) SELECT t, a, b, SUM(a) OVER (ORDER BY t) AS total FROM days ORDER BY t`,
  (n) =>
    `SELECT kind, COUNT(*) AS n FROM ${TABLE} WHERE ${condition(n)} GROUP BY 1 UNION ALL SELECT place, COUNT(*) FROM ${TABLE} WHERE ${otherCondition(n)} GROUP BY 1`,
];

const FILTERS: readonly ((number: number) => unknown)[] = [
  (number) => ({ type: 'selector', dimension: 'kind', value: `kind ${number % 5}` }),
  (number) => ({ type: 'in', dimension: 'place', values: [`place ${number % 200}`, 'place 1', 'place 2'] }),
  (number) => ({ type: 'bound', dimension: 'amount', lower: String(number % 300), ordering: 'numeric' }),
  () => null,
];

const SUMS = [
  { type: 'count', name: 'n' },
  { type: 'longSum', name: 'amounts', fieldName: 'amount' },
  { type: 'doubleMax', name: 'best', fieldName: 'price' },
];

const NATIVE: readonly Readonly<Record<string, unknown>>[] = [
  { queryType: 'timeseries', granularity: 'hour', aggregations: SUMS },
  { queryType: 'topN', granularity: 'all', dimension: 'place', metric: 'amounts', threshold: 10, aggregations: SUMS },
  { queryType: 'groupBy', granularity: 'day', dimensions: ['kind', 'tags'], aggregations: SUMS },
  { queryType: 'scan', columns: ['__time', 'place', 'price'], limit: 20 },
];

/** Caches would answer what is to be run. Distinct values are counted in both ways. */
const contextOf = (number: number): Readonly<Record<string, unknown>> => ({
  useCache: false,
  populateCache: false,
  ...(number % 2 === 0 ? {} : { useApproximateCountDistinct: false }),
});

/** Each seventh request is a native query. */
const NATIVE_EACH = 7;

/** Formats of rows, the usual ones. */
const FORMATS = ['object', 'array', 'objectLines', 'csv'];

/** The request of a number: the same for the same number, and of another text for nearly every one. */
export function practiceRequest(number: number): PracticeRequest {
  const context = contextOf(number);
  if (number % NATIVE_EACH === NATIVE_EACH - 1) {
    const turn = Math.floor(number / NATIVE_EACH);
    const intervals = `2024-01-01T0${turn % 10}:00:00Z/2024-01-04`;
    return {
      path: '/svc/v2',
      body: { ...pick(NATIVE, turn), dataSource: TABLE, intervals, filter: pick(FILTERS, Math.floor(turn / NATIVE.length))(turn), context },
    };
  }
  // Shapes go round once for each piece of every list.
  return {
    path: '/svc/v2/sql',
    body: {
      query: pick(SHAPES, number)(number + Math.floor(number / SHAPES.length)),
      resultFormat: pick(FORMATS, Math.floor(number / 3)),
      context,
    },
  };
}
