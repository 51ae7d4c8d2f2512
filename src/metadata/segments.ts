// Segments in the metadata store, and the revision of them.

import type { EpochMs, Interval } from '../base/instant.js';
import { joinNearby, liesWithin } from '../base/interval.js';
import { append } from '../base/lists.js';
import { LoopTurns } from '../base/loop-turns.js';
import type { SegmentDescriptor } from '../model/segment.js';
import { noteIdText, segmentIdText } from '../model/segment-id.js';
import { type Binding, placeholders, type Queries } from './database.js';
import { noteKilled, type PartitionRow } from './killed-partitions.js';
import { withCountsApart, withSharedParts } from './shared-parts.js';
import { visibleSegments } from './timeline.js';

interface SegmentRow {
  readonly id: string;
  readonly payload: string;
}

/** Rows per INSERT; SQLite takes 32,766 placeholders. */
const ROWS_PER_INSERT = 200;
/** Ids per IN list. */
const IDS_PER_STATEMENT = 500;

export async function currentRevision(queries: Queries): Promise<number> {
  const rows = await queries.rows<{ value: number }>('SELECT value FROM revision');
  return rows[0]?.value ?? 0;
}

/** Raises the revision, once in every transaction that changes which segments are used. Returns the new one. */
export async function bumpRevision(queries: Queries): Promise<number> {
  const rows = await queries.rows<{ value: number }>('UPDATE revision SET value = value + 1 RETURNING value');
  return rows[0]?.value ?? 0;
}

export async function insertSegments(
  queries: Queries,
  segments: readonly SegmentDescriptor[],
  nowMs: EpochMs,
  revision: number,
): Promise<void> {
  for (let from = 0; from < segments.length; from += ROWS_PER_INSERT) {
    const batch = segments.slice(from, from + ROWS_PER_INSERT);
    const bindings = batch.flatMap((segment): Binding[] => [
      segmentIdText(segment.id),
      segment.id.dataSource,
      segment.id.interval.start,
      segment.id.interval.end,
      segment.id.version,
      segment.id.partitionNumber,
      segment.loadSpec.path,
      JSON.stringify(segment),
      nowMs,
      nowMs,
      revision,
    ]);
    await queries.rows(
      `INSERT INTO segments (id, data_source, start_ms, end_ms, version, partition_number, used, load_path, payload, created_ms, used_changed_ms, revision)
       VALUES ${batch.map(() => '(?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?)').join(', ')}`,
      bindings,
    );
  }
}

export interface SegmentChange {
  readonly id: string;
  readonly dataSource: string;
  readonly used: boolean;
  /** undefined: it cannot be read. */
  readonly segment: SegmentDescriptor | undefined;
  /** Interval from columns of their own; null when they cannot be read. */
  readonly interval: Interval | null;
  readonly version: string | null;
}

/** Rows that are read at a time: parsing their documents holds up the event loop. */
const CHANGES_PER_READ = 200;

/**
 * Segments inserted, or marked used or unused, after one revision and up to another; from 0 on, every used one. They come
 * in parts, between which others may write: those that are written meanwhile have a newer revision and may be missing.
 */
export async function* segmentsChanged(queries: Queries, after: number, upTo: number): AsyncGenerator<readonly SegmentChange[]> {
  type Row = SegmentRow & { used: number; data_source: string; start_ms: unknown; end_ms: unknown; version: unknown; revision: number };
  // Signed, `used` leads to no index: SQLite would read and sort all that is left by one of its indices for each part.
  const read = (revision: number, id: string): Promise<readonly Row[]> =>
    queries.rows<Row>(
      `SELECT id, data_source, used, payload, start_ms, end_ms, version, revision FROM segments
       WHERE (revision, id) > (?, ?) AND revision <= ? ${after === 0 ? 'AND +used = 1' : ''}
       ORDER BY revision, id LIMIT ${CHANGES_PER_READ}`,
      [revision, id, upTo],
    );
  for (let coming: Promise<readonly Row[]> | undefined = read(after + 1, ''); coming !== undefined; ) {
    const rows: readonly Row[] = await coming;
    const last = rows.at(-1);
    // The store reads the next part while the documents of this one are parsed.
    coming = last === undefined || rows.length < CHANGES_PER_READ ? undefined : read(last.revision, last.id);
    // Who fails on this part, or wants no other one, does not hear of it.
    coming?.catch(() => undefined);
    yield rows.map((row) => ({
      id: row.id,
      dataSource: row.data_source,
      used: row.used === 1,
      segment: readDescriptor(queries, row),
      interval: readInterval(row.start_ms, row.end_ms),
      version: typeof row.version === 'string' ? row.version : null,
    }));
  }
}

export interface SegmentSelection {
  readonly dataSource?: string;
  readonly used?: boolean;
  /** Segments that share an instant with it. */
  readonly overlapping?: Interval;
  /** Segments that lie inside it. */
  readonly within?: Interval;
}

export async function selectSegments(queries: Queries, selection: SegmentSelection): Promise<readonly SegmentDescriptor[]> {
  return (await selectReadable(queries, selection)).segments;
}

/** The segments, and the ids of those whose documents cannot be read. */
export async function selectReadable(
  queries: Queries,
  selection: SegmentSelection,
): Promise<{ readonly segments: readonly SegmentDescriptor[]; readonly unreadable: readonly string[] }> {
  const { where, bindings } = await conditionOf(queries, selection);
  const rows = await queries.rows<SegmentRow>(
    `SELECT id, payload FROM segments WHERE ${where} ORDER BY data_source, start_ms, version, partition_number`,
    bindings,
  );
  const turns = new LoopTurns();
  const segments: SegmentDescriptor[] = [];
  const unreadable: string[] = [];
  for (const row of rows) {
    if (turns.isDue) await turns.give();
    const segment = readDescriptor(queries, row);
    if (segment === undefined) unreadable.push(row.id);
    else segments.push(segment);
  }
  return { segments, unreadable };
}

export async function findSegment(
  queries: Queries,
  id: string,
): Promise<{ readonly segment: SegmentDescriptor; readonly used: boolean } | undefined> {
  const rows = await queries.rows<SegmentRow & { used: number }>('SELECT id, payload, used FROM segments WHERE id = ?', [id]);
  const row = rows[0];
  const segment = row && readDescriptor(queries, row);
  return row === undefined || segment === undefined ? undefined : { segment, used: row.used === 1 };
}

/** The first of these ids that is not that of a used segment. */
export async function firstUnused(queries: Queries, ids: readonly string[]): Promise<string | undefined> {
  for (let from = 0; from < ids.length; from += IDS_PER_STATEMENT) {
    const batch = ids.slice(from, from + IDS_PER_STATEMENT);
    const rows = await queries.rows<{ id: string }>(`SELECT id FROM segments WHERE used = 1 AND id IN (${placeholders(batch)})`, batch);
    const used = new Set(rows.map(({ id }) => id));
    const unused = batch.find((id) => !used.has(id));
    if (unused !== undefined) return unused;
  }
  return undefined;
}

/** Names with at least one segment, or at least one used segment; sorted. */
export async function dataSourceNames(queries: Queries, only: 'used' | 'all'): Promise<readonly string[]> {
  const rows = await queries.rows<{ data_source: string }>(
    `SELECT DISTINCT data_source FROM segments ${only === 'used' ? 'WHERE used = 1' : ''} ORDER BY data_source`,
  );
  return rows.map((row) => row.data_source);
}

/** Target of a mark call: everything, the segments inside an interval, or these ids. */
export type MarkTarget =
  | { readonly kind: 'all' }
  | { readonly kind: 'within'; readonly interval: Interval }
  | { readonly kind: 'ids'; readonly ids: readonly string[] };

/** Marks used segments unused; returns how many changed. Bumps the revision when some did. */
export async function markUnused(queries: Queries, dataSource: string, target: MarkTarget, nowMs: EpochMs): Promise<number> {
  const ids = await targetIds(queries, dataSource, target, true);
  return changeUse(queries, ids, false, nowMs);
}

/**
 * Marks the used segments inside of the intervals unused for good: a publish takes their place, even if by nothing.
 * @param intervals  condensed
 */
export async function markReplaced(queries: Queries, dataSource: string, intervals: readonly Interval[], nowMs: EpochMs): Promise<void> {
  const ids: string[] = [];
  for (const within of joinNearby(intervals)) {
    const { where, bindings } = await conditionOf(queries, { dataSource, used: true, within });
    const rows = await queries.rows<{ id: string; start_ms: number; end_ms: number }>(
      `SELECT id, start_ms, end_ms FROM segments WHERE ${where}`,
      bindings,
    );
    for (const { id, start_ms, end_ms } of rows) if (liesWithin(intervals, { start: start_ms, end: end_ms })) ids.push(id);
  }
  await changeUse(queries, ids, false, nowMs);
  for (let from = 0; from < ids.length; from += IDS_PER_STATEMENT) {
    const batch = ids.slice(from, from + IDS_PER_STATEMENT);
    await queries.rows(`UPDATE segments SET replaced = 1 WHERE id IN (${placeholders(batch)})`, batch);
  }
}

/**
 * Marks unused segments used, but not those that a used newer version would hide at once, and those that were replaced only by
 * their ids; returns how many changed.
 */
export async function markUsed(queries: Queries, dataSource: string, target: MarkTarget, nowMs: EpochMs): Promise<number> {
  const ids = new Set(await targetIds(queries, dataSource, target, false));
  if (ids.size === 0) return 0;
  const unused = (await selectSegments(queries, { dataSource, used: false })).filter((segment) => ids.has(segmentIdText(segment.id)));
  const used = await selectSegments(queries, { dataSource, used: true });
  const visible = new Set(visibleSegments([...used, ...unused]).map((segment) => segmentIdText(segment.id)));
  return changeUse(
    queries,
    [...ids].filter((id) => visible.has(id)),
    true,
    nowMs,
  );
}

/** Unused segments that may be removed. */
export interface UnusedSelection {
  readonly dataSource: string;
  readonly interval: Interval;
  /** null or left out: of any version. */
  readonly versions?: readonly string[] | null;
  /** null or left out: unused since any time. */
  readonly unusedByMs?: EpochMs | null;
}

function unusedCondition({ dataSource, interval, versions, unusedByMs }: UnusedSelection): { where: string; bindings: Binding[] } {
  const conditions = ['used = 0 AND data_source = ? AND start_ms >= ? AND end_ms <= ?'];
  const bindings: Binding[] = [dataSource, interval.start, interval.end];
  if (versions !== null && versions !== undefined) {
    conditions.push(`version IN (${placeholders(versions)})`);
    append(bindings, versions);
  }
  if (unusedByMs !== null && unusedByMs !== undefined) {
    conditions.push('used_changed_ms <= ?');
    bindings.push(unusedByMs);
  }
  return { where: conditions.join(' AND '), bindings };
}

/** Intervals of unused segments, of the earliest ones first. */
export async function unusedIntervals(queries: Queries, selection: UnusedSelection, countMax: number): Promise<readonly Interval[]> {
  const { where, bindings } = unusedCondition(selection);
  const rows = await queries.rows<{ start_ms: number; end_ms: number }>(
    `SELECT start_ms, end_ms FROM segments WHERE ${where} ORDER BY start_ms, end_ms LIMIT ?`,
    [...bindings, countMax],
  );
  return rows.map(({ start_ms, end_ms }) => ({ start: start_ms, end: end_ms }));
}

/**
 * Removes the rows of unused segments inside the interval and tells where those of their files are that no other segment has,
 * which are the caller's to remove.
 */
export async function deleteUnused(
  queries: Queries,
  selection: UnusedSelection,
  countMax: number,
): Promise<{ readonly count: number; readonly files: readonly SegmentDescriptor['loadSpec'][] }> {
  const { where, bindings } = unusedCondition(selection);
  const rows = await queries.rows<SegmentRow & PartitionRow & { load_path: string }>(
    `DELETE FROM segments WHERE id IN (SELECT id FROM segments WHERE ${where} ORDER BY start_ms, id LIMIT ?)
     RETURNING id, payload, load_path, data_source, start_ms, end_ms, version, partition_number`,
    [...bindings, countMax],
  );
  await noteKilled(queries, selection.dataSource, rows);
  // The path is a column of its own: a payload that cannot be read keeps no file from being found.
  const files = rows.map((row) => readDescriptor(queries, row)?.loadSpec ?? { type: 'local', path: row.load_path });
  const paths = files.map(({ path }) => path);
  // One that was carried along to a new version has the file of the one before.
  const shared = await referencedPaths(queries, paths);
  // Tombstones have none.
  return { count: rows.length, files: files.filter(({ path }) => path !== '' && !shared.has(path)) };
}

/** The deep storage paths that some segment, used or not, refers to. */
export async function referencedPaths(queries: Queries, paths: readonly string[]): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (let from = 0; from < paths.length; from += IDS_PER_STATEMENT) {
    const batch = paths.slice(from, from + IDS_PER_STATEMENT);
    const rows = await queries.rows<{ load_path: string }>(
      `SELECT load_path FROM segments WHERE load_path IN (${placeholders(batch)})`,
      batch,
    );
    for (const row of rows) found.add(row.load_path);
  }
  return found;
}

/** Sets `used` of these ids where it differs; bumps the revision when any did. */
async function changeUse(queries: Queries, ids: readonly string[], used: boolean, nowMs: EpochMs): Promise<number> {
  if (ids.length === 0) return 0;
  const revision = await bumpRevision(queries);
  let changed = 0;
  for (let from = 0; from < ids.length; from += IDS_PER_STATEMENT) {
    const batch = ids.slice(from, from + IDS_PER_STATEMENT);
    const rows = await queries.rows<{ id: string }>(
      `UPDATE segments SET used = ?, used_changed_ms = ?, revision = ? WHERE used = ? AND id IN (${placeholders(batch)}) RETURNING id`,
      [used ? 1 : 0, nowMs, revision, used ? 0 : 1, ...batch],
    );
    changed += rows.length;
  }
  return changed;
}

async function targetIds(queries: Queries, dataSource: string, target: MarkTarget, used: boolean): Promise<readonly string[]> {
  const selection = { dataSource, used, ...(target.kind === 'within' ? { within: target.interval } : {}) };
  const { where, bindings } = await conditionOf(queries, selection);
  if (target.kind !== 'ids') return idsWhere(queries, used ? where : `${where} AND replaced = 0`, bindings);
  const found: string[] = [];
  for (let from = 0; from < target.ids.length; from += IDS_PER_STATEMENT) {
    const batch = target.ids.slice(from, from + IDS_PER_STATEMENT);
    append(found, await idsWhere(queries, `${where} AND id IN (${placeholders(batch)})`, [...bindings, ...batch]));
  }
  return found;
}

async function idsWhere(queries: Queries, where: string, bindings: readonly Binding[]): Promise<readonly string[]> {
  return (await queries.rows<{ id: string }>(`SELECT id FROM segments WHERE ${where}`, bindings)).map(({ id }) => id);
}

async function conditionOf(queries: Queries, selection: SegmentSelection): Promise<{ where: string; bindings: Binding[] }> {
  const { used, dataSource, overlapping, within } = selection;
  const conditions: string[] = ['1 = 1'];
  const bindings: Binding[] = [];
  const add = (condition: string, ...values: Binding[]) => {
    conditions.push(condition);
    append(bindings, values);
  };
  if (used !== undefined) add('used = ?', used ? 1 : 0);
  if (dataSource !== undefined) add('data_source = ?', dataSource);
  if (overlapping !== undefined) {
    const { start, end } = overlapping;
    add('start_ms < ? AND end_ms > ?', end, start);
    // With its lower bound the index finds them; without, it reads all that begin earlier.
    if (used !== undefined && dataSource !== undefined) add('start_ms >= ?', start - (await longestInterval(queries, dataSource, used)));
  }
  if (within !== undefined) add('start_ms >= ? AND end_ms <= ?', within.start, within.end);
  return { where: conditions.join(' AND '), bindings };
}

/** Expression of the index: the length of all time is more than 64 bits hold. */
const LENGTH = 'CAST(end_ms AS DOUBLE PRECISION) - CAST(start_ms AS DOUBLE PRECISION)';

/** Milliseconds; 0 of no segments. */
async function longestInterval(queries: Queries, dataSource: string, used: boolean): Promise<number> {
  const rows = await queries.rows<{ length: number }>(
    `SELECT ${LENGTH} AS length FROM segments WHERE used = ? AND data_source = ? ORDER BY ${LENGTH} DESC LIMIT 1`,
    [used ? 1 : 0, dataSource],
  );
  return rows[0]?.length ?? 0;
}

function readInterval(start: unknown, end: unknown): Interval | null {
  return typeof start === 'number' && typeof end === 'number' && start < end ? { start, end } : null;
}

/** Descriptor that `insertSegments` wrote; undefined when the row is set aside. */
function readDescriptor(queries: Queries, { id, payload }: SegmentRow): SegmentDescriptor | undefined {
  return queries.faults.read({ table: 'segments', column: 'payload', key: id }, payload, (value) => parseDescriptor(value, id));
}

function parseDescriptor(value: unknown, id: string): SegmentDescriptor {
  // The id is printed of nearly all that the timeline reads: a payload that prints it is that of the row.
  const descriptor = value as SegmentDescriptor;
  const lists = [descriptor.columns, descriptor.dimensions, descriptor.metrics];
  const counts = [descriptor.sizeBytes, descriptor.rowCount, descriptor.shardSpec.partitions, descriptor.id.partitionNumber];
  if (segmentIdText(descriptor.id) !== id) throw new Error('it is the document of another segment');
  if (typeof descriptor.loadSpec.path !== 'string' || !lists.every(Array.isArray) || !counts.every(Number.isInteger))
    throw new Error('it is not the document of a segment');
  const segment = withSharedParts(withCountsApart(descriptor));
  if (!areCounts(segment)) throw new Error('its counts of different values are not those of its columns');
  noteIdText(segment, id);
  return segment;
}

/** Whether each column has a count of different values, or none has. */
function areCounts({ columns, distinctCounts }: SegmentDescriptor): boolean {
  if (distinctCounts === undefined) return true;
  return Array.isArray(distinctCounts) && distinctCounts.length === columns.length && distinctCounts.every(isCount);
}

function isCount(count: number): boolean {
  return Number.isInteger(count) && count >= -1 && count < 2 ** 31;
}
