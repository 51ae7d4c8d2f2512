import { channelName, cityName, countryName, userName } from '../data/wiki.js';

/*
 * Statements over `wiki` whose text is new each time, in words that DuckDB understands as well: of shapes that come again and
 * again with other literals, as panels of dashboards do, and of shapes that are drawn.
 */

/** Numbers in [0, 1). */
export type Random = () => number;

/** Makes the next statement. */
export type Statements = () => string;

const START_MS = Date.UTC(2024, 0, 1);
const SPAN_MS = 31 * 86_400_000;

/** SELECT without a table. */
export function constants(random: Random): Statements {
  return () => `SELECT ${whole(random, 1e9)} AS one`;
}

/** A few shapes, of which only the literals change. */
export function knownShapes(random: Random): Statements {
  const range = (): string => timeRange(random);
  const number = (): number => whole(random, 1000);
  const shapes: readonly Statements[] = [
    () => `SELECT COUNT(*) AS "rows" FROM wiki WHERE ${range()} AND added > ${number()}`,
    () =>
      `SELECT channel, SUM(added) AS total FROM wiki WHERE ${range()} GROUP BY channel ORDER BY total DESC, channel LIMIT ${5 + whole(random, 20)}`,
    () =>
      `SELECT EXTRACT(DAY FROM __time) AS "day", SUM(added) AS added, SUM(deleted) AS deleted FROM wiki WHERE ${range()} AND country = '${countryName(whole(random, 250))}' GROUP BY 1 ORDER BY 1`,
    () =>
      `SELECT channel, COUNT(*) FILTER (WHERE isRobot = 'true') AS robots, COUNT(*) AS "rows" FROM wiki WHERE ${range()} AND delta >= ${number() - 500} GROUP BY 1 HAVING COUNT(*) > ${whole(random, 20)} ORDER BY channel`,
    () =>
      `SELECT country, MAX(price) AS top FROM wiki WHERE channel IN ('${channelName(whole(random, 10))}', '${channelName(whole(random, 10))}') AND ${range()} GROUP BY country ORDER BY top DESC, country LIMIT 10`,
    () =>
      `SELECT CASE WHEN added < ${number()} THEN 'small' ELSE 'large' END AS size, COUNT(*) AS "rows" FROM wiki WHERE ${range()} GROUP BY 1 ORDER BY 1`,
  ];
  let next = 0;
  return () => shapes[next++ % shapes.length]?.() ?? '';
}

/** Columns, aggregates and filters in any combination. */
export function unknownShapes(random: Random): Statements {
  const choose = <Item>(items: readonly Item[]): Item => items[whole(random, items.length)] as Item;
  const several = <Item>(items: readonly Item[], most: number): readonly Item[] => {
    const chosen = new Set<Item>();
    for (let count = 1 + whole(random, most); count > 0; count--) chosen.add(choose(items));
    return [...chosen];
  };
  const number = (): string => choose(NUMBERS);
  const keys: readonly Statements[] = [
    () => choose(STRINGS),
    () => choose(STRINGS),
    () => `EXTRACT(${choose(['DAY', 'HOUR', 'MONTH'])} FROM __time)`,
    () => `UPPER(${choose(STRINGS)})`,
    () => `SUBSTRING(${choose(STRINGS)}, 1, ${1 + whole(random, 5)})`,
    () => `CASE WHEN ${number()} > ${whole(random, 300)} THEN '${choose(['much', 'more', 'high'])}' ELSE 'other' END`,
  ];
  const conditions: readonly Statements[] = [
    () => `${choose(WHOLE_NUMBERS)} ${choose(['<', '<=', '>', '>=', '<>'])} ${whole(random, 500)}`,
    () => `channel = '${channelName(whole(random, 10))}'`,
    () => `country <> '${countryName(whole(random, 250))}'`,
    () => `"user" LIKE '${userName(whole(random, 16)).slice(0, 3)}%'`,
    () => `country IN (${several(COUNTRIES, 6).join(', ')})`,
    () => `city IS NOT NULL`,
    () => `${choose(WHOLE_NUMBERS)} BETWEEN ${whole(random, 50)} AND ${50 + whole(random, 500)}`,
    () => `(channel = '${channelName(whole(random, 10))}' OR city = '${cityName(whole(random, 100))}')`,
    () => timeRange(random),
  ];
  const aggregates: readonly Statements[] = [
    () => 'COUNT(*)',
    () => `SUM(${number()})`,
    () => `${choose(['MIN', 'MAX'])}(${number()})`,
    () => `SUM(${choose(WHOLE_NUMBERS)} ${choose(['+', '*'])} ${1 + whole(random, 9)})`,
    () => `COUNT(*) FILTER (WHERE ${choose(conditions)()})`,
    () => `SUM(${choose(WHOLE_NUMBERS)}) FILTER (WHERE ${choose(conditions)()})`,
    () => `SUM(added) - SUM(${choose(WHOLE_NUMBERS)})`,
  ];
  return () => {
    const grouped = several(keys, 2).map((key, index) => `${key()} AS k${index + 1}`);
    const counted = several(aggregates, 4).map((aggregate, index) => `${aggregate()} AS a${index + 1}`);
    const places = grouped.map((_, index) => index + 1).join(', ');
    const where = several(conditions, 4).map((condition) => condition());
    const having = random() < 0.2 ? ` HAVING COUNT(*) > ${whole(random, 10)}` : '';
    return `SELECT ${[...grouped, ...counted].join(', ')} FROM wiki WHERE ${where.join(' AND ')} GROUP BY ${places}${having} ORDER BY ${places} LIMIT ${1 + whole(random, 50)}`;
  };
}

const STRINGS = ['channel', 'country', 'city', '"user"', 'page', 'isRobot'];
const WHOLE_NUMBERS = ['added', 'deleted', 'delta'];
const NUMBERS = [...WHOLE_NUMBERS, 'price', 'score'];
const COUNTRIES = Array.from({ length: 50 }, (_, rank) => `'${countryName(rank)}'`);

function whole(random: Random, end: number): number {
  return Math.floor(random() * end);
}

function timeRange(random: Random): string {
  const start = START_MS + whole(random, SPAN_MS / 2);
  return `__time >= ${instant(start)} AND __time < ${instant(start + 1 + whole(random, SPAN_MS / 2))}`;
}

function instant(ms: number): string {
  return `TIMESTAMP '${new Date(ms - (ms % 1000)).toISOString().slice(0, 19).replace('T', ' ')}'`;
}
