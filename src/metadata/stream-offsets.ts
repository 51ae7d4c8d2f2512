// Published positions in streams: what is stored of each supervisor's stream, and how it is moved on.

import { ServiceError } from '../base/errors.js';
import type { EpochMs } from '../base/instant.js';
import { isRecord, parseJson, stringifyJson } from '../base/json.js';
import { ObjectReader, readContextOf } from '../base/json-reader.js';
import type { StreamPublication } from '../model/publication.js';
import {
  advance,
  compareOffsets,
  continues,
  parsePosition,
  type StreamPosition,
  startAfter,
  without,
  writtenOffsets,
  writtenPosition,
} from '../model/stream/offsets.js';
import type { PublishedStream } from '../model/stream/reach.js';
import type { Queries } from './database.js';
import { bumpRevision } from './segments.js';
import { activeSupervisors } from './supervisors.js';

/** The published position of a supervisor's stream; undefined when nothing is published, or it was forgotten. */
export async function findOffsets(queries: Queries, supervisorId: string): Promise<StreamPosition | undefined> {
  const rows = await queries.rows<{ payload: string }>('SELECT payload FROM stream_offsets WHERE supervisor_id = ?', [supervisorId]);
  return rows[0] === undefined ? undefined : positionOf(rows[0].payload);
}

function positionOf(payload: string): StreamPosition {
  const fields = new ObjectReader(parseJson(payload), '', readContextOf('internal', 'stored offsets'));
  return parsePosition(fields.type(['kafka', 'kinesis']), fields.object('partitions'));
}

/** Rows of each supervisor's stream that are published, by the supervisor's id. */
export async function publishedStreams(queries: Queries): Promise<readonly PublishedStream[]> {
  const rows = await queries.rows<{ supervisor_id: string; data_source: string; payload: string; resets: number }>(
    `SELECT o.supervisor_id, o.data_source, o.payload, COALESCE(r.count, 0) AS resets
     FROM stream_offsets o LEFT JOIN stream_resets r ON r.supervisor_id = o.supervisor_id ORDER BY o.supervisor_id`,
  );
  if (rows.length === 0) return [];
  const running = new Set((await activeSupervisors(queries)).flatMap(({ id, document }) => (isSuspended(document) ? [] : [id])));
  return rows.map(({ supervisor_id: supervisorId, data_source: dataSource, payload, resets }) => {
    const { stream, offsets } = positionOf(payload);
    return { supervisorId, dataSource, stream, offsets, resets: Number(resets), isRunning: running.has(supervisorId) };
  });
}

function isSuspended(document: string | null): boolean {
  const spec = parseJson(document ?? '{}');
  return isRecord(spec) && spec['suspended'] === true;
}

/** Stores a position, in the form that the original stores. */
async function writeOffsets(queries: Queries, supervisorId: string, dataSource: string, position: StreamPosition): Promise<void> {
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
 * @throws ServiceError `conflict`: these rows are published already; `unavailable`: those before them are not yet
 */
export async function moveOffsets(queries: Queries, dataSource: string, { supervisorId, start, end }: StreamPublication): Promise<void> {
  const stored = await findOffsets(queries, supervisorId);
  if (stored !== undefined && !continues(stored, start)) throw mismatchOf(supervisorId, stored, start);
  await writeOffsets(queries, supervisorId, dataSource, advance(stored ?? null, startAfter(end)));
}

function mismatchOf(supervisorId: string, stored: StreamPosition, start: StreamPosition): ServiceError {
  if (stored.stream !== start.stream || stored.kind !== start.kind)
    return new ServiceError(
      'conflict',
      `the offsets stored for ${supervisorId} are of the stream ${stored.stream}, not of ${start.stream}`,
    );
  const faults: ServiceError[] = [];
  for (const [partition, offset] of start.offsets) {
    const known = stored.offsets.get(partition);
    const order = known === undefined ? 0 : compareOffsets(known, offset);
    const place = `partition ${partition} of ${start.stream} is published up to ${known}, and the rows begin at ${offset}`;
    if (order !== 0) faults.push(new ServiceError(order > 0 ? 'conflict' : 'unavailable', `${place}; nothing is published`));
  }
  const conflict = faults.find(({ code }) => code === 'conflict') ?? faults[0];
  return conflict ?? new ServiceError('conflict', `the offsets stored for ${supervisorId} are others`);
}

/** Stores where reading begins in partitions of which nothing is stored, so that what is published first must begin there. */
export async function claimOffsets(queries: Queries, supervisorId: string, dataSource: string, start: StreamPosition): Promise<void> {
  const stored = await findOffsets(queries, supervisorId);
  const isSame = stored !== undefined && stored.stream === start.stream && stored.kind === start.kind;
  const fresh = isSame ? without(start, stored.offsets.keys()) : start;
  if (fresh.offsets.size === 0) return;
  await writeOffsets(queries, supervisorId, dataSource, advance(isSame ? stored : null, fresh));
  // Brokers are told with the next snapshot.
  await bumpRevision(queries);
}

/**
 * Segments that a sequence was published with; undefined when it is not published.
 * @throws ServiceError `conflict`: it was published with another end
 */
export async function findSequence(queries: Queries, { sequence, end }: StreamPublication): Promise<readonly string[] | undefined> {
  const rows = await queries.rows<{ segment_ids: string; end_offsets: string | null }>(
    'SELECT segment_ids, end_offsets FROM stream_publications WHERE sequence = ?',
    [sequence],
  );
  const row = rows[0];
  if (row === undefined) return undefined;
  if (row.end_offsets !== null && row.end_offsets !== endText(end))
    throw new ServiceError('conflict', `the sequence ${sequence} is published already, and ended elsewhere`);
  return parseJson(row.segment_ids) as readonly string[];
}

/** The end of a sequence, the same however its partitions are ordered. */
function endText({ kind, offsets }: StreamPosition): string {
  return stringifyJson(writtenOffsets(kind, new Map([...offsets].sort(([left], [right]) => (left < right ? -1 : 1)))));
}

export async function noteSequence(
  queries: Queries,
  { supervisorId, sequence, end }: StreamPublication,
  taskId: string,
  ids: readonly string[],
  nowMs: EpochMs,
): Promise<void> {
  await queries.rows(
    `INSERT INTO stream_publications (sequence, supervisor_id, task_id, segment_ids, end_offsets, published_ms)
     VALUES (?, ?, ?, ?, ?, ?)`,
    [sequence, supervisorId, taskId, JSON.stringify(ids), endText(end), nowMs],
  );
}

/** Number of times that the offsets of a supervisor were set by hand. */
export async function countResets(queries: Queries, supervisorId: string): Promise<number> {
  const rows = await queries.rows<{ count: number }>('SELECT count FROM stream_resets WHERE supervisor_id = ?', [supervisorId]);
  return rows[0]?.count ?? 0;
}

/** Sets the stored position, null for none; sequences of tasks from before have other names than those from then on. */
export async function resetOffsets(
  queries: Queries,
  supervisorId: string,
  dataSource: string,
  position: StreamPosition | null,
): Promise<void> {
  if (position === null) await removeOffsets(queries, supervisorId);
  else await writeOffsets(queries, supervisorId, dataSource, position);
  await queries.rows(
    `INSERT INTO stream_resets (supervisor_id, count) VALUES (?, 1)
     ON CONFLICT (supervisor_id) DO UPDATE SET count = stream_resets.count + 1`,
    [supervisorId],
  );
  await bumpRevision(queries);
}
