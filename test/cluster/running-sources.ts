import type { CancelSignal } from '../../src/base/cancel-signal.js';
import { ETERNITY } from '../../src/base/instant.js';
import type { SourceRunnerOptions } from '../../src/cluster/sources/runner-options.js';
import { SourceRunner } from '../../src/cluster/sources/source-runner.js';
import type { Engine } from '../../src/execution/run/engine.js';
import { parseExpression } from '../../src/expression/parse.js';
import type { KernelMemory } from '../../src/kernels/memory.js';
import type { Frame } from '../../src/model/frame.js';
import type { GroupPlan, ScanPlan } from '../../src/model/plan.js';
import type { JoinSource, RowSource } from '../../src/model/row-source.js';
import { rowSourceColumns } from '../../src/planner/row-source-columns.js';
import { type UploadedFrame, uploadFrame } from '../../src/storage/uploaded-frame.js';
import { schemaOf } from './plain-rows.js';

/* Plans over row sources for tests, and tables whose segments lie in memory for a run. */

export const RUN = { deadlineMs: Number.MAX_SAFE_INTEGER, kernels: null, batchRows: null } as const;
export const LEAF = { dataSource: 'rows', intervals: [ETERNITY], filter: null, virtualColumns: [], post: [] } as const;
export const COUNT = { kind: 'count', name: 'rows', filter: null } as const;

export const scanOf = (columns: readonly string[], changes: Partial<ScanPlan> = {}): ScanPlan => ({
  operator: 'scan',
  ...LEAF,
  columns,
  timeOrder: null,
  offset: 0,
  limit: null,
  ...changes,
});

/** Counts of rows by columns. */
export const groupOf = (keys: readonly string[], changes: Partial<GroupPlan> = {}): GroupPlan => ({
  operator: 'group',
  ...LEAF,
  keys: keys.map((name) => ({ kind: 'column', name, column: name, type: null })),
  aggregators: [COUNT],
  emptyGroup: false,
  ...changes,
});

export const inline = (frame: Frame): RowSource => ({ kind: 'inline', frame });

/** Rows of one column `number`, from 0 on. */
export const numbers = (count: number): Frame => ({
  rowCount: count,
  columns: [{ kind: 'long', name: 'number', values: BigInt64Array.from({ length: count }, (_, row) => BigInt(row)), nulls: null }],
});

/** A join of rows with the same `number`. */
export function joinOf(left: RowSource, right: RowSource, changes: Partial<JoinSource> = {}): JoinSource {
  return {
    kind: 'join',
    left,
    right,
    prefix: 'r.',
    type: 'inner',
    keys: [{ left: parseExpression('number'), right: parseExpression('number'), type: 'LONG' }],
    condition: null,
    leftColumns: schemaOf({ number: 'LONG' }),
    rightColumns: schemaOf({ number: 'LONG' }),
    ...changes,
  };
}

export interface RunningTables {
  readonly engine: Pick<Engine, 'runViews'>;
  readonly memory: KernelMemory;
  /** The segments of a table. */
  readonly framesOf: (table: string) => readonly Frame[];
  /** Takes segments of whose dictionaries a result that stays in memory has some: they are freed after it. */
  readonly held: UploadedFrame[];
  readonly signal?: CancelSignal | undefined;
}

/** Runs plans over tables whose segments are uploaded for each run. */
/** A runner over one table of segments. @param types  of its columns */
export function runnerOf(
  running: RunningTables & { readonly engine: Engine },
  types: Parameters<typeof schemaOf>[0],
  isServedHere: () => boolean = () => true,
  rowsOfTable: SourceRunnerOptions['rowsOfTable'] = () => null,
): SourceRunner {
  return new SourceRunner({
    engine: running.engine,
    isServedHere,
    rowsOfTable,
    columnsOf: (each) => rowSourceColumns(each, { table: () => ({ columns: schemaOf(types), interval: ETERNITY }) }),
    runTables: runTablesOf(running),
    lookup: () => ({ rowCount: 0, frames: async function* () {} }),
    runOptions: RUN,
    signal: new AbortController().signal,
  });
}

export function runTablesOf({ engine, memory, framesOf, held, signal }: RunningTables): SourceRunnerOptions['runTables'] {
  return async function* (plan, names): AsyncGenerator<Frame> {
    const placed = names.flatMap(framesOf).map((frame) => uploadFrame(frame, memory));
    try {
      const views = placed.map(({ view }, part) => ({ ...view, id: `segment_${part}` }));
      yield* engine.runViews(plan, views, { ...RUN, ending: 'final' }, signal ?? new AbortController().signal);
    } finally {
      if (plan.upload === undefined) for (const { release } of placed) release();
      else held.push(...placed);
    }
  };
}
