// Reads the rows of segments, for a compaction.

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceError } from '../../base/errors.js';
import { formatInterval } from '../../base/interval.js';
import type { Filter } from '../../model/filter.js';
import type { Frame } from '../../model/frame.js';
import type { ScanPlan } from '../../model/plan.js';
import { TIME_COLUMN } from '../../model/schema.js';
import type { SegmentAnalysis, VisibleSegment } from '../../model/segment.js';
import { idTextOf } from '../../model/segment-id.js';
import type { SegmentStore } from '../../storage/contract.js';
import type { TaskContext } from '../contract.js';
import type { LazyEngine } from '../task-engine.js';
import type { CompactSchema } from './compact-schema.js';
import type { CompactUnit } from './compact-units.js';

/** Rows and segments that are read together: small segments cost less so, and columns are in memory for no longer. */
const ROWS_TOGETHER = 1 << 20;
const SEGMENTS_TOGETHER = 256;
const ANALYSES = ['aggregators', 'rollup', 'queryGranularity', 'timestampSpec'];

/** The segments of a unit as local files, verified and open. */
export class InputRows {
  readonly #context: TaskContext;
  readonly #engine: LazyEngine;
  readonly #unit: CompactUnit;
  readonly #open = new Map<string, string>();

  constructor(context: TaskContext, engine: LazyEngine, unit: CompactUnit) {
    this.#context = context;
    this.#engine = engine;
    this.#unit = unit;
  }

  /** Opens the segments; gives the analysis of each, in their order. */
  async open(): Promise<readonly SegmentAnalysis[]> {
    const analyses: SegmentAnalysis[] = [];
    for (const { segment } of this.#unit.segments) {
      if (this.#context.signal.aborted) throw new ServiceError('cancelled', 'the task was cancelled');
      const id = idTextOf(segment);
      const file = join(this.#context.workDirectory, `input-${this.#open.size}`);
      await this.#context.storage.pull(segment.loadSpec, file);
      this.#open.set(id, file);
      await this.#store.open(file, segment);
      analyses.push(await this.#store.analyze(id, [], ANALYSES));
    }
    return analyses;
  }

  /** The rows that pass the filter, each once. */
  async *frames(schema: CompactSchema, filter: Filter | null): AsyncGenerator<Frame> {
    for (const batch of batchesOf(this.#unit.segments)) {
      const plan = scanOf(batch.dataSource, batch.visible, schema, filter);
      yield* this.#engine.get().runSegments(plan, this.#store, batch.ids);
    }
  }

  async close(): Promise<void> {
    for (const [id, file] of this.#open) {
      if (this.#store.has(id)) await this.#store.close(id);
      await rm(file, { force: true });
    }
    this.#open.clear();
  }

  get #store(): SegmentStore {
    return this.#engine.segments();
  }
}

/** The same rows as a broker gives them, for the SQL engine. */
export function servedRows(
  context: TaskContext,
  dataSource: string,
  unit: CompactUnit,
  schema: CompactSchema,
  filter: Filter | null,
): AsyncIterable<Frame> {
  const plan = scanOf(dataSource, [unit.interval], schema, filter);
  return context.readTables({ plan, source: { kind: 'table', name: dataSource } });
}

function scanOf(dataSource: string, intervals: ScanPlan['intervals'], { columns, mixed }: CompactSchema, filter: Filter | null): ScanPlan {
  const types = columns.flatMap((name) => {
    const type = mixed.get(name);
    return type === undefined ? [] : [{ name, type }];
  });
  return {
    operator: 'scan',
    dataSource,
    intervals,
    filter,
    virtualColumns: [],
    columns: [TIME_COLUMN, ...columns],
    ...(types.length === 0 ? {} : { types }),
    timeOrder: null,
    offset: 0,
    limit: null,
    post: [],
  };
}

interface Batch {
  readonly dataSource: string;
  readonly visible: VisibleSegment['visible'];
  readonly ids: string[];
}

/** Neighbours with the same visible parts: one plan reads them. */
function* batchesOf(segments: readonly VisibleSegment[]): Generator<Batch> {
  let batch: Batch | undefined;
  let [rows, key] = [0, ''];
  for (const { segment, visible } of segments) {
    const own = visible.map(formatInterval).join();
    if (batch !== undefined && (own !== key || rows + segment.rowCount > ROWS_TOGETHER || batch.ids.length >= SEGMENTS_TOGETHER)) {
      yield batch;
      batch = undefined;
    }
    if (batch === undefined) {
      batch = { dataSource: segment.id.dataSource, visible, ids: [] };
      [rows, key] = [0, own];
    }
    batch.ids.push(idTextOf(segment));
    rows += segment.rowCount;
  }
  if (batch !== undefined) yield batch;
}
