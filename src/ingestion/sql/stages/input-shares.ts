// Divides the input of a statement over workers.

import { ObjectReader, readContextOf } from '../../../base/json-reader.js';
import type { RowsPlan } from '../../../model/row-source.js';
import type { SegmentSlice } from '../../../model/segment.js';
import type { PlannedQuery } from '../../../model/statement.js';
import type { TaskContext } from '../../contract.js';
import { parseInputFormat } from '../../format/input-format.js';
import { inputParts, parseInputSource } from '../../source/input-source.js';
import { lineRanges } from '../../source/line-range.js';
import { type InputPart, isStored } from '../../source/source-kind.js';
import { QueryFault } from '../query-fault.js';
import type { QuerySettings } from '../query-settings.js';
import type { InputShare, SharedPart } from './contract.js';

/** Bytes and files that `taskAssignment: auto` gives to one worker. */
const AUTO_BYTES = 512 * 2 ** 20;
const AUTO_FILES = 10_000;
/** Bytes of a file that are worth a share of their own. */
const RANGE_BYTES_MIN = 1 << 20;

interface Piece<Item> {
  readonly item: Item;
  /** null: not known. */
  readonly size: number | null;
}

/** The input in one share for each worker that is worth having; a single one where it cannot be divided. */
export async function inputShares(
  query: PlannedQuery,
  context: TaskContext,
  { workers, taskAssignment, maxInputFilesPerWorker }: QuerySettings,
): Promise<readonly InputShare[]> {
  const { source, plan } = query;
  if (workers === 1) return [{ kind: 'all' }];
  if (source.kind === 'external') {
    const fields = new ObjectReader(source.inputSource, 'EXTERN inputSource', readContextOf('input_invalid', 'EXTERN'));
    const parts = await inputParts(parseInputSource(fields), context);
    if (parts.some(isStored)) return [{ kind: 'all' }];
    const whole = parts.map((part, at) => ({ item: { at, name: part.name, range: null }, size: isStored(part) ? null : part.sizeBytes }));
    const count = taskAssignment === 'auto' ? workersFor(whole, workers) : workers;
    const format = new ObjectReader(source.inputFormat, 'EXTERN inputFormat', readContextOf('input_invalid', 'EXTERN'));
    const pieces = count > 1 && parseInputFormat(format).isByLine ? await piecesByLine(parts, count) : whole;
    const shares = divide(pieces, count);
    checkFiles(shares, parts.length, maxInputFilesPerWorker);
    return shares.map((shared) => ({ kind: 'parts', parts: shared }));
  }
  if (source.kind !== 'table' || !isDivisible(plan)) return [{ kind: 'all' }];
  const pieces = (await context.visibleSegments(source.name, plan.intervals)).flatMap(({ segment, visible }) => {
    const { version, partitionNumber, interval: whole } = segment.id;
    return visible.map((interval): Piece<SegmentSlice> => {
      const share = (interval.end - interval.start) / (whole.end - whole.start);
      return { item: { interval, version, partitionNumber }, size: segment.sizeBytes * share };
    });
  });
  if (pieces.length === 0) return [{ kind: 'all' }];
  const shares = divide(pieces, taskAssignment === 'auto' ? workersFor(pieces, workers) : workers);
  checkFiles(shares, pieces.length, maxInputFilesPerWorker);
  return shares.map((segments) => ({ kind: 'segments', segments }));
}

/** Whether a plan over a table can be run segment by segment: for rows in any order, or for parts of groups. */
function isDivisible(plan: RowsPlan): boolean {
  if (plan.operator === 'timeBoundary' || plan.segments !== undefined) return false;
  return plan.operator === 'group' ? plan.withinData !== true : plan.timeOrder === null;
}

/** Files of lines in ranges, so that all workers have about as much to read. */
async function piecesByLine(parts: readonly InputPart[], workers: number): Promise<readonly Piece<SharedPart>[]> {
  const total = parts.reduce((sum, part) => sum + (isStored(part) ? 0 : (part.sizeBytes ?? 0)), 0);
  const bytesMin = Math.max(RANGE_BYTES_MIN, Math.floor(total / workers));
  const pieces: Piece<SharedPart>[] = [];
  for (const [at, part] of parts.entries()) {
    const { name } = part;
    const ranges = isStored(part) ? null : await lineRanges(part, bytesMin);
    if (ranges === null) pieces.push({ item: { at, name, range: null }, size: isStored(part) ? null : part.sizeBytes });
    else for (const range of ranges) pieces.push({ item: { at, name, range }, size: range.to - range.from });
  }
  return pieces;
}

/** The fewest workers that keep each below the bytes and files of one, where all sizes are known; else all of them. */
function workersFor(pieces: readonly Piece<unknown>[], workers: number): number {
  let total = 0;
  for (const { size } of pieces) {
    if (size === null) return workers;
    total += size;
  }
  return Math.min(workers, Math.max(1, Math.ceil(total / AUTO_BYTES), Math.ceil(pieces.length / AUTO_FILES)));
}

/** Largest first, each to the share that has least; shares of nothing are left out. */
export function divide<Item>(pieces: readonly Piece<Item>[], count: number): readonly (readonly Item[])[] {
  const known = pieces.flatMap(({ size }) => size ?? []);
  const usual = known.length === 0 ? 1 : known.reduce((sum, size) => sum + size, 0) / known.length;
  const sizes = pieces.map(({ size }) => size ?? usual);
  const order = pieces.map((_, at) => at).sort((a, b) => (sizes[b] ?? 0) - (sizes[a] ?? 0) || a - b);
  const shares = Array.from({ length: Math.min(count, pieces.length) }, () => ({ size: 0, at: [] as number[] }));
  for (const at of order) {
    const least = shares.reduce((best, share) =>
      share.size < best.size || (share.size === best.size && share.at.length < best.at.length) ? share : best,
    );
    least.size += sizes[at] ?? 0;
    least.at.push(at);
  }
  return shares.map((share) => share.at.sort((a, b) => a - b).flatMap((at) => (pieces[at] === undefined ? [] : [pieces[at].item])));
}

function checkFiles(shares: readonly (readonly unknown[])[], numInputFiles: number, maxInputFiles: number): void {
  if (shares.every((share) => share.length <= maxInputFiles)) return;
  throw new QueryFault(
    'resource_limit',
    `the input has ${numInputFiles} files or segments, more than ${shares.length} workers may read of ${maxInputFiles} each (context.maxInputFilesPerWorker); raise context.maxNumTasks`,
    { errorCode: 'TooManyInputFiles', numInputFiles, maxInputFiles, minNumWorker: Math.ceil(numInputFiles / maxInputFiles) },
  );
}
