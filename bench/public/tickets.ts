import type { Question } from '../side-by-side.js';

const q = (id: string, sql: string, duckdb?: string): Question => (duckdb === undefined ? { id, sql } : { id, sql, duckdb });

/** Support tickets: search in texts, patterns, tags, times between instants, backlogs. */
export const TICKETS: readonly Question[] = [
  q(
    'tickets_age',
    'SELECT priority, status, COUNT(*), AVG(TIMESTAMPDIFF(HOUR, __time, MILLIS_TO_TIMESTAMP(answered))), MAX(TIMESTAMPDIFF(DAY, __time, MILLIS_TO_TIMESTAMP(solved))) FROM tickets GROUP BY 1, 2 ORDER BY 1, 2',
    `SELECT priority, status, COUNT(*), AVG(date_sub('hour', __time, make_timestamp_ms(answered))), MAX(date_sub('day', __time, make_timestamp_ms(solved))) FROM tickets GROUP BY 1, 2 ORDER BY 1, 2`,
  ),
  q(
    'tickets_sla',
    'SELECT FLOOR(__time TO WEEK) AS w, COUNT(*) FILTER (WHERE answered - TIMESTAMP_TO_MILLIS(__time) <= 4 * 3600000) * 100.0 / COUNT(*) AS in4h, COUNT(*) FILTER (WHERE solved IS NULL) FROM tickets GROUP BY 1 ORDER BY 1',
    `SELECT date_trunc('week', __time) AS w, COUNT(*) FILTER (WHERE answered - epoch_ms(__time) <= 4 * 3600000) * 100.0 / COUNT(*) AS in4h, COUNT(*) FILTER (WHERE solved IS NULL) FROM tickets GROUP BY 1 ORDER BY 1`,
  ),
  q('tickets_search', `SELECT status, COUNT(*) FROM tickets WHERE body LIKE '%error 42%' AND body LIKE '%Firefox%' GROUP BY 1 ORDER BY 1`),
  q(
    'tickets_search_lower',
    `SELECT COUNT(*), COUNT(DISTINCT customer) FROM tickets WHERE LOWER(subject) LIKE '%invoice%' OR LOWER(body) LIKE '%phone%hooli%'`,
  ),
  q(
    'tickets_regexp',
    `SELECT REGEXP_EXTRACT(body, 'error ([0-9]+)', 1) AS e, COUNT(*), AVG(rating) FROM tickets WHERE priority = 'urgent' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q('tickets_domain', `SELECT REGEXP_EXTRACT(body, '@([a-z.]+)[.] ', 1) AS d, COUNT(*), SUM(contract) FROM tickets GROUP BY 1 ORDER BY 1`),
  q(
    'tickets_regexp_like',
    `SELECT priority, COUNT(*) FROM tickets WHERE REGEXP_LIKE(subject, '(Invoice|Refund).* 1[0-9]{2}$') GROUP BY 1 ORDER BY 1`,
    `SELECT priority, COUNT(*) FROM tickets WHERE regexp_matches(subject, '(Invoice|Refund).* 1[0-9]{2}$') GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'tickets_replace',
    `SELECT REGEXP_REPLACE(subject, '[0-9]+$', '#') AS s, COUNT(*), COUNT(DISTINCT assignee) FROM tickets GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'tickets_tags',
    'SELECT tags, COUNT(*), AVG(rating), SUM(contract) FROM tickets GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20',
    'SELECT t, COUNT(*), AVG(rating), SUM(contract) FROM (SELECT unnest(CASE WHEN len(tags) = 0 THEN [NULL] ELSE tags END) AS t, rating, contract FROM tickets) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20',
  ),
  q(
    'tickets_tag_pairs',
    `SELECT a, b, COUNT(*) FROM (SELECT ticket, t AS a FROM tickets CROSS JOIN UNNEST(MV_TO_ARRAY(tags)) AS u(t) WHERE priority = 'urgent') x JOIN (SELECT ticket, t AS b FROM tickets CROSS JOIN UNNEST(MV_TO_ARRAY(tags)) AS u(t) WHERE priority = 'urgent') y ON x.ticket = y.ticket AND x.a < y.b GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 20`,
    `SELECT a, b, COUNT(*) FROM (SELECT ticket, unnest(tags) AS a FROM tickets WHERE priority = 'urgent') x JOIN (SELECT ticket, unnest(tags) AS b FROM tickets WHERE priority = 'urgent') y ON x.ticket = y.ticket AND x.a < y.b GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 20`,
  ),
  q(
    'tickets_tag_sets',
    'SELECT MV_TO_ARRAY(tags) AS t, COUNT(*) FROM tickets GROUP BY 1 ORDER BY 2 DESC LIMIT 1',
    'SELECT CASE WHEN len(tags) = 0 THEN NULL ELSE tags END AS t, COUNT(*) FROM tickets GROUP BY 1 ORDER BY 2 DESC LIMIT 1',
  ),
  q(
    'tickets_agents',
    'SELECT assignee, COUNT(*) AS n, COUNT(solved) * 100.0 / COUNT(*) AS rate, AVG(rating), RANK() OVER (ORDER BY COUNT(solved) DESC) AS r FROM tickets WHERE assignee IS NOT NULL GROUP BY 1 ORDER BY 5, 1 LIMIT 25',
  ),
  q(
    'tickets_reopen',
    'SELECT COUNT(*), AVG(g) FROM (SELECT TIMESTAMPDIFF(HOUR, __time, LEAD(__time) OVER (PARTITION BY customer ORDER BY __time)) AS g FROM tickets) WHERE g < 48',
    `SELECT COUNT(*), AVG(g) FROM (SELECT date_sub('hour', __time, LEAD(__time) OVER (PARTITION BY customer ORDER BY __time)) AS g FROM tickets) WHERE g < 48`,
  ),
  q(
    'tickets_repeat',
    'SELECT n, COUNT(*), AVG(v) FROM (SELECT customer, COUNT(*) AS n, MAX(contract) AS v FROM tickets GROUP BY 1) GROUP BY 1 ORDER BY 1',
  ),
  q(
    'tickets_month_format',
    `SELECT TIME_FORMAT(__time, 'yyyy-MM-dd') AS d, CONCAT(priority, ':', status) AS k, COUNT(*) FROM tickets WHERE __time >= TIMESTAMP '2025-02-01' AND __time < TIMESTAMP '2025-03-01' GROUP BY 1, 2 ORDER BY 1, 2`,
    `SELECT strftime(__time, '%Y-%m-%d') AS d, CONCAT(priority, ':', status) AS k, COUNT(*) FROM tickets WHERE __time >= TIMESTAMP '2025-02-01' AND __time < TIMESTAMP '2025-03-01' GROUP BY 1, 2 ORDER BY 1, 2`,
  ),
  q(
    'tickets_words',
    'SELECT CHAR_LENGTH(subject) AS l, COUNT(*), MIN(subject), MAX(subject) FROM tickets GROUP BY 1 ORDER BY 1',
    'SELECT length(subject) AS l, COUNT(*), MIN(subject), MAX(subject) FROM tickets GROUP BY 1 ORDER BY 1',
  ),
  q(
    'tickets_prefix',
    `SELECT LEFT(ticket, 7) AS p, COUNT(*), MAX(contract), MIN(RIGHT(ticket, 3)) FROM tickets WHERE status = 'open' GROUP BY 1 ORDER BY 1 LIMIT 50`,
  ),
  q('tickets_one', `SELECT ticket, subject, body, status FROM tickets WHERE ticket = 'TCK-0512345'`),
  q(
    'tickets_customers_worst',
    `SELECT customer, COUNT(*) AS n, MIN(rating), SUM(CASE WHEN priority = 'urgent' THEN 3 WHEN priority = 'high' THEN 2 ELSE 1 END) AS w FROM tickets WHERE status NOT IN ('spam', 'closed') GROUP BY 1 HAVING COUNT(*) >= 5 ORDER BY 4 DESC, 1 LIMIT 25`,
  ),
  q(
    'tickets_above_average',
    'SELECT COUNT(*) FROM tickets t WHERE contract > (SELECT AVG(contract) FROM tickets u WHERE u.priority = t.priority)',
  ),
  q(
    'tickets_median_wait',
    'SELECT priority, APPROX_QUANTILE_DS(answered - TIMESTAMP_TO_MILLIS(__time), 0.5) > 0, APPROX_QUANTILE_DS(answered - TIMESTAMP_TO_MILLIS(__time), 0.9) > 0 FROM tickets GROUP BY 1 ORDER BY 1',
    'SELECT priority, quantile_cont(answered - epoch_ms(__time), 0.5) > 0, quantile_cont(answered - epoch_ms(__time), 0.9) > 0 FROM tickets GROUP BY 1 ORDER BY 1',
  ),
  q(
    'tickets_backlog',
    'SELECT d, SUM(x) OVER (ORDER BY d ROWS UNBOUNDED PRECEDING) AS open FROM (SELECT d, SUM(x) AS x FROM (SELECT FLOOR(__time TO DAY) AS d, 1 AS x FROM tickets UNION ALL SELECT FLOOR(MILLIS_TO_TIMESTAMP(solved) TO DAY) AS d, -1 AS x FROM tickets WHERE solved IS NOT NULL) GROUP BY 1) ORDER BY 1',
    `SELECT d, SUM(x) OVER (ORDER BY d ROWS UNBOUNDED PRECEDING) AS open FROM (SELECT d, SUM(x) AS x FROM (SELECT date_trunc('day', __time) AS d, 1 AS x FROM tickets UNION ALL SELECT date_trunc('day', make_timestamp_ms(solved)) AS d, -1 AS x FROM tickets WHERE solved IS NOT NULL) GROUP BY 1) ORDER BY 1`,
  ),
  q(
    'tickets_case_search',
    `SELECT CASE WHEN subject LIKE 'Cannot%' THEN 'login' WHEN subject LIKE '%crash%' OR subject LIKE 'Timeout%' THEN 'bug' WHEN subject LIKE '%Invoice%' OR subject LIKE 'Refund%' THEN 'money' ELSE 'other' END AS c, COUNT(*), COUNT(DISTINCT customer) FROM tickets GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'tickets_agents_string',
    `SELECT customer, STRING_AGG(DISTINCT assignee, ',', 100000) IS NOT NULL, COUNT(*) AS n FROM tickets GROUP BY 1 ORDER BY 3 DESC, 1 LIMIT 20`,
    `SELECT customer, string_agg(DISTINCT assignee, ',') IS NOT NULL, COUNT(*) AS n FROM tickets GROUP BY 1 ORDER BY 3 DESC, 1 LIMIT 20`,
  ),
  q(
    'tickets_limit_union',
    `SELECT COUNT(*) FROM (SELECT customer FROM tickets WHERE priority = 'urgent' UNION ALL SELECT customer FROM tickets WHERE status = 'open' LIMIT 1000)`,
  ),
];
