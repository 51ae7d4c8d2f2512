import { drawn, money, numbers, oneOf, type PublicTable, skewed, timesFrom } from './drawn.js';

const EXCHANGES = ['N', 'Q', 'P', 'Z', 'V', 'B', 'X'];
const CONDITIONS = ['regular', 'odd lot', 'sweep', 'cross', 'derived'];
const KINDS = ['move', 'move', 'move', 'kill', 'death', 'level_start', 'level_end', 'purchase', 'chat', 'login', 'logout', 'tutorial'];
const INTERESTS = [
  ...['sport', 'news', 'travel', 'auto', 'beauty', 'finance', 'food', 'games', 'health', 'home'],
  ...['kids', 'movies', 'music', 'pets', 'style', 'tech'],
];
const TROUBLES = [
  ...[
    'Cannot log in',
    'Invoice is wrong',
    'App crashes on start',
    'Refund for order',
    'How do I export',
    'Password reset',
    'Slow dashboard',
  ],
  ...['Data missing since', 'Feature request:', 'Timeout while saving'],
];

/** Quotes, plays of a game, impressions, machines and tickets: tables of five trades, in segments of hours and days. */
export function tradeTables(rows: number): readonly PublicTable[] {
  const time = (start: string, days: number): string => timesFrom(start, days, rows);
  return [
    {
      name: 'quotes',
      sql: `SELECT ${time('2025-06-02', 4)} AS __time, 'T' || ${skewed(300, 900)} AS ticker, i AS sequence,
        round(20 + ${skewed(300, 900)} / 4.0 + 3 * sin(i / 40000.0) + ${drawn(301, 100)} / 100.0, 2)::DOUBLE AS bid,
        round(20.02 + ${skewed(300, 900)} / 4.0 + 3 * sin(i / 40000.0) + ${drawn(301, 100)} / 100.0 + ${skewed(302, 30)} / 100.0, 2)::DOUBLE AS ask,
        100 * (1 + ${skewed(303, 40)}) AS bidSize, 100 * (1 + ${skewed(304, 40)}) AS askSize, ${oneOf(EXCHANGES, skewed(305, 7))} AS exchange,
        CASE WHEN ${drawn(306, 4)} = 0 THEN ${oneOf(CONDITIONS, skewed(307, 5))} END AS condition, ${drawn(308, 64)} AS flags ${numbers(rows)}`,
      segmentGranularity: 'hour',
    },
    {
      name: 'plays',
      sql: `SELECT ${time('2025-05-01', 30)} AS __time, 'p' || ${skewed(320, 60_000)} AS player, ${oneOf(KINDS, drawn(321, 12))} AS kind,
        1 + ${skewed(322, 80)} AS level, CASE WHEN ${drawn(323, 3)} > 0 THEN ${skewed(324, 100_000)} END AS score,
        CASE WHEN ${drawn(321, 12)} = 7 THEN round(${oneOf(['0.99', '1.99', '4.99', '9.99', '49.99'], skewed(325, 5))}::DOUBLE, 2) END::DOUBLE AS price,
        ${oneOf(['ios', 'android', 'pc', 'switch'], skewed(326, 4))} AS platform, ${oneOf(['us', 'de', 'jp', 'br', 'in', 'fr', 'kr'], skewed(327, 7))} AS country,
        '1.' || ${skewed(328, 12)} || '.' || ${drawn(329, 5)} AS build, list_transform(range(${drawn(330, 5)}), x -> (hash(i * 17 + x) % 300)::BIGINT) AS items,
        '{"map":"' || ${oneOf(['canyon', 'harbor', 'tundra', 'ruins'], skewed(331, 4))} || '","team":' || ${drawn(332, 2)}
          || CASE WHEN ${drawn(333, 3)} = 0 THEN ',"weapon":{"name":"w' || ${skewed(334, 60)} || '","level":' || ${drawn(335, 10)} || '}' ELSE '' END || '}' AS detail ${numbers(rows)}`,
      segmentGranularity: 'day',
      documents: ['detail'],
    },
    {
      name: 'impressions',
      sql: `SELECT ${time('2025-07-01', 3)} AS __time, 'camp-' || ${skewed(340, 400)} AS campaign, 'cr-' || ${skewed(341, 5000)} AS creative,
        'slot-' || ${skewed(342, 60)} AS slot, list_sort(list_distinct(list_filter([${oneOf(INTERESTS, skewed(343, 16))}, ${oneOf(INTERESTS, drawn(344, 16))},
          CASE WHEN ${drawn(345, 2)} = 0 THEN ${oneOf(INTERESTS, drawn(346, 16))} END, CASE WHEN ${drawn(347, 3)} = 0 THEN 'seg-' || ${skewed(348, 400)} END], x -> x IS NOT NULL))) AS interests,
        'u' || ${skewed(349, 250_000)} AS visitor, ${oneOf(['US', 'GB', 'DE', 'FR', 'JP', 'IN', 'BR', 'CA'], skewed(350, 8))} AS country,
        ${oneOf(['phone', 'desktop', 'tablet', 'tv'], skewed(351, 4))} AS device, round(${skewed(352, 9000)} / 1000.0, 3)::DOUBLE AS cost,
        (${drawn(353, 40)} = 0)::BIGINT AS clicked, (${drawn(353, 40)} = 0 AND ${drawn(354, 12)} = 0)::BIGINT AS converted,
        (10 + ${skewed(355, 200)}) || '.' || ${drawn(356, 256)} || '.' || ${drawn(357, 32)} || '.' || ${drawn(358, 250)} AS address,
        CASE WHEN ${drawn(359, 3)} > 0 THEN ${drawn(360, 100)} END AS viewable,
        'https://site' || ${skewed(361, 800)} || '.example/' || ${oneOf(['home', 'article', 'video', 'shop'], drawn(362, 4))} || '?id=' || ${drawn(363, 20_000)} AS page ${numbers(rows)}`,
      segmentGranularity: 'hour',
    },
    {
      name: 'machines',
      sql: `SELECT TIMESTAMP '2025-02-24' + to_milliseconds((i // 40) * ${Math.floor((20 * 86_400_000 * 40) / rows)}) AS __time, 'm' || (i % 40) AS machine, 'line-' || (i % 40) % 6 AS line,
        CASE WHEN ${drawn(370, 25)} > 0 THEN round(60 + 8 * sin(i / 30000.0) + (i % 40) / 4.0 + ${drawn(371, 400)} / 100.0, 2) END::DOUBLE AS temperature,
        CASE WHEN ${drawn(372, 10)} > 0 THEN round(${skewed(373, 5000)} / 1000.0, 3) END::DOUBLE AS vibration, ${drawn(374, 256)} AS status,
        (i // 40) * 2 + ${drawn(375, 2)} AS pieces, CASE WHEN ${drawn(376, 60)} = 0 THEN 'E' || lpad((${skewed(377, 90)})::VARCHAR, 3, '0') END AS alarm,
        CASE WHEN hash(i // 4000) % 9 = 0 THEN 'idle' WHEN hash(i // 4000) % 9 = 1 THEN 'setup' ELSE 'run' END AS mode,
        ${oneOf(['ann', 'bob', 'cem', 'dee', 'eva'], skewed(378, 5))} AS operator ${numbers(rows)} WHERE hash(i // 900) % 13 > 0`,
      segmentGranularity: 'day',
    },
    {
      name: 'tickets',
      sql: `SELECT ${time('2025-01-01', 90)} AS __time, 'TCK-' || lpad(i::VARCHAR, 7, '0') AS ticket, ${oneOf(TROUBLES, skewed(380, 10))} || ' ' || ${drawn(381, 4000)} AS subject,
        'Hello, ' || ${oneOf(['since yesterday', 'after the update', 'every morning', 'when offline'], drawn(382, 4))} || ' I see error ' || ${drawn(383, 900)}
          || ${oneOf([' in Chrome', ' in Firefox', ' on my phone', ''], drawn(384, 4))} || ', mail user' || ${skewed(385, 90_000)} || '@' || ${oneOf(['acme.com', 'globex.org', 'initech.net', 'hooli.io'], skewed(386, 4))} || '. Thanks' AS body,
        ${oneOf(['open', 'pending', 'solved', 'closed', 'spam'], drawn(387, 5))} AS status, ${oneOf(['low', 'normal', 'normal', 'high', 'urgent'], drawn(388, 5))} AS priority,
        CASE WHEN ${drawn(389, 12)} > 0 THEN 'agent' || ${skewed(390, 300)} END AS assignee, 'c' || ${skewed(391, 90_000)} AS customer,
        list_sort(list_distinct(list_transform(range(${drawn(392, 4)}), x -> 'tag' || (hash(i * 13 + x) % 40)))) AS tags,
        epoch_ms(${time('2025-01-01', 90)}) + 60000 * (1 + ${skewed(393, 4000)}) AS answered,
        CASE WHEN ${drawn(387, 5)} IN (2, 3) THEN epoch_ms(${time('2025-01-01', 90)}) + 60000 * (10 + ${skewed(394, 30_000)}) END AS solved,
        CASE WHEN ${drawn(395, 4)} = 0 THEN 1 + ${drawn(396, 5)} END AS rating, ${money(397, 30_000)} AS contract ${numbers(rows)}`,
      segmentGranularity: 'day',
    },
  ];
}
