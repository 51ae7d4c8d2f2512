import type { Question } from '../side-by-side.js';

const q = (id: string, sql: string, duckdb?: string): Question => (duckdb === undefined ? { id, sql } : { id, sql, duckdb });

/** Events of repositories: the most starred, who else has starred, parts of names and titles, first weeks, merged requests. */
export const EVENTS: readonly Question[] = [
  q('event_types', `SELECT event, COUNT(*) AS n FROM events GROUP BY 1 ORDER BY 2 DESC, 1`),
  q('event_top_repos', `SELECT repo, COUNT(*) AS stars FROM events WHERE event = 'WatchEvent' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 50`),
  q(
    'event_top_by_day',
    `SELECT d, repo, n FROM (SELECT d, repo, n, ROW_NUMBER() OVER (PARTITION BY d ORDER BY n DESC, repo) AS r FROM (SELECT FLOOR(__time TO DAY) AS d, repo, COUNT(*) AS n FROM events WHERE event = 'WatchEvent' GROUP BY 1, 2)) WHERE r <= 3 ORDER BY 1, 3 DESC, 2`,
    `SELECT d, repo, n FROM (SELECT d, repo, n, ROW_NUMBER() OVER (PARTITION BY d ORDER BY n DESC, repo) AS r FROM (SELECT date_trunc('DAY', __time) AS d, repo, COUNT(*) AS n FROM events WHERE event = 'WatchEvent' GROUP BY 1, 2)) WHERE r <= 3 ORDER BY 1, 3 DESC, 2`,
  ),
  q(
    'event_orgs',
    `SELECT SUBSTRING(repo, 1, POSITION('/' IN repo) - 1) AS org, COUNT(*) AS n, COUNT(DISTINCT repo) FROM events GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 50`,
  ),
  q(
    'event_actors_repos',
    `SELECT actor, COUNT(DISTINCT repo) AS n, COUNT(*) FROM events WHERE event = 'PushEvent' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 25`,
  ),
  q(
    'event_forks_stars',
    `SELECT repo, SUM(CASE WHEN event = 'WatchEvent' THEN 1 ELSE 0 END) AS stars, SUM(CASE WHEN event = 'ForkEvent' THEN 1 ELSE 0 END) AS forks FROM events WHERE event IN ('WatchEvent', 'ForkEvent') GROUP BY 1 HAVING SUM(CASE WHEN event = 'ForkEvent' THEN 1 ELSE 0 END) > 20 ORDER BY 2 DESC, 1 LIMIT 50`,
  ),
  q(
    'event_title_words',
    `SELECT SUBSTRING(title, POSITION(' fix ' IN title) + 5, 4) AS w, COUNT(*) FROM events WHERE title LIKE '%fix%' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'event_title_len',
    `SELECT CHAR_LENGTH(title) AS l, COUNT(*) FROM events GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 30`,
    `SELECT length(title) AS l, COUNT(*) FROM events GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 30`,
  ),
  q(
    'event_weekday',
    `SELECT EXTRACT(DOW FROM __time) AS d, EXTRACT(HOUR FROM __time) AS h, COUNT(*) FROM events WHERE event = 'PushEvent' GROUP BY 1, 2 ORDER BY 1, 2`,
    `SELECT isodow(__time) AS d, EXTRACT(HOUR FROM __time) AS h, COUNT(*) FROM events WHERE event = 'PushEvent' GROUP BY 1, 2 ORDER BY 1, 2`,
  ),
  q(
    'event_prs',
    `SELECT repo, SUM(additions) AS a, SUM(deletions) AS d, COUNT(*) FROM events WHERE event = 'PullRequestEvent' AND action = 'merged' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 25`,
  ),
  q(
    'event_same_repo_pairs',
    `SELECT COUNT(*), SUM(n) FROM (SELECT repo, actor, COUNT(*) AS n FROM events GROUP BY 1, 2 HAVING COUNT(*) >= 5)`,
  ),
  q(
    'event_also_star',
    `SELECT repo, COUNT(*) AS n FROM events WHERE event = 'WatchEvent' AND actor IN (SELECT actor FROM events WHERE event = 'WatchEvent' AND repo = 'org5/repo-5') AND repo <> 'org5/repo-5' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'event_first_seen',
    `SELECT FLOOR(f TO WEEK) AS w, COUNT(*) FROM (SELECT actor, MIN(__time) AS f FROM events GROUP BY 1) GROUP BY 1 ORDER BY 1`,
    `SELECT date_trunc('WEEK', f) AS w, COUNT(*) FROM (SELECT actor, MIN(__time) AS f FROM events GROUP BY 1) GROUP BY 1 ORDER BY 1`,
  ),
  q(
    'event_retention',
    `SELECT COUNT(*), SUM(CASE WHEN b.actor IS NOT NULL THEN 1 ELSE 0 END) FROM (SELECT DISTINCT actor FROM events WHERE __time < TIMESTAMP '2025-01-08 00:00:00') a LEFT JOIN (SELECT DISTINCT actor FROM events WHERE __time >= TIMESTAMP '2025-02-01 00:00:00' AND __time < TIMESTAMP '2025-02-08 00:00:00') b ON a.actor = b.actor`,
  ),
  q(
    'event_growth',
    `SELECT w, n, n - LAG(n) OVER (ORDER BY w) FROM (SELECT FLOOR(__time TO WEEK) AS w, COUNT(DISTINCT actor) AS n FROM events GROUP BY 1) ORDER BY 1`,
    `SELECT w, n, n - LAG(n) OVER (ORDER BY w) FROM (SELECT date_trunc('WEEK', __time) AS w, COUNT(DISTINCT actor) AS n FROM events GROUP BY 1) ORDER BY 1`,
  ),
  q(
    'event_one_repo',
    `SELECT event, action, COUNT(*), COUNT(DISTINCT actor) FROM events WHERE repo = 'org17/repo-17' GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2`,
  ),
  q('event_upper', `SELECT UPPER(event) || ':' || COALESCE(action, 'none') AS k, COUNT(*) FROM events GROUP BY 1 ORDER BY 2 DESC, 1`),
  q('event_bots', `SELECT actor LIKE '%00', COUNT(*), AVG(commits) FROM events GROUP BY 1 ORDER BY 1`),
  q(
    'event_latest_titles',
    `SELECT title, actor, repo FROM events WHERE event = 'IssuesEvent' AND title LIKE '%parser%' ORDER BY __time DESC, title LIMIT 20`,
  ),
  q(
    'event_longest',
    `SELECT title, CHAR_LENGTH(title) AS l FROM events ORDER BY 2 DESC, 1 LIMIT 20`,
    `SELECT title, length(title) AS l FROM events ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'event_refs',
    `SELECT ref, event, COUNT(*), SUM(commits), MAX(commits), MIN(__time) FROM events WHERE ref LIKE 'release/%' OR ref = 'main' GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2`,
  ),
  q(
    'event_regex',
    `SELECT REGEXP_EXTRACT(title, 'module ([0-9]+)', 1) AS m, COUNT(*) FROM events WHERE event = 'PushEvent' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
  q(
    'event_replace',
    `SELECT REPLACE(repo, '/', ' '), COUNT(*) FROM events WHERE event = 'ForkEvent' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20`,
  ),
];
