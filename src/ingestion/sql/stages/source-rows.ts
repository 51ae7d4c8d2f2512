// Rows of sources that are made of files and of other rows: joins, unions and subqueries over EXTERN.

import path from 'node:path';
import { ServiceError } from '../../../base/errors.js';
import { ETERNITY } from '../../../base/instant.js';
import { columnsRead } from '../../../execution/expression/columns-of-plan.js';
import type { VirtualColumn } from '../../../model/aggregator.js';
import { columnsOfExpression } from '../../../model/columns-read.js';
import type { Frame, FrameColumn } from '../../../model/frame.js';
import type { ScanPlan } from '../../../model/plan.js';
import { type ExternalSource, externalsOf, type JoinSource, type RowSource, type RowsPlan } from '../../../model/row-source.js';
import type { ColumnSchema } from '../../../model/schema.js';
import { externalFrames } from '../external-rows.js';
import { QueryFault } from '../query-fault.js';
import { hashBuckets } from './partition-keys.js';
import type { Reading } from './reading.js';
import { framesOf, PartitionWriter } from './stage-output.js';

/** Parts into which both sides of a join are divided by their keys. */
const BUCKETS = 128;
/** Marks rows that lie on disk: `inputSource` is their number. */
const ON_DISK = Symbol('on disk');

/** The rows of a plan over a source, computed here. Sides of joins that are too large for memory are divided by their keys. */
export async function* sourceRows(plan: RowsPlan, source: RowSource, reading: Reading): AsyncGenerator<Frame> {
  const rows = new SourceRows(reading);
  try {
    yield* rows.run(plan, await rows.prepared(source, columnsRead(plan)));
  } finally {
    await rows.close();
  }
}

/** Whether rows of a source are to be joined here: files are read by tasks only, and `sortMerge` asks for it. */
export function isJoinedHere(source: RowSource, { joinAlgorithm }: Reading): boolean {
  if (source.kind === 'external' || source.kind === 'inline') return false;
  return externalsOf(source).length > 0 || (joinAlgorithm === 'sortMerge' && joinsOf(source).some(({ keys }) => keys.length > 0));
}

function joinsOf(source: RowSource): readonly JoinSource[] {
  switch (source.kind) {
    case 'join':
      return [source, ...joinsOf(source.left), ...joinsOf(source.right)];
    case 'query':
    case 'filtered':
    case 'unnest':
      return joinsOf(source.source);
    case 'union':
      return source.sources.flatMap(joinsOf);
    default:
      return [];
  }
}

class SourceRows {
  readonly #reading: Reading;
  readonly #spooled = new Map<number, () => AsyncIterable<Frame>>();
  #numbers = 0;
  readonly #files: PartitionWriter[] = [];

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  run(plan: RowsPlan, source: RowSource): AsyncIterable<Frame> {
    const { context, engine, columnsOf } = this.#reading;
    return context.runSource({ plan, source }, { engine: engine.processing(), external: (each) => this.#rowsOf(each), columnsOf });
  }

  async close(): Promise<void> {
    for (const file of this.#files.splice(0)) await file.close();
  }

  /**
   * The source with rows on disk in place of right sides of joins, or of joins whose right side is too large for memory.
   * @param columns  names of the columns that are read of it
   */
  async prepared(source: RowSource, columns: readonly string[]): Promise<RowSource> {
    switch (source.kind) {
      case 'query':
        return { ...source, source: await this.prepared(source.source, columnsRead(source.plan)) };
      case 'filtered':
      case 'unnest':
        return { ...source, source: await this.prepared(source.source, this.#allColumns(source.source)) };
      case 'union': {
        const sources: RowSource[] = [];
        for (const each of source.sources) sources.push(await this.prepared(each, columns));
        return { ...source, sources };
      }
      case 'join':
        return this.#preparedJoin(source, columns);
      default:
        return source;
    }
  }

  async #preparedJoin(join: JoinSource, columns: readonly string[]): Promise<RowSource> {
    const { condition, keys, prefix } = join;
    const read = [...columns, ...(condition === null ? [] : columnsOfExpression(condition))];
    const ofRight = read.flatMap((name) => (name.startsWith(prefix) ? [name.slice(prefix.length)] : []));
    const right = await this.#spooledSide(join, 'right', ofRight);
    const { joinAlgorithm, context } = this.#reading;
    const held = Math.min(context.maxBytesInMemory / 4, context.maxKernelBytes / 8);
    const isLarge = joinAlgorithm === 'sortMerge' || (joinAlgorithm === null && right.file.sizeBytes > held);
    const isDivisible = isLarge && keys.length > 0 && !right.hasLists;
    const left = isDivisible ? await this.#spooledSide(join, 'left', read) : undefined;
    // A row with several values meets rows of several parts.
    if (left === undefined || left.hasLists) {
      const maxBroadcastTablesSize = context.maxKernelBytes / 2;
      if (right.file.sizeBytes > maxBroadcastTablesSize)
        throw new QueryFault(
          'resource_limit',
          `the right side of a join takes ${right.file.sizeBytes} bytes, more than the ${maxBroadcastTablesSize} that a task has for such (half of svc.indexer.task.maxKernelBytes); with keys of single values, context.sqlJoinAlgorithm sortMerge divides it`,
          { errorCode: 'BroadcastTablesTooLarge', maxBroadcastTablesSize },
        );
      const ofLeft = [...read, ...keys.flatMap((key) => [...columnsOfExpression(key.left)])];
      const rows = left === undefined ? await this.prepared(join.left, ofLeft) : this.#onDisk(left.columns, () => allFrames(left.file));
      return { ...join, left: rows, right: this.#onDisk(right.columns, () => allFrames(right.file)) };
    }
    context.log(`both sides of a join, ${left.file.rowCount} and ${right.file.rowCount} rows, are divided by their keys`);
    return this.#onDisk(this.#reading.columnsOf(join), () => this.#joinedParts(join, { left, right }, columns));
  }

  /** The rows of a join, one part of both sides after the other. */
  async *#joinedParts(
    join: JoinSource,
    { left, right }: { readonly left: Side; readonly right: Side },
    columns: readonly string[],
  ): AsyncGenerator<Frame> {
    const names = this.#reading.columnsOf(join).flatMap(({ name }) => (columns.includes(name) ? [name] : []));
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      if (this.#reading.context.signal.aborted) throw new ServiceError('cancelled', 'the task was cancelled');
      const part = ({ file, columns: own }: Side): RowSource => this.#onDisk(own, () => framesOf(file.index, bucket, file.read));
      if ((left.file.index.get(bucket)?.rowCount ?? 0) + (right.file.index.get(bucket)?.rowCount ?? 0) === 0) continue;
      const from = this.#numbers;
      yield* this.run(scanOf(names), { ...join, left: part(left), right: part(right) });
      for (const number of [from, from + 1]) this.#spooled.delete(number);
    }
  }

  /** Rows of a side on disk, in parts by its keys; columns that are not read are left out. */
  async #spooledSide(join: JoinSource, side: 'left' | 'right', read: readonly string[]): Promise<Side> {
    const { columnsOf, context } = this.#reading;
    const needed = new Set([...read, ...join.keys.flatMap((key) => [...columnsOfExpression(key[side])])]);
    const columns = columnsOf(join[side]).filter(({ name }) => needed.has(name));
    const names = columns.map(({ name }) => name);
    const keys = join.keys.map((key, at): VirtualColumn => ({ name: `join key ${at}`, expression: key[side], outputType: key.type }));
    const source = await this.prepared(join[side], [...needed]);
    const file = await PartitionWriter.open(
      path.join(context.workDirectory, `join-${this.#files.length}`),
      Math.min(context.maxBytesInMemory / 8, HELD_BYTES_MAX),
    );
    this.#files.push(file);
    let hasLists = false;
    const plan = { ...scanOf([...keys.map(({ name }) => name), ...names]), virtualColumns: keys };
    for await (const frame of this.run(plan, source)) {
      const own = { rowCount: frame.rowCount, columns: frame.columns.slice(keys.length) };
      hasLists ||= frame.columns.slice(0, keys.length).some(holdsLists);
      await file.add(own, hashBuckets(frame, keys.length, BUCKETS));
    }
    await file.finish();
    return { file, columns, hasLists };
  }

  #allColumns(source: RowSource): readonly string[] {
    return this.#reading.columnsOf(source).map(({ name }) => name);
  }

  #onDisk(columns: readonly ColumnSchema[], rows: () => AsyncIterable<Frame>): RowSource {
    const signature = columns.map(({ name, type }) => ({ name, type }));
    this.#spooled.set(this.#numbers, rows);
    return { kind: 'external', inputSource: this.#numbers++, inputFormat: ON_DISK, signature };
  }

  #rowsOf(source: ExternalSource): AsyncIterable<Frame> {
    if (source.inputFormat !== ON_DISK) return externalFrames(source, { ...this.#reading, chosen: (parts) => parts });
    const rows = this.#spooled.get(Number(source.inputSource));
    if (rows === undefined) throw new ServiceError('internal', 'rows on disk are read after their file was closed');
    return rows();
  }
}

interface Side {
  readonly file: PartitionWriter;
  readonly columns: readonly ColumnSchema[];
  /** Whether a key of some row has several values. */
  readonly hasLists: boolean;
}

function holdsLists(column: FrameColumn): boolean {
  return column.kind === 'multi' && column.offsets.some((offset, at) => at > 0 && offset - (column.offsets[at - 1] ?? 0) > 1);
}

/** Rows of a side that wait for others of their part. */
const HELD_BYTES_MAX = 64 << 20;

async function* allFrames({ index, read }: PartitionWriter): AsyncGenerator<Frame> {
  for (const key of index.keys()) yield* framesOf(index, key, read);
}

function scanOf(columns: readonly string[]): ScanPlan {
  const rest = { filter: null, virtualColumns: [], timeOrder: null, offset: 0, limit: null, post: [] };
  return { operator: 'scan', dataSource: '', intervals: [ETERNITY], columns, ...rest };
}
