import { fileURLToPath } from 'node:url';
import { drawn, numbers as from, money, oneOf, type PublicTable, skewed, timesFrom } from './drawn.js';
import { telemetryTables } from './telemetry-tables.js';
import { tradeTables } from './trade-tables.js';

const PACKAGE = fileURLToPath(new URL('../../../node_modules/vega-datasets/data/', import.meta.url));

const EVENTS = [
  ...['PushEvent', 'PushEvent', 'PushEvent', 'PushEvent', 'CreateEvent', 'PullRequestEvent', 'IssuesEvent'],
  ...['WatchEvent', 'WatchEvent', 'ForkEvent', 'IssueCommentEvent', 'DeleteEvent'],
];
const PULL_REQUEST = 5;
const CATEGORIES = ['Books', 'Electronics', 'Home', 'Jewelry', 'Men', 'Music', 'Shoes', 'Sports', 'Women', 'Children'];
const COLLECTIONS = [
  'feed.like',
  'feed.like',
  'feed.like',
  'feed.post',
  'feed.post',
  'feed.repost',
  'graph.follow',
  'graph.block',
  'actor.profile',
];

/** Tables of `rows` rows, and smaller ones that they are joined with. The flights are real: three million, whatever is asked for. */
export function publicTables(rows: number): readonly PublicTable[] {
  const time = (start: string, days: number, count = rows): string => timesFrom(start, days, count);
  const messages = Math.floor(rows / 3);
  const returns = Math.floor(rows / 10);
  const kind = drawn(71, 10);
  return [
    {
      name: 'flights',
      sql: `SELECT date AS __time, delay, distance, origin, destination FROM '${PACKAGE}flights-3m.parquet' ORDER BY date`,
      segmentGranularity: 'day',
    },
    {
      name: 'airports',
      sql: `SELECT TIMESTAMP '2000-01-01' AS __time, iata, name, city, state, latitude, longitude FROM read_csv('${PACKAGE}airports.csv')`,
      segmentGranularity: 'all',
    },
    {
      name: 'events',
      sql: `SELECT ${time('2025-01-01', 60)} AS __time, ${oneOf(EVENTS, drawn(1, 12))} AS event, 'user-' || ${skewed(2, 400_000)} AS actor,
        'org' || (${skewed(3, 200_000)} % 9973) || '/repo-' || ${skewed(3, 200_000)} AS repo,
        CASE WHEN ${drawn(4, 3)} = 0 THEN ${oneOf(['opened', 'closed', 'merged', 'reopened'], drawn(5, 4))} END AS action,
        CASE WHEN ${drawn(1, 12)} = ${PULL_REQUEST} THEN ${skewed(6, 3000)} END AS additions,
        CASE WHEN ${drawn(1, 12)} = ${PULL_REQUEST} THEN ${skewed(7, 2000)} END AS deletions, ${skewed(8, 50)} AS commits,
        substr(md5((i * 31)::VARCHAR), 1, 10 + ${drawn(9, 20)}) || ' fix ' || ${oneOf(['bug', 'typo', 'test', 'docs', 'build', 'parser', 'cache', 'ui'], drawn(10, 8))} || ' in module ' || ${drawn(11, 5000)} AS title,
        ${oneOf(['main', 'master', 'dev', 'release/1.0', 'feature/x'], skewed(12, 5))} AS ref ${from(rows)}`,
      segmentGranularity: 'day',
    },
    {
      name: 'measures',
      sql: `SELECT ${time('2025-01-01', 0.01)} AS __time, 'id' || lpad((1 + ${drawn(21, 100)})::VARCHAR, 3, '0') AS id1,
        'id' || lpad((1 + ${drawn(22, 100)})::VARCHAR, 3, '0') AS id2, 'id' || lpad((1 + ${drawn(23, rows / 100)})::VARCHAR, 10, '0') AS id3,
        1 + ${drawn(24, 100)} AS id4, 1 + ${drawn(25, 100)} AS id5, 1 + ${drawn(26, rows / 100)} AS id6, 1 + ${drawn(27, 5)} AS v1,
        1 + ${drawn(28, 15)} AS v2, round(${drawn(29, 100_000_000)} / 1e6, 6) AS v3 ${from(rows)}`,
      segmentGranularity: 'all',
    },
    {
      name: 'few',
      sql: `SELECT TIMESTAMP '2025-01-01' AS __time, i AS id4, 'id' || i AS name4, ${money(31, 10_000)} AS w FROM range(1, 90) numbers(i)`,
      segmentGranularity: 'all',
    },
    {
      name: 'many',
      sql: `SELECT TIMESTAMP '2025-01-01' AS __time, i AS id6, 'id' || lpad(i::VARCHAR, 10, '0') AS id3, ${money(41, 10_000)} AS w
        FROM range(1, ${Math.floor(rows / 110)}) numbers(i)`,
      segmentGranularity: 'all',
    },
    {
      name: 'rides',
      sql: `SELECT ${time('2024-03-01', 31)} AS __time, epoch_ms(${time('2024-03-01', 31)}) + 60000 * (2 + ${skewed(50, 60)}) AS dropoff,
        1 + ${skewed(51, 5)} AS passengers, round(0.3 + ${skewed(52, 3000)} / 100.0, 2)::DOUBLE AS distance,
        round(3 + ${skewed(52, 3000)} / 40.0 + ${drawn(53, 200)} / 100.0, 2)::DOUBLE AS fare,
        CASE WHEN ${drawn(54, 4)} > 0 THEN round(${skewed(55, 2000)} / 100.0, 2) ELSE 0 END::DOUBLE AS tip,
        ${oneOf(['card', 'card', 'card', 'cash', 'dispute', 'no charge'], `${drawn(54, 4)} + ${drawn(56, 50)} // 49`)} AS payment,
        1 + ${drawn(57, 2)} AS vendor, 1 + ${skewed(58, 265)} AS pickupZone, 1 + ${skewed(59, 265)} AS dropoffZone,
        CASE WHEN ${drawn(60, 20)} > 0 THEN 2.5::DOUBLE END AS surcharge, (${drawn(61, 100)} = 0)::BIGINT AS isAirport ${from(rows)}`,
      segmentGranularity: 'day',
    },
    {
      name: 'zones',
      sql: `SELECT TIMESTAMP '2000-01-01' AS __time, i AS zone, 'Zone ' || i AS name,
        ${oneOf(['Manhattan', 'Queens', 'Brooklyn', 'Bronx', 'Staten Island', 'EWR'], 'i % 6')} AS borough FROM range(1, 266) numbers(i)`,
      segmentGranularity: 'all',
    },
    {
      name: 'documents',
      sql: `SELECT ${time('2025-02-01', 10, messages)} AS __time, '{"did":"did:plc:' || substr(md5((${skewed(70, 100_000)})::VARCHAR), 1, 24) || '","kind":"'
        || CASE ${kind} WHEN 8 THEN 'identity' WHEN 9 THEN 'account' ELSE 'commit' END || '","time_us":' || epoch_us(${time('2025-02-01', 10, messages)})
        || CASE WHEN ${kind} < 8 THEN ',"commit":{"rev":"' || substr(md5(i::VARCHAR), 1, 13)
          || '","operation":"' || ${oneOf(['create', 'create', 'create', 'create', 'delete', 'update'], drawn(72, 6))}
          || '","collection":"app.bsky.' || ${oneOf(COLLECTIONS, drawn(73, 9))}
          || '","record":{"langs":["' || ${oneOf(['en', 'ja', 'pt', 'de', 'fr'], skewed(74, 5))} || '"],"text":"' || md5((i * 3)::VARCHAR) || ' ' || md5((i * 5)::VARCHAR)
          || '","likes":' || ${skewed(75, 1000)} || '}}' ELSE '' END || '}' AS data ${from(messages)}`,
      segmentGranularity: 'day',
      documents: ['data'],
    },
    {
      name: 'sales',
      sql: `SELECT ${time('2023-01-01', 730)} AS __time, 1 + ${skewed(80, 18_000)} AS item, 1 + ${drawn(81, 100)} AS store,
        CASE WHEN ${drawn(82, 20)} > 0 THEN 1 + ${drawn(83, 100_000)} END AS customer, 1 + ${drawn(84, 300)} AS promo, 1 + ${drawn(85, 100)} AS quantity,
        ${money(86, 20_000, 1)} AS listPrice, round((1 + ${drawn(86, 20_000)} / 100.0) * (0.3 + ${drawn(87, 70)} / 100.0), 2)::DOUBLE AS salesPrice,
        ${money(88, 10_000)} AS wholesale, i // 8 AS ticket ${from(rows)}`,
      segmentGranularity: 'month',
    },
    {
      name: 'items',
      sql: `SELECT TIMESTAMP '2000-01-01' AS __time, i AS id, 'brand#' || ${drawn(90, 500)} AS brand, ${oneOf(CATEGORIES, drawn(91, 10))} AS category,
        ${oneOf(CATEGORIES, drawn(91, 10))} || '-' || ${drawn(92, 10)} AS class, ${money(93, 10_000)} AS price, 'manufact' || ${drawn(94, 1000)} AS manufact,
        ${oneOf(['red', 'green', 'blue', 'white', 'black', 'peach', 'saddle'], drawn(95, 7))} AS color FROM range(1, 18001) numbers(i)`,
      segmentGranularity: 'all',
    },
    {
      name: 'customers',
      sql: `SELECT TIMESTAMP '2000-01-01' AS __time, i AS id, 'First' || ${drawn(100, 5000)} AS firstName, 'Last' || ${drawn(101, 5000)} AS lastName,
        ${oneOf(['M', 'F'], drawn(102, 2))} AS gender, ${oneOf(['College', 'Primary', 'Secondary', 'Unknown', 'Advanced Degree'], drawn(103, 5))} AS education,
        1930 + ${drawn(104, 70)} AS birthYear, ${oneOf(['CA', 'NY', 'TX', 'WA', 'FL', 'OH', 'GA', 'TN', 'AL', 'SD'], skewed(105, 10))} AS state,
        lpad(${drawn(106, 99_999)}::VARCHAR, 5, '0') AS zip FROM range(1, 100001) numbers(i)`,
      segmentGranularity: 'all',
    },
    {
      name: 'returns',
      sql: `SELECT ${time('2023-01-10', 720, returns)} AS __time, 1 + ${skewed(110, 18_000)} AS item, 1 + ${drawn(111, 100_000)} AS customer,
        ${drawn(112, rows / 8)} AS ticket, 1 + ${drawn(113, 40)} AS quantity, ${money(114, 20_000)} AS amount,
        ${oneOf(['damaged', 'wrong size', 'late', 'did not like'], drawn(115, 4))} AS reason ${from(returns)}`,
      segmentGranularity: 'month',
    },
    ...telemetryTables(rows),
    ...tradeTables(Math.floor(rows / 3)),
  ];
}
