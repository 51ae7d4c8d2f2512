// Segments that sequences of rows were given before they are published.

import type { EpochMs, Interval } from '../base/instant.js';
import type { SegmentId } from '../model/segment.js';
import type { Queries } from './database.js';

/** The segment of a sequence, and the time chunk that it was asked for. */
export interface PendingSegment {
  readonly sequence: string;
  readonly asked: Interval;
  readonly id: SegmentId;
}

interface PendingRow {
  readonly data_source: string;
  readonly start_ms: EpochMs;
  readonly end_ms: EpochMs;
  readonly version: string;
  readonly partition_number: number;
}

/** The segment that a sequence was given for a time chunk. */
export async function findPending(
  queries: Queries,
  dataSource: string,
  { sequence, asked }: Omit<PendingSegment, 'id'>,
): Promise<SegmentId | undefined> {
  const rows = await queries.rows<PendingRow>(
    'SELECT * FROM pending_segments WHERE data_source = ? AND sequence = ? AND asked_start_ms = ? AND asked_end_ms = ?',
    [dataSource, sequence, asked.start, asked.end],
  );
  return rows[0] === undefined ? undefined : idOf(rows[0]);
}

/** The newest version of pending segments of exactly this chunk. */
export async function pendingVersion(queries: Queries, dataSource: string, { start, end }: Interval): Promise<string | undefined> {
  const rows = await queries.rows<{ version: string | null }>(
    'SELECT MAX(version) AS version FROM pending_segments WHERE data_source = ? AND start_ms = ? AND end_ms = ?',
    [dataSource, start, end],
  );
  return rows[0]?.version ?? undefined;
}

export async function insertPending(queries: Queries, { sequence, asked, id }: PendingSegment, nowMs: EpochMs): Promise<void> {
  await queries.rows(
    `INSERT INTO pending_segments
       (data_source, sequence, asked_start_ms, asked_end_ms, start_ms, end_ms, version, partition_number, created_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [id.dataSource, sequence, asked.start, asked.end, id.interval.start, id.interval.end, id.version, id.partitionNumber, nowMs],
  );
}

/** Removes those of a datasource that are older: whoever read their sequences is done, or will not go on. */
export async function removePendingBefore(queries: Queries, dataSource: string, beforeMs: EpochMs): Promise<void> {
  await queries.rows('DELETE FROM pending_segments WHERE data_source = ? AND created_ms < ?', [dataSource, beforeMs]);
}

function idOf({ data_source, start_ms, end_ms, version, partition_number }: PendingRow): SegmentId {
  return { dataSource: data_source, interval: { start: start_ms, end: end_ms }, version, partitionNumber: partition_number };
}
