// Parts of a live segment: rows that have come together, and what joins and stores them.

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type ColumnSchema, TIME_COLUMN } from '../../../model/schema.js';
import { type SegmentDescriptor, type SegmentId, segmentColumns } from '../../../model/segment.js';
import { segmentIdText } from '../../../model/segment-id.js';
import type { SegmentFrame } from '../../../storage/columns/packed-column.js';
import type { SegmentInput } from '../../../storage/contract.js';
import { HeldRows } from '../../../storage/held-rows.js';
import type { IndexedSegmentStore } from '../../../storage/segment-store.js';
import { PartialRowsWriter, partsIn } from '../../batch/partial-rows.js';
import { rollsUp, segmentDescription } from '../../batch/row-load.js';
import { joinRows } from '../../builder/join-rows.js';
import { SegmentWriters } from '../../builder/segment-writers.js';
import type { LazyEngine } from '../../task-engine.js';
import type { DataSchema } from '../../task-spec/data-schema.js';

/** Rows of a live segment that never change: read like a segment of their own. */
export interface LivePart {
  /** Printed id under which the store has it open. */
  readonly id: string;
  readonly rowCount: number;
  /** Heap that its rows take; 0 of one on disk. */
  readonly heldBytes: number;
  readonly schema: readonly ColumnSchema[];
  readonly dimensions: readonly string[];
  readonly timeMin: number;
  readonly timeMax: number;
  /** The rows in order of arrival. */
  frames(): Promise<readonly SegmentFrame[]>;
  /** Removes what it has on disk; nobody reads it any more. */
  remove(): Promise<void>;
}

/** Rows of a part, with the names of their dimensions. */
export interface PartRows {
  readonly frame: SegmentFrame;
  readonly dimensions: readonly string[];
}

export interface PartMakerOptions {
  readonly dataSchema: DataSchema;
  readonly engine: LazyEngine;
  readonly store: IndexedSegmentStore;
  readonly workDirectory: string;
}

/** Rows of a part on disk, unless one part in memory has more: parts are joined before they are written. */
const WRITTEN_ROWS_MAX = 1 << 18;

/** Makes the parts of the live segments of a task. */
export class PartMaker {
  readonly #options: PartMakerOptions;
  readonly #writers = new SegmentWriters();
  /** Parts that were ever made. */
  #made = 0;

  constructor(options: PartMakerOptions) {
    this.#options = options;
  }

  /** The rows of a frame as the builder of segments gives it: `__time`, dimensions, metrics. */
  rowsOf(frame: SegmentFrame): PartRows {
    const metrics = new Set(this.#options.dataSchema.metrics.map(({ name }) => name));
    return { frame, dimensions: frame.columns.map(({ name }) => name).filter((name) => name !== TIME_COLUMN && !metrics.has(name)) };
  }

  /** Rows of several parts as those of one, rolled up if rows of the datasource are. */
  async join(frames: readonly SegmentFrame[]): Promise<PartRows> {
    const { dataSchema, engine } = this.#options;
    const [only] = frames;
    if (only !== undefined && frames.length === 1) return this.rowsOf(only);
    const { dataSource, dimensions, metrics } = dataSchema;
    const { kernels } = engine;
    const options = {
      dataSource,
      dimensions: dimensions.declared,
      metrics,
      rollup: rollsUp(dataSchema),
      engine: () => engine.get(),
      kernels,
    };
    return joinRows(frames, options);
  }

  /** Opens rows in memory. */
  hold(segment: SegmentId, rows: PartRows): LivePart {
    const { store } = this.#options;
    const id = this.#newId(segment);
    const { heldBytes, rowCount, timeMin, timeMax } = store.hold((parts) => new HeldRows(id, this.#input(rows), parts));
    const text = segmentIdText(id);
    return {
      id: text,
      rowCount,
      timeMin,
      timeMax,
      heldBytes: heldBytes + bytesOf(rows.frame),
      schema: store.schema(text),
      dimensions: rows.dimensions,
      frames: async () => [rows.frame],
      remove: async () => undefined,
    };
  }

  /** Writes rows to disk and opens the file. */
  async write(segment: SegmentId, rows: PartRows): Promise<LivePart> {
    const { store, workDirectory } = this.#options;
    const id = this.#newId(segment);
    const file = join(workDirectory, `live-${this.#made}`);
    const rowsFile = `${file}.rows`;
    const kept = new PartialRowsWriter(() => rowsFile);
    try {
      await kept.add(0, { interval: segment.interval, at: 0, part: null, frame: rows.frame });
    } finally {
      await kept.close();
    }
    const { sizeBytes, rowCount, columns } = await this.#writers.write(file, this.#input(rows));
    const { dimensions } = rows;
    const metrics = this.#options.dataSchema.metrics.map(({ name }) => name);
    const shardSpec = { type: 'numbered', partitionNum: id.partitionNumber, partitions: 0 } as const;
    const stored = { loadSpec: { type: 'local', path: file }, sizeBytes, rowCount, dimensions, metrics, ...segmentColumns(columns) };
    const descriptor: SegmentDescriptor = { id, shardSpec, ...stored };
    await store.open(file, descriptor);
    const text = segmentIdText(id);
    const { timeMin, timeMax } = store.span(text);
    return {
      id: text,
      rowCount,
      timeMin,
      timeMax,
      heldBytes: 0,
      schema: columns,
      dimensions,
      async frames() {
        const [piece] = await partsIn([rowsFile]);
        return piece === undefined ? [] : (await piece.read()).frames;
      },
      async remove() {
        await rm(file, { force: true });
        await rm(rowsFile, { force: true });
      },
    };
  }

  async close(): Promise<void> {
    await this.#writers.close();
  }

  #newId(segment: SegmentId): SegmentId {
    return { ...segment, version: `${segment.version}.part${++this.#made}` };
  }

  #input({ frame, dimensions }: PartRows): SegmentInput {
    return { frame, dimensions, ...segmentDescription(this.#options.dataSchema) };
  }
}

/** Parts that lie one behind the other, and are written to one file. */
export function writtenTogether(parts: readonly LivePart[]): readonly (readonly LivePart[])[] {
  const groups: LivePart[][] = [];
  let rowCount = Number.POSITIVE_INFINITY;
  for (const part of parts) {
    rowCount += part.rowCount;
    if (rowCount > WRITTEN_ROWS_MAX) {
      groups.push([]);
      rowCount = part.rowCount;
    }
    groups.at(-1)?.push(part);
  }
  return groups;
}

/** Bytes that rows take, a byte for each character of strings. */
function bytesOf({ columns }: SegmentFrame): number {
  let bytes = 0;
  for (const column of columns) {
    if (column.kind === 'long' || column.kind === 'double') {
      bytes += column.values.byteLength + (column.nulls?.byteLength ?? 0);
      continue;
    }
    bytes += column.ids.byteLength + (column.kind === 'string' ? 0 : (column.offsets?.byteLength ?? 0));
    if (column.kind === 'packed') bytes += column.dictionary.bytes.length + column.dictionary.ends.byteLength;
    else for (const text of column.dictionary) bytes += text?.length ?? 0;
  }
  return bytes;
}
