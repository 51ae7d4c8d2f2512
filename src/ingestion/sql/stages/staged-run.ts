// Runs a statement stage by stage: in one pass where one worker reads the input, else by workers that shuffle rows between stages.

import { ObjectReader, readContextOf } from '../../../base/json-reader.js';
import type { Frame } from '../../../model/frame.js';
import type { PushedSegment } from '../../../model/publication.js';
import type { PartitionKey } from '../../../model/segment.js';
import { sqlTimeZone } from '../../../planner/sql/context.js';
import { compareKeys } from '../../builder/range-bounds.js';
import type { TaskContext } from '../../contract.js';
import type { QueryReport } from '../../report/query-report.js';
import type { StageCounts } from '../../report/stage-report.js';
import { writeRowFiles } from '../export/row-files.js';
import type { ExportFolder } from '../export-files.js';
import { checkRowSizes, type ExportStatement, named, type WriteStatement } from '../output-rows.js';
import { parseQuerySpec, plannedQuery, type QueryTask } from '../query-task.js';
import { checkBucketCount, partitionsOf, writeSegments } from '../write-segments.js';
import { chunkBounds } from './chunk-samples.js';
import type { PartitionSlice, Shuffle, StageOutput, WorkOrder, WorkResult } from './contract.js';
import { partitionsIn, stageFrames, wholePartition } from './durable-output.js';
import { divide, inputShares } from './input-shares.js';
import { depthOf, planParts, planPartsOfAll, queryAt } from './plan-parts.js';
import { shareRows } from './read-rows.js';
import { type Reading, stageClock } from './reading.js';
import { wholeGroups } from './whole-groups.js';
import { countsOf, finished, openReading, readExported, readSamples, readSegments, tooManyWarnings } from './work.js';
import { Workers } from './workers.js';

/** Buckets of groups for each worker: one of them is in memory at a time. */
const BUCKETS_PER_WORKER = 8;
/** Rows of a subquery for each worker that reads them. */
const ROWS_OF_READER = 1 << 16;

export class StagedRun {
  readonly task: QueryTask;
  readonly #context: TaskContext;
  readonly #report: QueryReport;
  readonly #workers: Workers;
  /** Orders of the first stage; one: the controller does all of the work in one pass. */
  readonly #reads: readonly WorkOrder[];
  readonly #reading: Reading;
  #stages = 0;

  private constructor(task: QueryTask, context: TaskContext, report: QueryReport, workers: Workers, reads: readonly WorkOrder[]) {
    this.task = task;
    this.#context = context;
    this.#report = report;
    this.#workers = workers;
    this.#reads = reads;
    this.#reading = openReading(task, context);
    report.workers = () => workers.runs;
  }

  /** @param given  the statement; where an earlier run has given orders, it is planned at the instant of that one */
  static async open(given: QueryTask, context: TaskContext, report: QueryReport): Promise<StagedRun> {
    const workers = new Workers(context);
    const earlier = await workers.earlierOrders(0);
    if (earlier !== null) {
      const fields = new ObjectReader(given.statementSpec, 'spec', readContextOf('input_invalid', 'the task'));
      const task = parseQuerySpec(fields, earlier.nowMs);
      context.log(`an earlier run has divided the input over ${earlier.orders.length} workers`);
      return new StagedRun(task, context, report, workers, earlier.orders);
    }
    const level = depthOf(plannedQuery(given));
    const shares = await inputShares(queryAt(plannedQuery(given), level), context, given.settings);
    // One reader shuffles nothing.
    const shuffle: Shuffle = shares.length === 1 ? { kind: 'none' } : readShuffle(given, level, shares.length);
    const reads = shares.map((share, worker): WorkOrder => ({ stage: 0, worker, level, kind: 'read', share, shuffle }));
    return new StagedRun(given, context, report, workers, reads);
  }

  /** The rows of the result, in the order of the columns of the statement. */
  async rows(): Promise<AsyncGenerator<Frame>> {
    this.#reading.progress.phase('reading');
    if (this.#reads.length === 1) return this.#rowsHere();
    return stageFrames(await this.#rowStages(), [wholePartition(0)], this.#context.storage);
  }

  /** Fills the folder of an export; gives the rows that its files have. */
  async exported(statement: ExportStatement, folder: ExportFolder): Promise<number> {
    this.#reading.progress.phase('reading');
    if (this.#reads.length === 1) return this.#exportedHere(statement, folder);
    const { storage } = this.#context;
    const results = await this.#rowResults();
    let rowCount = 0;
    this.#report.beginStage('write', 1, async () => [{ rowsIn: rowCount, rowsOut: rowCount }]);
    for (const [worker, result] of results.entries())
      for (const part of await readExported(result, this.#context)) {
        await storage.pull(part.loadSpec, folder.next(worker));
        rowCount += part.rowCount;
      }
    this.#report.endStage('write', [{ rowsIn: rowCount, rowsOut: rowCount }]);
    return rowCount;
  }

  /** The segments that the rows make, in durable storage. */
  async segments(statement: WriteStatement): Promise<readonly PushedSegment[]> {
    this.#reading.progress.phase('reading');
    if (this.#reads.length === 1) return this.#segmentsHere(statement);
    const rows = await this.#rowResults();
    const inputs = outputsOf(rows);
    const chunks = await partitionsIn(inputs, this.#context.storage);
    checkBucketCount(chunks.length);
    this.#reading.progress.phase('building');
    const shares = divide(await this.#slices(chunks, statement, rows), this.#reads.length);
    const results = await this.#stage('write', shares, (partitions) => ({ kind: 'write', inputs, partitions }));
    const segments: PushedSegment[] = [];
    for (const result of results) for (const segment of await readSegments(result, this.#context)) segments.push(segment);
    return inOrder(segments);
  }

  publishing(): void {
    this.#reading.progress.phase('publishing');
  }

  completed(): void {
    this.#reading.progress.phase('completed');
  }

  close(): Promise<void> {
    return this.#reading.engine.close();
  }

  /** Places of the rows that `#rowResults` has left. */
  async #rowStages(): Promise<readonly StageOutput[]> {
    return outputsOf(await this.#rowResults());
  }

  /** Reads, and merges and finishes what has to be, by workers; rows lie by time chunk for a table, and in files for an export. */
  async #rowResults(): Promise<readonly WorkResult[]> {
    let reads: readonly Work[] = this.#reads;
    for (let level = this.#reads[0]?.level ?? 0; level > 0; level--)
      reads = await this.#readsOf(await this.#levelResults(level, reads), level - 1);
    return this.#levelResults(0, reads);
  }

  /** Orders to read the rows that a subquery has left. */
  async #readsOf(results: readonly WorkResult[], level: number): Promise<readonly Work[]> {
    const inputs = outputsOf(results);
    const rows = (await partitionsIn(inputs, this.#context.storage)).reduce((sum, { rowCount }) => sum + rowCount, 0);
    // A worker for few rows takes longer to start than to read them.
    const slices = Math.max(1, Math.min(this.#reads.length, Math.ceil(rows / ROWS_OF_READER)));
    const shuffle = readShuffle(this.task, level, slices);
    return Array.from({ length: slices }, (_, slice): Work => {
      return { kind: 'read', level, share: { kind: 'rows', inputs, slices: [{ partition: 0, slice, slices }] }, shuffle };
    });
  }

  /** The stages of a subquery, or of the statement itself. */
  async #levelResults(level: number, reads: readonly Work[]): Promise<readonly WorkResult[]> {
    const { merge, keyCount, last } = planParts(queryAt(plannedQuery(this.task), level));
    const result = resultShuffle(this.task, level);
    const shuffle: Shuffle = last.length === 0 ? result : { kind: 'none' };
    let results = await this.#stage('read', reads, (order) => order);
    if (merge !== null) {
      const parts = outputsOf(results);
      const buckets = keyCount === 0 ? [{ partition: 0, rowCount: 0 }] : await partitionsIn(parts, this.#context.storage);
      results = await this.#stage('merge', this.#shares(buckets), (partitions) => ({
        kind: 'merge',
        level,
        inputs: parts,
        partitions,
        shuffle,
      }));
    }
    if (last.length === 0) return results;
    return this.#stage('post', [outputsOf(results)], (rows) => ({ kind: 'post', level, inputs: rows, shuffle: result }));
  }

  async #stage<Share>(kind: WorkOrder['kind'], shares: readonly Share[], orderOf: (share: Share) => Work): Promise<readonly WorkResult[]> {
    const stage = this.#stages++;
    const earlier = await this.#workers.earlierOrders(stage);
    const orders = earlier?.orders ?? shares.map((share, worker): WorkOrder => ({ ...orderOf(share), stage, worker }));
    this.#report.beginStage(kind, orders.length, () => this.#workers.soFar(), orders[0]?.level);
    const results = await this.#workers.run(orders, this.task);
    this.#report.endStage(
      kind,
      results.map(({ counts }) => counts),
    );
    addCounts(this.#reading, results);
    const fault = tooManyWarnings(this.task, this.#reading);
    if (fault !== null) throw fault;
    return results;
  }

  /**
   * Chunks, of which those that are more than one worker's part come in slices: of any rows, or of ranges of keys that samples of the
   * rows tell.
   */
  async #slices(
    chunks: readonly PartitionRows[],
    statement: WriteStatement,
    rows: readonly WorkResult[],
  ): Promise<readonly { readonly item: PartitionSlice; readonly size: number }[]> {
    const { rowsPerSegment } = this.task.settings;
    const workers = this.#reads.length;
    const total = chunks.reduce((sum, { rowCount }) => sum + rowCount, 0);
    const partitions = partitionsOf(statement, this.task.settings);
    const isShared = chunks.some(({ rowCount }) => Math.ceil((rowCount * workers) / total) > 1);
    const bounds: ReadonlyMap<number, readonly PartitionKey[]> =
      partitions.kind === 'range' && isShared ? chunkBounds(await readSamples(rows, this.#context), partitions) : new Map();
    return chunks.flatMap(({ partition, rowCount }) => {
      const known: readonly PartitionKey[] = bounds.get(partition) ?? [];
      const parts = partitions.kind === 'dynamic' ? Math.ceil(rowCount / rowsPerSegment) : known.length + 1;
      const slices = Math.min(parts, Math.ceil((rowCount * workers) / total), workers);
      const size = rowCount / slices;
      const cut = (slice: number): number => Math.floor((slice * parts) / slices);
      return Array.from({ length: slices }, (_, slice): { item: PartitionSlice; size: number } => {
        if (partitions.kind === 'dynamic' || slices === 1) return { item: { partition, slice, slices }, size };
        // Every frame has rows of every range.
        return { item: { partition, slice: 0, slices: 1, ranges: { bounds: known, from: cut(slice), to: cut(slice + 1) } }, size };
      });
    });
  }

  #shares(partitions: readonly PartitionRows[]): readonly (readonly number[])[] {
    return divide(
      partitions.map(({ partition, rowCount }) => ({ item: partition, size: rowCount })),
      Math.max(1, this.#reads.length),
    );
  }

  async *#rowsHere(): AsyncGenerator<Frame> {
    const reading = this.#reading;
    const { columns } = reading.query;
    this.#report.beginStage('read', 1, async () => [countsOf(reading)]);
    const parts = planPartsOfAll(reading.query);
    const read = shareRows({ kind: 'all' }, reading);
    const rows = finished(parts.merge === null ? read : wholeGroups(read, parts, reading), parts.last, reading.engine);
    let failed = false;
    try {
      for await (const frame of rows) {
        reading.counts.rowsOut += frame.rowCount;
        checkRowSizes(frame, this.task.settings.maxFrameSize);
        yield named(frame, columns);
      }
    } catch (error) {
      failed = true;
      throw tooManyWarnings(this.task, reading) ?? error;
    } finally {
      // A reader that has enough leaves early, and all is well.
      if (!failed) this.#report.endStage('read', [countsOf(reading)]);
    }
  }

  async #exportedHere({ format, query: { columns } }: ExportStatement, folder: ExportFolder): Promise<number> {
    const { counts } = this.#reading;
    const { settings, context } = this.task;
    // Rows are written as they are read.
    const written = (): StageCounts => ({ rowsIn: counts.rowsOut, rowsOut: counts.rowsOut });
    const files = await writeRowFiles(this.#rowsHere(), {
      columns,
      format,
      timeZone: sqlTimeZone(context),
      rowsPerFile: settings.rowsPerPage,
      signal: this.#context.signal,
      next: () => folder.next(0),
    });
    this.#report.beginStage('write', 1, async () => [written()]);
    this.#report.endStage('write', [written()]);
    return files.reduce((sum, { rowCount }) => sum + rowCount, 0);
  }

  async #segmentsHere(statement: WriteStatement): Promise<readonly PushedSegment[]> {
    const { engine, progress, counts } = this.#reading;
    let rowsOut = 0;
    let spent = stageClock(this.#context.now);
    const written = (): StageCounts => ({ rowsIn: counts.rowsOut, rowsOut, ...spent() });
    const segments = await writeSegments(this.#rowsHere(), {
      statement,
      settings: this.task.settings,
      context: this.#context,
      engine,
      building: () => {
        progress.phase('building');
        spent = stageClock(this.#context.now);
        this.#report.beginStage('write', 1, async () => [written()]);
      },
      pushed(rowCount) {
        rowsOut = rowCount;
        progress.tick();
      },
    });
    this.#report.endStage('write', [{ ...written(), bytesOut: segments.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) }]);
    return segments;
  }
}

/** Segments by their chunks and, within, by the keys that they begin with. */
function inOrder(segments: readonly PushedSegment[]): readonly PushedSegment[] {
  const startOf = ({ part }: PushedSegment): PartitionKey | null => (part?.type === 'range' ? part.start : null);
  return segments.toSorted((a, b) => {
    const [left, right] = [startOf(a), startOf(b)];
    if (a.interval.start !== b.interval.start) return a.interval.start - b.interval.start;
    return left === null || right === null ? Number(left !== null) - Number(right !== null) : compareKeys(left, right);
  });
}

interface PartitionRows {
  readonly partition: number;
  readonly rowCount: number;
}

type Work = WorkOrder extends infer Order ? (Order extends unknown ? Omit<Order, 'stage' | 'worker'> : never) : never;

/** Partitions that readers write: those of the next stage. */
function readShuffle(task: QueryTask, level: number, workers: number): Shuffle {
  const { merge, keyCount, last } = planParts(queryAt(plannedQuery(task), level));
  if (merge === null) return last.length === 0 ? resultShuffle(task, level) : { kind: 'none' };
  return keyCount === 0 ? { kind: 'none' } : { kind: 'hash', buckets: workers * BUCKETS_PER_WORKER };
}

/** Partitions of the rows of the result; those of a subquery are read in any order. */
function resultShuffle({ statement }: QueryTask, level: number): Shuffle {
  if (level > 0) return { kind: 'none' };
  if (statement.kind === 'export') return { kind: 'files' };
  return statement.kind === 'insert' || statement.kind === 'replace' ? { kind: 'time' } : { kind: 'none' };
}

function outputsOf(results: readonly WorkResult[]): readonly StageOutput[] {
  return results.map(({ output }) => output);
}

function addCounts({ statistics }: Reading, results: readonly WorkResult[]): void {
  for (const { counts } of results) {
    statistics.processed += counts.processed;
    statistics.processedWithError += counts.processedWithError;
    statistics.thrownAway += counts.thrownAway;
    statistics.unparseable += counts.unparseable;
    statistics.bytesRead += counts.bytesRead;
  }
}
