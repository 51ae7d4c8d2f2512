// Partition numbers of segments that were removed for good, which are not given again.

import type { EpochMs } from '../base/instant.js';
import type { Queries } from './database.js';

/** Place of a segment in its chunk, as the columns of its row have it. */
export interface PartitionRow {
  readonly data_source: string;
  readonly start_ms: EpochMs;
  readonly end_ms: EpochMs;
  readonly version: string;
  readonly partition_number: number;
}

/**
 * Notes the numbers of removed segments for as long as others of their chunk are there: a later segment of the same id would be taken
 * for them, by caches of results for one. A chunk of which nothing is left is never joined again, since versions only grow.
 */
export async function noteKilled(queries: Queries, dataSource: string, removed: readonly PartitionRow[]): Promise<void> {
  for (const { start_ms, end_ms, version, partition_number } of removed)
    await queries.rows(
      `INSERT INTO killed_partitions (data_source, start_ms, end_ms, version, last) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (data_source, start_ms, end_ms, version)
       DO UPDATE SET last = CASE WHEN excluded.last > killed_partitions.last THEN excluded.last ELSE killed_partitions.last END`,
      [dataSource, start_ms, end_ms, version, partition_number],
    );
  await queries.rows(
    `DELETE FROM killed_partitions WHERE data_source = ? AND NOT EXISTS (
       SELECT 1 FROM segments WHERE used IN (0, 1) AND segments.data_source = killed_partitions.data_source
         AND segments.start_ms = killed_partitions.start_ms AND segments.end_ms = killed_partitions.end_ms
         AND segments.version = killed_partitions.version)`,
    [dataSource],
  );
}

/**
 * Highest number ever given in each chunk that begins in the interval, by its segments, used or not, those that were removed, and those
 * that are pending.
 */
export async function highestPartitions(
  queries: Queries,
  dataSource: string,
  { start, end }: { readonly start: EpochMs; readonly end: EpochMs },
): Promise<readonly PartitionRow[]> {
  return queries.rows<PartitionRow>(
    `SELECT data_source, start_ms, end_ms, version, MAX(number) AS partition_number FROM (
       SELECT data_source, start_ms, end_ms, version, partition_number AS number FROM segments
         WHERE used IN (0, 1) AND data_source = ? AND start_ms >= ? AND start_ms < ?
       UNION ALL
       SELECT data_source, start_ms, end_ms, version, last AS number FROM killed_partitions
         WHERE data_source = ? AND start_ms >= ? AND start_ms < ?
       UNION ALL
       SELECT data_source, start_ms, end_ms, version, partition_number AS number FROM pending_segments
         WHERE data_source = ? AND start_ms >= ? AND start_ms < ?) AS numbers
     GROUP BY data_source, start_ms, end_ms, version`,
    [dataSource, start, end, dataSource, start, end, dataSource, start, end],
  );
}
