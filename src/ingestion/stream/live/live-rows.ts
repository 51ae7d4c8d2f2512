// The live segments of a streaming task: rows go in, queries read them at once, sealed ones are published.

import { ServiceError } from '../../../base/errors.js';
import type { EpochMs, Interval } from '../../../base/instant.js';
import { bucketsOf } from '../../../model/granularity.js';
import type { PushedSegment } from '../../../model/publication.js';
import type { SegmentId } from '../../../model/segment.js';
import type { HeldParts, LiveDescriptor, LiveParts } from '../../../model/stream/live.js';
import type { Offsets } from '../../../model/stream/offsets.js';
import type { DeepStorage } from '../../../storage/contract.js';
import type { IndexedSegmentStore } from '../../../storage/segment-store.js';
import { rollsUp, segmentDescription } from '../../batch/row-load.js';
import { openStages } from '../../batch/row-stages.js';
import type { TimeRange } from '../../builder/row-collector.js';
import { RowStore } from '../../builder/row-store.js';
import { SegmentPusher } from '../../builder/segment-pusher.js';
import type { InputBlock } from '../../format/input-block.js';
import type { RowStatistics } from '../../report/row-statistics.js';
import type { LazyEngine } from '../../task-engine.js';
import type { DataSchema } from '../../task-spec/data-schema.js';
import { type LivePart, PartMaker, writtenTogether } from './live-part.js';
import { LiveSegment } from './live-segment.js';
import type { MicroBatch } from './micro-batch.js';
import { ReaderWait } from './reader-wait.js';

export interface LiveRowsOptions {
  readonly dataSchema: DataSchema;
  readonly range: TimeRange;
  readonly statistics: RowStatistics;
  readonly engine: LazyEngine;
  readonly store: IndexedSegmentStore;
  readonly workDirectory: string;
  readonly maxColumns: number;
  /** The id of the segment for rows of a chunk in a sequence: the same for the same sequence and chunk, whoever asks. */
  readonly allocate: (sequence: string, interval: Interval) => Promise<SegmentId>;
  /** Segments have come, or changed in another way than by further rows of the columns that they have. */
  readonly changed: () => void;
}

/** Rows that wait for the next reader, at most; so many are a part of their own. */
const WAITING_ROWS_MAX = 8192;
/** Time that rows wait for a reader. */
const WAITING_MS = 100;
/** Bytes of messages that wait as rows. */
const WAITING_BYTES_MAX = 16 * 2 ** 20;
/** Parts of about one size that are joined to one. */
const JOINED_PARTS = 8;
/** Rows of a joined part: joining takes the thread of the task for as long. */
const JOINED_ROWS_MAX = 1 << 16;
/** The micro-batch keeps within these by itself. */
const UNBOUNDED = Number.MAX_SAFE_INTEGER;

/**
 * Rows are taken in as every load takes them in; each micro-batch becomes a part of the segments of its time chunks. What a query reads
 * are the parts of one moment: all rows up to some row, and none behind it. Parts are joined as they get many, and written to disk.
 */
export class LiveRows implements LiveParts {
  readonly #wait = new ReaderWait();
  readonly #options: LiveRowsOptions;
  readonly #maker: PartMaker;
  readonly #segments = new Map<string, LiveSegment>();
  /** Files of all sequences so far, in deep storage. */
  #filesPushed = 0;
  /** Segments of the open sequence by the start of their chunk. */
  readonly #open = new Map<EpochMs, LiveSegment>();
  #sequence = '';
  #batch: MicroBatch | null = null;
  /** Every row before the first was added; before the second, is in a part. */
  #reached: Offsets = new Map();
  #shown: Offsets = new Map();
  /** Rows of a batch are on their way into parts. */
  #isSettling = false;
  /** Changes follow one another. */
  #turn: Promise<void> = Promise.resolve();
  #settling: Promise<void> | null = null;
  #timer: NodeJS.Timeout | undefined;
  #failure: { readonly error: unknown } | null = null;
  /** Queries that read a part. */
  readonly #readers = new Map<string, number>();
  /** Parts in memory that are being written to disk. */
  readonly #beingWritten = new Set<string>();
  /** Parts that are read no more once their last reader has gone. */
  readonly #retired = new Map<string, LivePart>();

  constructor(options: LiveRowsOptions) {
    this.#options = options;
    this.#maker = new PartMaker(options);
  }

  /** Takes note whether further rows wait in the stream: readers are then shown those of a while before. */
  set isBehind(isBehind: boolean) {
    this.#wait.isBehind = isBehind;
  }

  /** Columns that rows are read for; null: any. */
  get columnsRead(): ReadonlySet<string> | null {
    return (this.#batch ??= this.#openBatch()).stages.columnsRead;
  }

  /** Time that the rows of the batch are still to wait. */
  get #leftMs(): number {
    return this.#batch === null ? 0 : this.#wait.leftMs(this.#batch.sinceMs);
  }

  get heldRows(): number {
    return this.#sum((part) => (part.heldBytes > 0 ? part.rowCount : 0)) + (this.#batch?.rowCount ?? 0);
  }

  get heldBytes(): number {
    return this.#sum(({ heldBytes }) => heldBytes);
  }

  /** Offsets before which every row is in a part. */
  get shown(): Offsets {
    return this.#isSettling || (this.#batch?.rowCount ?? 0) > 0 ? this.#shown : this.#reached;
  }

  /** Takes note that every row before these offsets was added. */
  reached(offsets: Offsets): void {
    this.#reached = offsets;
  }

  /** Begins a sequence; rows go there from now on. */
  begin(sequence: string): void {
    this.#sequence = sequence;
  }

  /** Takes in rows; they are read from the next `settle` on. The block is used no more when this resolves. */
  async add(block: InputBlock): Promise<void> {
    await this.#inTurn(async () => {
      const batch = (this.#batch ??= this.#openBatch());
      const { statistics } = this.#options;
      if (batch.rowCount === 0) {
        [batch.sinceMs, batch.sinceBytes] = [performance.now(), statistics.bytesRead];
        this.#shown = this.#reached;
      }
      batch.stages.collector.add(block);
      batch.rowCount += block.rowCount;
      const isFull = !this.#wait.isBehind && batch.rowCount >= WAITING_ROWS_MAX;
      if (isFull || statistics.bytesRead - batch.sinceBytes >= WAITING_BYTES_MAX) await this.#settle();
    });
    this.#settleLater(WAITING_MS);
  }

  /** Rows that came before are read from now on; while the task is behind, those that have waited for their time. */
  async settle(): Promise<void> {
    if (this.#leftMs <= 0) await this.#settleAll();
  }

  /** Has rows be read after a while without a reader: nobody reads a segment that is not known yet. */
  #settleLater(afterMs: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      const leftMs = this.#leftMs;
      if (leftMs > 0) return this.#settleLater(leftMs);
      // An error of these rows is that of the next call.
      this.#settleAll().catch(() => undefined);
    }, afterMs);
  }

  #settleAll(): Promise<void> {
    if (this.#settling !== null) return this.#settling;
    if (this.#batch === null || this.#batch.rowCount === 0) return this.#turn;
    const settling = this.#inTurn(async () => {
      this.#settling = null;
      await this.#settle();
    });
    this.#settling = settling;
    return settling;
  }

  /** Rows of the open sequence, by segment. */
  openRows(): { readonly total: number; readonly largest: number } {
    const counts = [...this.#open.values()].map(({ rowCount }) => rowCount);
    return { total: counts.reduce((sum, count) => sum + count, 0), largest: counts.reduce((most, count) => Math.max(most, count), 0) };
  }

  /** Ends the open sequence: its segments get no further row. */
  async seal(): Promise<void> {
    await this.#inTurn(async () => {
      await this.#settle();
      this.#open.clear();
    });
  }

  /** Takes note that the segments of a sequence are published: they have the rows of the published ones. */
  published(sequence: string): void {
    for (const segment of this.#segments.values()) if (segment.sequence === sequence) segment.isPublished = true;
    this.#options.changed();
  }

  describe(): readonly LiveDescriptor[] {
    const metrics = this.#options.dataSchema.metrics.map(({ name }) => name);
    return [...this.#segments.values()].map((segment) => segment.describe(metrics));
  }

  /** The parts of these segments as they are now; of those that are not here, none. */
  hold(segmentIds: readonly string[]): HeldParts {
    const parts = new Map<string, readonly string[]>();
    let rowCount = 0;
    for (const id of segmentIds) {
      const segment = this.#segments.get(id);
      if (segment === undefined) continue;
      rowCount += segment.rowCount;
      parts.set(
        id,
        segment.parts.map((part) => part.id),
      );
    }
    const ids = [...parts.values()].flat();
    for (const id of ids) this.#readers.set(id, (this.#readers.get(id) ?? 0) + 1);
    const release = (): void => {
      for (const id of ids) {
        const left = (this.#readers.get(id) ?? 1) - 1;
        if (left > 0) this.#readers.set(id, left);
        else this.#readers.delete(id);
        const retired = this.#retired.get(id);
        if (left === 0 && retired !== undefined) void this.#close(retired);
      }
    };
    return { parts, rowCount, release };
  }

  /** Writes the rows that are in memory to disk; rows come in meanwhile. */
  async persist(): Promise<void> {
    await this.#settleAll();
    for (const segment of this.#segments.values()) {
      const held = segment.parts.filter(({ heldBytes }) => heldBytes > 0);
      for (const { id } of held) this.#beingWritten.add(id);
      for (const parts of writtenTogether(held)) {
        const rows = await this.#maker.join((await Promise.all(parts.map((part) => part.frames()))).flat());
        const written = await this.#maker.write(segment.id, rows);
        await this.#inTurn(async () => this.#replace(segment, parts, written));
        for (const { id } of parts) this.#beingWritten.delete(id);
      }
    }
  }

  /** Pushes the segments of a sealed sequence to deep storage, by the ids that they were allocated. */
  async push(sequence: string, storage: Pick<DeepStorage, 'push'>): Promise<ReadonlyMap<SegmentId, PushedSegment>> {
    const { workDirectory, dataSchema } = this.#options;
    await this.#turn;
    const segments = [...this.#segments.values()].filter((segment) => segment.sequence === sequence);
    const pusher = new SegmentPusher(storage, workDirectory, 'copied', this.#filesPushed);
    this.#filesPushed += segments.length;
    try {
      for (const { id, parts } of segments) {
        const frames: Awaited<ReturnType<LivePart['frames']>>[number][] = [];
        for (const part of parts) for (const frame of await part.frames()) frames.push(frame);
        const { frame, dimensions } = await this.#maker.join(frames);
        await pusher.push(id.interval, null, { frame, dimensions, ...segmentDescription(dataSchema) });
      }
      const pushed = await pusher.finish();
      return new Map(segments.flatMap(({ id }, at) => (pushed[at] === undefined ? [] : [[id, pushed[at]] as const])));
    } finally {
      await pusher.close();
    }
  }

  /** Forgets the segments of a sequence, which others serve by now. */
  async drop(sequence: string): Promise<void> {
    await this.#inTurn(async () => {
      for (const segment of [...this.#segments.values()]) {
        if (segment.sequence !== sequence) continue;
        this.#segments.delete(segment.text);
        const { parts } = segment;
        segment.parts = [];
        for (const part of parts) this.#retire(part);
      }
      this.#options.changed();
    });
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#turn.catch(() => undefined);
    this.#batch?.store.close();
    await this.#maker.close();
  }

  #openBatch(): MicroBatch {
    const { dataSchema, range, statistics, engine, maxColumns, workDirectory } = this.#options;
    const { granularity, dimensions, metrics, dataSource } = dataSchema;
    const store = new RowStore({
      dataSource,
      dimensions: dimensions.declared,
      metrics,
      rollup: rollsUp(dataSchema),
      buckets: bucketsOf(granularity.segmentGranularity),
      ...{ maxRowsInMemory: UNBOUNDED, maxBytesInMemory: UNBOUNDED },
      workDirectory,
      engine: () => engine.get(),
      kernels: engine.kernels,
    });
    return {
      store,
      stages: openStages({ dataSchema, range, maxColumns, statistics, engine, store }),
      sinceMs: 0,
      sinceBytes: 0,
      rowCount: 0,
    };
  }

  /** Makes parts of the rows that wait; all of them are read from the same moment on. */
  async #settle(): Promise<void> {
    const [batch, reached] = [this.#batch, this.#reached];
    if (batch === null || batch.rowCount === 0) return;
    this.#isSettling = true;
    this.#batch = null;
    await batch.stages.finish();
    const added: [LiveSegment, LivePart][] = [];
    for (const chunk of await batch.store.finish()) {
      const segment = await this.#segmentOf(chunk.interval);
      for await (const { frame } of batch.store.frames(chunk, { kind: 'dynamic', maxRowsPerSegment: UNBOUNDED }))
        added.push([segment, this.#maker.hold(segment.id, this.#maker.rowsOf(frame))]);
    }
    batch.store.close();
    let hasChanged = false;
    for (const [segment, part] of added) {
      hasChanged ||= !this.#segments.has(segment.text) || segment.lacksColumnsOf(part);
      this.#segments.set(segment.text, segment);
      segment.parts = [...segment.parts, part];
    }
    this.#shown = reached;
    this.#isSettling = false;
    if (hasChanged) this.#options.changed();
    for (const segment of new Set(added.map(([each]) => each))) await this.#joinParts(segment);
  }

  async #segmentOf(interval: Interval): Promise<LiveSegment> {
    let segment = this.#open.get(interval.start);
    if (segment === undefined) {
      segment = new LiveSegment(await this.#options.allocate(this.#sequence, interval), this.#sequence);
      const other = this.#segments.get(segment.text);
      // Rows of the other one would be lost.
      if (other !== undefined)
        throw new ServiceError('internal', `${segment.text} was allocated to ${other.sequence} and ${this.#sequence}`);
      this.#open.set(interval.start, segment);
    }
    return segment;
  }

  /** Joins the last parts of a segment while there are many of about one size: each row is joined a few times in all. */
  async #joinParts(segment: LiveSegment): Promise<void> {
    for (;;) {
      const last = segment.parts.slice(-JOINED_PARTS);
      const rowCount = last.reduce((sum, part) => sum + part.rowCount, 0);
      const largest = last.reduce((most, part) => Math.max(most, part.rowCount), 0);
      const isHeld = last.every(({ id, heldBytes }) => heldBytes > 0 && !this.#beingWritten.has(id));
      const isEven = last.length === JOINED_PARTS && isHeld && largest * 2 <= rowCount;
      if (!isEven || rowCount > JOINED_ROWS_MAX) return;
      const rows = await this.#maker.join((await Promise.all(last.map((part) => part.frames()))).flat());
      this.#replace(segment, last, this.#maker.hold(segment.id, rows));
    }
  }

  /** Has one part take the place of several that lie one behind the other. */
  #replace(segment: LiveSegment, replaced: readonly LivePart[], part: LivePart): void {
    const gone = new Set(replaced.map(({ id }) => id));
    const at = segment.parts.findIndex(({ id }) => gone.has(id));
    const left = segment.parts.filter(({ id }) => !gone.has(id));
    // The segment may have been dropped while the part was made.
    if (at < 0 || segment.parts.length - left.length < replaced.length) return void this.#retire(part);
    segment.parts = [...left.slice(0, at), part, ...left.slice(at)];
    for (const each of replaced) this.#retire(each);
  }

  #retire(part: LivePart): void {
    if (this.#readers.has(part.id)) this.#retired.set(part.id, part);
    else void this.#close(part);
  }

  async #close(part: LivePart): Promise<void> {
    this.#retired.delete(part.id);
    await this.#options.store.close(part.id);
    await part.remove();
  }

  #sum(of: (part: LivePart) => number): number {
    let sum = 0;
    for (const { parts } of this.#segments.values()) for (const part of parts) sum += of(part);
    return sum;
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(() => {
      if (this.#failure !== null) throw this.#failure.error;
      return work();
    });
    this.#turn = turn.catch((error: unknown) => {
      this.#failure ??= { error };
    });
    return turn;
  }
}
