// Published positions in streams: what is stored of each supervisor's stream, and how it is moved on.

import { ServiceError } from '../base/errors.js';
import type { EpochMs } from '../base/instant.js';
import { parseJson, stringifyJson } from '../base/json.js';
import { ObjectReader, readContextOf } from '../base/json-reader.js';
import type { StreamPublication } from '../model/publication.js';
import {
  advance,
  compareOffsets,
  continues,
  parsePosition,
  type StreamKind,
  type StreamPosition,
  startAfter,
  writtenPosition,
} from '../model/stream/offsets.js';
import type { Queries } from './database.js';

/** The published position of a supervisor's stream; undefined when nothing is published, or it was forgotten. */
export async function findOffsets(queries: Queries, supervisorId: string): Promise<StreamPosition | undefined> {
  const rows = await queries.rows<{ payload: string }>('SELECT payload FROM stream_offsets WHERE supervisor_id = ?', [supervisorId]);
  return rows[0] === undefined ? undefined : parseStored(rows[0].payload);
}

/** Stores a position, in the form that the original stores. */
export async function writeOffsets(queries: Queries, supervisorId: string, dataSource: string, position: StreamPosition): Promise<void> {
  const payload = stringifyJson({ type: position.kind, partitions: writtenPosition('start', position) });
  await queries.rows(
    `INSERT INTO stream_offsets (supervisor_id, data_source, payload) VALUES (?, ?, ?)
     ON CONFLICT (supervisor_id) DO UPDATE SET data_source = excluded.data_source, payload = excluded.payload`,
    [supervisorId, dataSource, payload],
  );
}

/** Forgets the position; false when there was none. */
export async function removeOffsets(queries: Queries, supervisorId: string): Promise<boolean> {
  const rows = await queries.rows('DELETE FROM stream_offsets WHERE supervisor_id = ? RETURNING supervisor_id', [supervisorId]);
  return rows.length > 0;
}

/**
 * Moves the stored offsets on from the start of a sequence to its end, in the transaction that publishes its segments.
 * @throws ServiceError `conflict`: the stored offsets are others
 */
export async function moveOffsets(queries: Queries, dataSource: string, { supervisorId, start, end }: StreamPublication): Promise<void> {
  const stored = await findOffsets(queries, supervisorId);
  if (stored !== undefined && !continues(stored, start)) throw new ServiceError('conflict', mismatchOf(supervisorId, stored, start));
  await writeOffsets(queries, supervisorId, dataSource, startAfter(advance(stored ?? null, end)));
}

function mismatchOf(supervisorId: string, stored: StreamPosition, start: StreamPosition): string {
  if (stored.stream !== start.stream)
    return `the offsets stored for ${supervisorId} are of the stream ${stored.stream}, not of ${start.stream}`;
  for (const [partition, offset] of start.offsets) {
    const known = stored.offsets.get(partition);
    if (known !== undefined && compareOffsets(known, offset) !== 0)
      return `partition ${partition} of ${start.stream} is published up to ${known}, and the task began at ${offset}; nothing is published`;
  }
  return `the offsets stored for ${supervisorId} are others`;
}

/** Segments that a sequence was published with; undefined when it is not published. */
export async function findSequence(queries: Queries, sequence: string): Promise<readonly string[] | undefined> {
  const rows = await queries.rows<{ segment_ids: string }>('SELECT segment_ids FROM stream_publications WHERE sequence = ?', [sequence]);
  if (rows[0] === undefined) return undefined;
  return parseJson(rows[0].segment_ids) as readonly string[];
}

/** Whether a task has published a sequence. */
export async function hasPublishedSequence(queries: Queries, taskId: string): Promise<boolean> {
  return (await queries.rows('SELECT 1 FROM stream_publications WHERE task_id = ? LIMIT 1', [taskId])).length > 0;
}

export async function noteSequence(
  queries: Queries,
  { supervisorId, sequence }: StreamPublication,
  taskId: string,
  ids: readonly string[],
  nowMs: EpochMs,
): Promise<void> {
  await queries.rows(
    'INSERT INTO stream_publications (sequence, supervisor_id, task_id, segment_ids, published_ms) VALUES (?, ?, ?, ?, ?)',
    [sequence, supervisorId, taskId, JSON.stringify(ids), nowMs],
  );
}

function parseStored(payload: string): StreamPosition {
  const fields = new ObjectReader(parseJson(payload), '', readContextOf('internal', 'stored offsets'));
  const kind: StreamKind = fields.type(['kafka', 'kinesis']);
  return parsePosition(kind, fields.object('partitions'));
}
