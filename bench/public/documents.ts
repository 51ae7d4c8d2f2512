import type { Question } from '../side-by-side.js';

const q = (id: string, sql: string, duckdb?: string): Question => (duckdb === undefined ? { id, sql } : { id, sql, duckdb });

/** Messages of a social network, each one JSON document. */
export const DOCUMENTS: readonly Question[] = [
  q(
    'document_1',
    `SELECT JSON_VALUE(data, '$.commit.collection') AS c, COUNT(*) FROM documents GROUP BY 1 ORDER BY 2 DESC, 1`,
    `SELECT json_extract_string(data, '$.commit.collection') AS c, COUNT(*) FROM documents GROUP BY 1 ORDER BY 2 DESC, 1`,
  ),
  q(
    'document_2',
    `SELECT JSON_VALUE(data, '$.commit.collection') AS c, COUNT(*), COUNT(DISTINCT JSON_VALUE(data, '$.did')) FROM documents WHERE JSON_VALUE(data, '$.kind') = 'commit' AND JSON_VALUE(data, '$.commit.operation') = 'create' GROUP BY 1 ORDER BY 2 DESC, 1`,
    `SELECT json_extract_string(data, '$.commit.collection') AS c, COUNT(*), COUNT(DISTINCT json_extract_string(data, '$.did')) FROM documents WHERE json_extract_string(data, '$.kind') = 'commit' AND json_extract_string(data, '$.commit.operation') = 'create' GROUP BY 1 ORDER BY 2 DESC, 1`,
  ),
  q(
    'document_3',
    `SELECT JSON_VALUE(data, '$.commit.collection') AS c, EXTRACT(HOUR FROM __time) AS h, COUNT(*) FROM documents WHERE JSON_VALUE(data, '$.kind') = 'commit' AND JSON_VALUE(data, '$.commit.operation') = 'create' AND JSON_VALUE(data, '$.commit.collection') IN ('app.bsky.feed.post', 'app.bsky.feed.repost', 'app.bsky.feed.like') GROUP BY 1, 2 ORDER BY 2, 1`,
    `SELECT json_extract_string(data, '$.commit.collection') AS c, EXTRACT(HOUR FROM __time) AS h, COUNT(*) FROM documents WHERE json_extract_string(data, '$.kind') = 'commit' AND json_extract_string(data, '$.commit.operation') = 'create' AND json_extract_string(data, '$.commit.collection') IN ('app.bsky.feed.post', 'app.bsky.feed.repost', 'app.bsky.feed.like') GROUP BY 1, 2 ORDER BY 2, 1`,
  ),
  q(
    'document_4',
    `SELECT JSON_VALUE(data, '$.did') AS d, MIN(__time) FROM documents WHERE JSON_VALUE(data, '$.commit.collection') = 'app.bsky.feed.post' AND JSON_VALUE(data, '$.commit.operation') = 'create' GROUP BY 1 ORDER BY 2, 1 LIMIT 3`,
    `SELECT json_extract_string(data, '$.did') AS d, MIN(__time) FROM documents WHERE json_extract_string(data, '$.commit.collection') = 'app.bsky.feed.post' AND json_extract_string(data, '$.commit.operation') = 'create' GROUP BY 1 ORDER BY 2, 1 LIMIT 3`,
  ),
  q(
    'document_5',
    `SELECT JSON_VALUE(data, '$.did') AS d, MAX(JSON_VALUE(data, '$.time_us' RETURNING BIGINT)) - MIN(JSON_VALUE(data, '$.time_us' RETURNING BIGINT)) AS span FROM documents WHERE JSON_VALUE(data, '$.commit.collection') = 'app.bsky.feed.post' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 3`,
    `SELECT json_extract_string(data, '$.did') AS d, MAX((json_extract_string(data, '$.time_us')::BIGINT)) - MIN((json_extract_string(data, '$.time_us')::BIGINT)) AS span FROM documents WHERE json_extract_string(data, '$.commit.collection') = 'app.bsky.feed.post' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 3`,
  ),
  q(
    'document_likes',
    `SELECT JSON_VALUE(data, '$.commit.record.langs[0]') AS l, SUM(JSON_VALUE(data, '$.commit.record.likes' RETURNING BIGINT)), COUNT(*) FROM documents GROUP BY 1 ORDER BY 2 DESC, 1`,
    `SELECT json_extract_string(data, '$.commit.record.langs[0]') AS l, SUM((json_extract_string(data, '$.commit.record.likes')::BIGINT)), COUNT(*) FROM documents GROUP BY 1 ORDER BY 2 DESC, 1`,
  ),
  q(
    'document_text',
    `SELECT COUNT(*) FROM documents WHERE JSON_VALUE(data, '$.commit.record.text') LIKE '%abc%'`,
    `SELECT COUNT(*) FROM documents WHERE json_extract_string(data, '$.commit.record.text') LIKE '%abc%'`,
  ),
  q(
    'document_keys',
    `SELECT COUNT(*) FROM documents WHERE JSON_VALUE(data, '$.commit.rev') IS NULL`,
    `SELECT COUNT(*) FROM documents WHERE json_extract_string(data, '$.commit.rev') IS NULL`,
  ),
];
