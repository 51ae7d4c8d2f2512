import { drawn, money, numbers, oneOf, type PublicTable, skewed, timesFrom } from './drawn.js';

const ROUTES = ['/api/cart', '/api/checkout', '/api/products/{id}', '/health', '/api/users/{id}', '/api/search', '/login', '/api/orders'];
const LABELS = ['beta', 'canary', 'internal', 'gpu', 'spot', 'edge', 'legacy', 'pci', 'eu', 'us', 'apac', 'batch'];
const DOMAINS = ['example.com', 'cdn.net', 'corp.local', 'tracker.io', 'xn--evil.ru', 'mail.org'];
const AGENTS = [
  'Mozilla/5.0 (Windows NT 10.0)',
  'curl/8.',
  'python-requests/2.',
  'Go-http-client/',
  'sqlmap/1.',
  'Mozilla/5.0 (X11; Linux)',
];
const SYMBOLS = 2000;

/** Spans with nested documents, meters with gaps, connections in a segment for each hour, fills of orders. */
export function telemetryTables(rows: number): readonly PublicTable[] {
  const minutes = Math.max(1, Math.floor(rows / 500));
  const private4 = (salt: number): string =>
    `'10.' || ${skewed(salt, 8)} || '.' || ${drawn(salt + 1, 64)} || '.' || ${drawn(salt + 2, 250)}`;
  const public4 = (salt: number): string =>
    `(11 + ${skewed(salt, 200)}) || '.' || ${drawn(salt + 1, 256)} || '.' || ${drawn(salt + 2, 256)} || '.' || ${drawn(salt + 3, 256)}`;
  return [
    {
      name: 'spans',
      sql: `SELECT ${timesFrom('2025-03-01', 3, rows)} AS __time, substr(md5((i // 7)::VARCHAR), 1, 16) AS trace, 'svc-' || ${skewed(200, 40)} AS service,
        ${oneOf(['GET ', 'GET ', 'POST ', 'PUT '], drawn(201, 4))} || ${oneOf(ROUTES, skewed(202, 8))} AS operation,
        ${oneOf(['server', 'client', 'internal', 'producer', 'consumer'], skewed(203, 5))} AS kind, 1000 + ${skewed(204, 900_000_000)} AS durationNs,
        '{"http":{"method":"' || ${oneOf(['GET', 'POST', 'PUT', 'DELETE'], skewed(201, 4))} || '","status_code":' || ${oneOf(['200', '200', '200', '404', '500', '503'], skewed(205, 6))}
          || ',"route":"' || ${oneOf(ROUTES, skewed(202, 8))} || '"}' || CASE WHEN ${drawn(206, 3)} > 0 THEN ',"k8s":{"pod":{"name":"pod-' || ${drawn(207, 3000)}
          || '","restarts":' || ${skewed(208, 20)} || '},"node":"node-' || ${skewed(209, 60)} || '"}' ELSE '' END
          || CASE WHEN ${drawn(210, 20)} = 0 THEN ',"events":[{"name":"exception","type":"' || ${oneOf(['Timeout', 'NullPointer', 'IOError'], skewed(211, 3))}
          || '"},{"name":"retry","n":' || ${drawn(212, 5)} || '}]' ELSE '' END || ',"sampled":' || CASE WHEN ${drawn(213, 10)} = 0 THEN 'true' ELSE 'false' END
          || ',"ratio":' || ${drawn(214, 1000)} / 1000.0 || ',"user":"u' || ${skewed(215, 200_000)} || '"}' AS attributes ${numbers(rows)}`,
      segmentGranularity: 'day',
      documents: ['attributes'],
    },
    {
      name: 'meters',
      sql: `SELECT TIMESTAMP '2025-02-20' + to_minutes((i // 500)::BIGINT * ${Math.ceil(28_800 / minutes)}) + to_seconds(${drawn(220, 55)}) AS __time,
        'meter-' || lpad((i % 500 + 500 * (${drawn(221, 4)}))::VARCHAR, 5, '0') AS meter, 'site-' || (i % 500) % 37 AS site,
        CASE WHEN ${drawn(222, 20)} > 0 THEN round(15 + 10 * sin(i / 9000.0) + ${drawn(223, 1000)} / 200.0, 3) END::DOUBLE AS temperature,
        CASE WHEN ${drawn(224, 3)} > 0 THEN ${drawn(225, 10_000)} / 100.0 END::DOUBLE AS humidity,
        CASE WHEN ${drawn(226, 10)} > 0 THEN 220 + ${drawn(227, 200)} / 10.0 END::DOUBLE AS voltage, i // 500 * 3 + ${drawn(228, 3)} AS counter,
        CASE WHEN ${drawn(229, 50)} = 0 THEN ${drawn(230, 30)} END AS fault, ${oneOf(['1.0', '1.1', '2.0', '2.1-rc'], skewed(231, 4))} AS firmware,
        CASE WHEN ${drawn(232, 2)} = 0 THEN ${skewed(233, 5000)} END AS m1, CASE WHEN ${drawn(234, 4)} = 0 THEN ${drawn(235, 100)} / 8.0 END::DOUBLE AS m2,
        CASE WHEN ${drawn(236, 8)} = 0 THEN ${drawn(237, 1_000_000)} END AS m3 ${numbers(rows)} WHERE (i // 500) % 97 < 90 AND hash(i % 500 + i // 50000) % 11 > 0`,
      segmentGranularity: 'day',
    },
    {
      name: 'connections',
      sql: `SELECT ${timesFrom('2025-04-01', 14, rows)} AS __time, ${private4(240)} AS source, ${public4(250)} AS target,
        ${oneOf(['443', '443', '443', '80', '53', '22', '3389', '8080'], skewed(255, 8))}::BIGINT AS port, ${skewed(256, 10_000_000)} AS bytesOut,
        CASE WHEN ${drawn(257, 10)} > 0 THEN ${skewed(258, 50_000_000)} END AS bytesIn, CASE WHEN ${drawn(259, 5)} > 0 THEN 'user' || ${skewed(260, 20_000)} END AS account,
        'h' || ${skewed(261, 300_000)} || '.' || ${oneOf(DOMAINS, skewed(262, 6))} AS host, ${oneOf(AGENTS, skewed(263, 6))} || ${drawn(264, 40)} AS agent,
        ${oneOf(['allow', 'allow', 'allow', 'deny', 'reset'], skewed(265, 5))} AS action,
        list_sort(list_filter([${oneOf(LABELS, skewed(266, 12))}, ${oneOf(LABELS, drawn(267, 12))}, CASE WHEN ${drawn(268, 3)} = 0 THEN 'rule-' || ${skewed(269, 800)} END], x -> x IS NOT NULL)) AS labels,
        list_transform(range(${drawn(270, 4)}), x -> (hash(i * 31 + x) % 100)::BIGINT) AS scores ${numbers(rows)}`,
      segmentGranularity: 'hour',
    },
    {
      name: 'fills',
      sql: `SELECT ${timesFrom('2025-01-02', 90, rows)} AS __time, 'ACC' || lpad((${skewed(280, 30_000)})::VARCHAR, 6, '0') AS account,
        'SYM' || ${skewed(281, SYMBOLS)} AS symbol, ${oneOf(['B', 'S'], drawn(282, 2))} AS side, 1 + ${skewed(283, 1000)} AS quantity, ${money(284, 50_000, 1)} AS price,
        CASE WHEN ${drawn(285, 8)} > 0 THEN round(${drawn(286, 900)} / 100.0, 2) END::DOUBLE AS fee, ${oneOf(['USD', 'EUR', 'GBP', 'JPY'], skewed(287, 4))} AS currency,
        ${oneOf(['NYSE', 'NSDQ', 'ARCA', 'BATS', 'IEX', 'DARK'], skewed(288, 6))} AS venue,
        ${oneOf(['filled', 'filled', 'filled', 'partial', 'cancelled', 'rejected'], skewed(289, 6))} AS status, CASE WHEN ${drawn(290, 15)} > 0 THEN ${drawn(291, 200)} - 20 END AS latency,
        CASE WHEN ${drawn(292, 30)} = 0 THEN 0 ELSE ${drawn(293, 400)} END AS benchmark ${numbers(rows)}`,
      segmentGranularity: 'day',
    },
  ];
}
