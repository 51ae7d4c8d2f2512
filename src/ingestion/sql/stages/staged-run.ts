// Runs a statement stage by stage: in one pass where one worker reads the input, else by workers that shuffle rows between stages.

import { ObjectReader, readContextOf } from '../../../base/json-reader.js';
import type { Frame } from '../../../model/frame.js';
import type { PushedSegment } from '../../../model/publication.js';
import type { TaskContext } from '../../contract.js';
import type { QueryReport } from '../../report/query-report.js';
import { checkRowSizes, named, type WriteStatement } from '../output-rows.js';
import { parseQuerySpec, plannedQuery, type QueryTask } from '../query-task.js';
import { checkBucketCount, partitionsOf, writeSegments } from '../write-segments.js';
import type { PartitionSlice, Shuffle, StageOutput, WorkOrder, WorkResult } from './contract.js';
import { partitionsIn, stageFrames, wholePartition } from './durable-output.js';
import { divide, inputShares } from './input-shares.js';
import { planParts, planPartsOfAll } from './plan-parts.js';
import { shareRows } from './read-rows.js';
import type { Reading } from './reading.js';
import { wholeGroups } from './whole-groups.js';
import { countsOf, finished, openReading, readSegments, tooManyWarnings } from './work.js';
import { Workers } from './workers.js';

/** Buckets of groups for each worker: one of them is in memory at a time. */
const BUCKETS_PER_WORKER = 8;

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
    const shares = await inputShares(plannedQuery(given), context, given.settings);
    const shuffle = readShuffle(given, shares.length);
    const reads = shares.map((share, worker): WorkOrder => ({ stage: 0, worker, kind: 'read', share, shuffle }));
    return new StagedRun(given, context, report, workers, reads);
  }

  /** The rows of the result, in the order of the columns of the statement. */
  async rows(): Promise<AsyncGenerator<Frame>> {
    this.#reading.progress.phase('reading');
    if (this.#reads.length === 1) return this.#rowsHere();
    return stageFrames(await this.#rowStages(), [wholePartition(0)], this.#context.storage);
  }

  /** The segments that the rows make, in durable storage. */
  async segments(statement: WriteStatement): Promise<readonly PushedSegment[]> {
    this.#reading.progress.phase('reading');
    if (this.#reads.length === 1) return this.#segmentsHere(statement);
    const inputs = await this.#rowStages();
    const chunks = await partitionsIn(inputs, this.#context.storage);
    checkBucketCount(chunks.length);
    this.#reading.progress.phase('building');
    const shares = divide(this.#slices(chunks, statement), this.#reads.length);
    const results = await this.#stage('write', shares, (partitions) => ({ kind: 'write', inputs, partitions }));
    const segments: PushedSegment[] = [];
    for (const result of results) for (const segment of await readSegments(result, this.#context)) segments.push(segment);
    return segments;
  }

  publishing(): void {
    this.#reading.progress.phase('publishing');
  }

  completed(): void {
    this.#reading.progress.phase('completed');
  }

  close(): Promise<void> {
    this.#report.workers = this.#workers.runs;
    return this.#reading.engine.close();
  }

  /** Reads, and merges and finishes what has to be, by workers; gives where the rows lie, by time chunk for a table. */
  async #rowStages(): Promise<readonly StageOutput[]> {
    const { merge, keyCount, last } = planParts(plannedQuery(this.task));
    const result = resultShuffle(this.task);
    const shuffle: Shuffle = last.length === 0 ? result : { kind: 'none' };
    let inputs = outputsOf(await this.#stage('read', this.#reads, (order) => order));
    if (merge !== null) {
      const parts = inputs;
      const buckets = keyCount === 0 ? [{ partition: 0, rowCount: 0 }] : await partitionsIn(parts, this.#context.storage);
      inputs = outputsOf(
        await this.#stage('merge', this.#shares(buckets), (partitions) => ({ kind: 'merge', inputs: parts, partitions, shuffle })),
      );
    }
    if (last.length === 0) return inputs;
    return outputsOf(await this.#stage('post', [inputs], (rows) => ({ kind: 'post', inputs: rows, shuffle: result })));
  }

  async #stage<Share>(kind: WorkOrder['kind'], shares: readonly Share[], orderOf: (share: Share) => Work): Promise<readonly WorkResult[]> {
    const stage = this.#stages++;
    const earlier = await this.#workers.earlierOrders(stage);
    const orders = earlier?.orders ?? shares.map((share, worker): WorkOrder => ({ ...orderOf(share), stage, worker }));
    this.#report.beginStage(kind, orders.length);
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

  /** Chunks, of which those that are more than one worker's part come in slices where any rows make a segment. */
  #slices(
    chunks: readonly PartitionRows[],
    statement: WriteStatement,
  ): readonly { readonly item: PartitionSlice; readonly size: number }[] {
    const { rowsPerSegment } = this.task.settings;
    const workers = this.#reads.length;
    const total = chunks.reduce((sum, { rowCount }) => sum + rowCount, 0);
    const isSliced = partitionsOf(statement, this.task.settings).kind === 'dynamic';
    return chunks.flatMap(({ partition, rowCount }) => {
      const slices = isSliced ? Math.min(Math.ceil(rowCount / rowsPerSegment), Math.ceil((rowCount * workers) / total), workers) : 1;
      return Array.from({ length: slices }, (_, slice) => ({ item: { partition, slice, slices }, size: rowCount / slices }));
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
    this.#report.beginStage('read', 1);
    let rowsOut = 0;
    const parts = planPartsOfAll(reading.query);
    const read = shareRows({ kind: 'all' }, reading);
    const rows = finished(parts.merge === null ? read : wholeGroups(read, parts, reading), parts.last, reading.engine);
    let failed = false;
    try {
      for await (const frame of rows) {
        rowsOut += frame.rowCount;
        checkRowSizes(frame, this.task.settings.maxFrameSize);
        yield named(frame, columns);
      }
    } catch (error) {
      failed = true;
      throw tooManyWarnings(this.task, reading) ?? error;
    } finally {
      // A reader that has enough leaves early, and all is well.
      if (!failed) this.#report.endStage('read', [{ ...countsOf(reading), rowsIn: reading.statistics.rows, rowsOut }]);
    }
  }

  async #segmentsHere(statement: WriteStatement): Promise<readonly PushedSegment[]> {
    const { engine, progress } = this.#reading;
    let rowsOut = 0;
    let rowsIn = 0;
    const counted = async function* (rows: AsyncGenerator<Frame>): AsyncGenerator<Frame> {
      for await (const frame of rows) {
        rowsIn += frame.rowCount;
        yield frame;
      }
    };
    const segments = await writeSegments(counted(this.#rowsHere()), {
      statement,
      settings: this.task.settings,
      context: this.#context,
      engine,
      building: () => {
        progress.phase('building');
        this.#report.beginStage('write', 1);
      },
      pushed(rowCount) {
        rowsOut = rowCount;
        progress.tick();
      },
    });
    this.#report.endStage('write', [{ rowsIn, rowsOut }]);
    return segments;
  }
}

interface PartitionRows {
  readonly partition: number;
  readonly rowCount: number;
}

type Work = WorkOrder extends infer Order ? (Order extends unknown ? Omit<Order, 'stage' | 'worker'> : never) : never;

/** Partitions that readers write: those of the next stage. */
function readShuffle(task: QueryTask, workers: number): Shuffle {
  const { merge, keyCount, last } = planParts(plannedQuery(task));
  if (merge === null) return last.length === 0 ? resultShuffle(task) : { kind: 'none' };
  return keyCount === 0 ? { kind: 'none' } : { kind: 'hash', buckets: workers * BUCKETS_PER_WORKER };
}

function resultShuffle({ statement }: QueryTask): Shuffle {
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
