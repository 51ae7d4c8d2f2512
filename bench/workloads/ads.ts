import type { Question } from '../side-by-side.js';

const q = (id: string, sql: string, duckdb?: string): Question => (duckdb === undefined ? { id, sql } : { id, sql, duckdb });
const of = (kind: string): string => `FILTER (WHERE kind = '${kind}')`;

/** Funnels, ratios, buckets, retention, stars, weeks beside each other. */
export const ADS: readonly Question[] = [
  q(
    'ads_funnel',
    `SELECT campaignId, COUNT(*) ${of('impression')} AS i, COUNT(*) ${of('click')} AS c, COUNT(*) ${of('purchase')} AS p,
     COUNT(*) ${of('click')} * 1.0 / NULLIF(COUNT(*) ${of('impression')}, 0) AS rate FROM ads GROUP BY 1 ORDER BY 4 DESC, 1 LIMIT 50`,
  ),
  q(
    'ads_funnel_people',
    `SELECT country, COUNT(DISTINCT CASE WHEN kind = 'impression' THEN person END), COUNT(DISTINCT CASE WHEN kind = 'click' THEN person END),
     COUNT(DISTINCT CASE WHEN kind = 'purchase' THEN person END) FROM ads GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'ads_distinct_filtered',
    `SELECT system, COUNT(DISTINCT person) ${of('click')}, COUNT(DISTINCT campaignId) ${of('purchase')} FROM ads GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'ads_return_on_cost',
    `SELECT campaignId, country, SUM(costMicros) / 1000000.0 AS cost, SUM(revenue) AS earned, SUM(revenue) * 1000000.0 / NULLIF(SUM(costMicros), 0) AS roas
     FROM ads WHERE isFraud = 0 GROUP BY 1, 2 HAVING SUM(revenue) > 20 ORDER BY 5 DESC, 1, 2 LIMIT 30`,
  ),
  q(
    'ads_case_buckets',
    `SELECT CASE WHEN bid < 0.5 THEN 'low' WHEN bid < 2 THEN 'middle' WHEN bid < 4 THEN 'high' ELSE 'top' END AS bucket,
     COUNT(*), SUM(costMicros), AVG(CASE WHEN kind = 'click' THEN 1.0 ELSE 0.0 END) FROM ads GROUP BY 1 ORDER BY 1`,
  ),
  q('ads_round_buckets', 'SELECT FLOOR(bid * 4) / 4 AS b, COUNT(*), SUM(costMicros), COUNT(revenue) FROM ads GROUP BY 1 ORDER BY 1'),
  q(
    'ads_retention_join',
    `SELECT a.d AS firstDay, b.d - a.d AS later, COUNT(*) FROM
     (SELECT person, MIN(TIMESTAMPDIFF(DAY, TIMESTAMP '2025-05-01 00:00:00', __time)) AS d FROM ads GROUP BY 1) a JOIN
     (SELECT DISTINCT person, TIMESTAMPDIFF(DAY, TIMESTAMP '2025-05-01 00:00:00', __time) AS d FROM ads WHERE kind <> 'impression') b ON a.person = b.person
     GROUP BY 1, 2 ORDER BY 1, 2`,
    `SELECT a.d AS firstDay, b.d - a.d AS later, COUNT(*) FROM
     (SELECT person, MIN(epoch_ms(__time) // 86400000 - 20209) AS d FROM ads GROUP BY 1) a JOIN
     (SELECT DISTINCT person, epoch_ms(__time) // 86400000 - 20209 AS d FROM ads WHERE kind <> 'impression') b ON a.person = b.person
     GROUP BY 1, 2 ORDER BY 1, 2`,
  ),
  q(
    'ads_weeks_join',
    `SELECT a.campaignId, a.n, b.n, a.n - b.n FROM (SELECT campaignId, COUNT(*) AS n FROM ads WHERE __time >= TIMESTAMP '2025-05-15' AND __time < TIMESTAMP '2025-05-22' GROUP BY 1) a
     LEFT JOIN (SELECT campaignId, COUNT(*) AS n FROM ads WHERE __time >= TIMESTAMP '2025-05-08' AND __time < TIMESTAMP '2025-05-15' GROUP BY 1) b
     ON a.campaignId = b.campaignId ORDER BY 4, 1 LIMIT 40`,
  ),
  q(
    'ads_weeks_case',
    `SELECT placement, SUM(CASE WHEN __time >= TIMESTAMP '2025-05-15' THEN costMicros ELSE 0 END) AS a, SUM(CASE WHEN __time < TIMESTAMP '2025-05-15' THEN costMicros ELSE 0 END) AS b
     FROM ads WHERE __time >= TIMESTAMP '2025-05-08' AND __time < TIMESTAMP '2025-05-22' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 25`,
  ),
  q(
    'ads_star',
    `SELECT c.vertical, c.advertiser, COUNT(*), SUM(a.revenue) FROM ads a JOIN campaigns c ON a.campaignId = c.id
     WHERE a.kind = 'purchase' AND c.budget > 50000 GROUP BY 1, 2 ORDER BY 4 DESC, 1, 2 LIMIT 20`,
  ),
  q(
    'ads_star_all',
    `SELECT c.vertical, a.kind, COUNT(*), SUM(a.costMicros), MAX(a.bid) FROM ads a JOIN campaigns c ON a.campaignId = c.id GROUP BY 1, 2 ORDER BY 1, 2`,
  ),
  q(
    'ads_in_subquery',
    `SELECT country, COUNT(*) FROM ads WHERE campaignId IN (SELECT id FROM campaigns WHERE vertical LIKE 'b%') AND kind = 'click' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10`,
  ),
  q(
    'ads_not_exists',
    `SELECT COUNT(*), SUM(c.budget) FROM campaigns c WHERE NOT EXISTS (SELECT 1 FROM ads a WHERE a.campaignId = c.id AND a.kind = 'purchase')`,
  ),
  q(
    'ads_buyers_clicks',
    `SELECT COUNT(*), COUNT(DISTINCT person) FROM ads WHERE kind = 'click' AND person IN (SELECT person FROM ads WHERE kind = 'purchase')`,
  ),
  q(
    'ads_not_in',
    `SELECT COUNT(*) FROM (SELECT person, COUNT(*) AS n FROM ads WHERE person NOT IN (SELECT person FROM ads WHERE isFraud = 1) GROUP BY 1 HAVING COUNT(*) > 3)`,
  ),
  q('ads_people', `SELECT person, COUNT(*), SUM(costMicros), MIN(__time), MAX(__time) FROM ads GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`),
  q(
    'ads_frequency',
    'SELECT n, COUNT(*), SUM(c) FROM (SELECT person, COUNT(*) AS n, SUM(costMicros) AS c FROM ads GROUP BY 1) GROUP BY 1 ORDER BY 1 LIMIT 30',
  ),
  q(
    'ads_keywords',
    `SELECT k, COUNT(*), SUM(costMicros) FROM ads CROSS JOIN UNNEST(MV_TO_ARRAY(keywords)) AS u(k) WHERE kind = 'click' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
    `SELECT k, COUNT(*), SUM(costMicros) FROM (SELECT unnest(keywords) AS k, costMicros FROM ads WHERE kind = 'click') GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'ads_rollup',
    `SELECT country, system, kind, COUNT(*), SUM(costMicros) FROM ads GROUP BY ROLLUP (country, system, kind) ORDER BY 4 DESC, 1, 2, 3 LIMIT 60`,
  ),
  q(
    'ads_union',
    `SELECT w, SUM(n) FROM (SELECT 'early' AS w, COUNT(*) AS n FROM ads WHERE __time < TIMESTAMP '2025-05-10' GROUP BY person
     UNION ALL SELECT 'late', COUNT(*) FROM ads WHERE __time >= TIMESTAMP '2025-05-20' GROUP BY person) GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'ads_last_of_person',
    `SELECT kind, COUNT(*), SUM(position) FROM (SELECT kind, position, ROW_NUMBER() OVER (PARTITION BY person ORDER BY __time DESC) AS n FROM ads) WHERE n = 1 GROUP BY 1 ORDER BY 2 DESC, 1`,
  ),
  q(
    'ads_best_bids',
    `SELECT campaignId, bid, system FROM (SELECT campaignId, bid, system, RANK() OVER (PARTITION BY campaignId ORDER BY bid DESC) AS n FROM ads WHERE kind <> 'impression') WHERE n <= 2 ORDER BY 2 DESC, 1, 3 LIMIT 100`,
  ),
  q(
    'ads_best_campaign',
    `SELECT * FROM (SELECT country, campaignId, SUM(costMicros) AS cost, ROW_NUMBER() OVER (PARTITION BY country ORDER BY SUM(costMicros) DESC, campaignId) AS place
     FROM ads GROUP BY 1, 2) WHERE place <= 3 ORDER BY 1, 4`,
  ),
  q(
    'ads_share',
    `SELECT placement, cost, cost * 100.0 / SUM(cost) OVER () AS share FROM (SELECT placement, SUM(costMicros) AS cost FROM ads GROUP BY 1) ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  {
    id: 'ads_native_top',
    sql: `SELECT placement, COUNT(*), SUM(costMicros), SUM(bid) FROM ads WHERE kind IN ('click', 'install') GROUP BY 1 ORDER BY 3 DESC, 1 LIMIT 25`,
    native: {
      query: {
        queryType: 'topN',
        dataSource: 'ads',
        intervals: ['2025-05-01/2025-06-01'],
        granularity: 'all',
        dimension: 'placement',
        metric: 'cost',
        threshold: 25,
        filter: { type: 'in', dimension: 'kind', values: ['click', 'install'] },
        aggregations: [
          { type: 'count', name: 'n' },
          { type: 'longSum', name: 'cost', fieldName: 'costMicros' },
          { type: 'doubleSum', name: 'bids', fieldName: 'bid' },
        ],
      },
      columns: ['placement', 'n', 'cost', 'bids'],
    },
  },
  {
    id: 'ads_native_hours',
    sql: `SELECT time_bucket(INTERVAL 1 HOUR, __time), COUNT(*), SUM(costMicros), COUNT(*) FILTER (WHERE kind = 'click') FROM ads WHERE country <> 'bace' GROUP BY 1 ORDER BY 1`,
    native: {
      query: {
        queryType: 'timeseries',
        dataSource: 'ads',
        intervals: ['2025-05-01/2025-05-31'],
        granularity: 'hour',
        filter: { type: 'not', field: { type: 'selector', dimension: 'country', value: 'bace' } },
        aggregations: [
          { type: 'count', name: 'n' },
          { type: 'longSum', name: 'cost', fieldName: 'costMicros' },
          {
            type: 'filtered',
            filter: { type: 'selector', dimension: 'kind', value: 'click' },
            aggregator: { type: 'count', name: 'clicks' },
          },
        ],
      },
      columns: ['timestamp', 'n', 'cost', 'clicks'],
    },
  },
];
