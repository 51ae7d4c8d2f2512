import { ServiceError } from '../../base/errors.js';
import { columnsOfPlan } from '../../execution/columns-of-plan.js';
import type { Engine, RunOptions } from '../../execution/contract.js';
import { concatFrames } from '../../execution/merge/concat.js';
import { chunksOf } from '../../execution/source/chunks.js';
import { HashJoin } from '../../execution/source/join.js';
import type { WantedColumn } from '../../execution/source/rows.js';
import { frameBytes, selectColumns } from '../../execution/source/rows.js';
import { unnestFrame } from '../../execution/source/unnest.js';
import type { VirtualColumn } from '../../model/aggregator.js';
import type { Filter } from '../../model/filter.js';
import type { Frame } from '../../model/frame.js';
import type { Interval } from '../../model/interval.js';
import { ETERNITY } from '../../model/interval.js';
import type { ScanPlan } from '../../model/plan.js';
import { columnsOfFilter } from '../../model/plan-names.js';
import type { JoinSource, RowSource, RowsPlan } from '../../model/row-source.js';
import type { ColumnSchema } from '../../model/schema.js';
import { TIME_COLUMN } from '../../model/schema.js';
import { ChunkedRun, type PlaceFrame } from './chunked-run.js';

export interface SourceRunnerOptions {
  readonly engine: Engine;
  readonly placeFrame: PlaceFrame;
  /** Runs a plan over the segments of all these tables together. */
  readonly runTables: (plan: RowsPlan, tables: readonly string[]) => AsyncIterable<Frame>;
  /** Rows of a lookup; throws `query_invalid` when there is none of the name. */
  readonly lookup: (name: string) => Frame;
  readonly runOptions: Omit<RunOptions, 'ending'>;
  readonly signal: AbortSignal;
  /** Of each subquery and each right side of a join; null: not limited for the first, the defaults below for the second. */
  readonly subqueryRowsMax: number | null;
  readonly subqueryBytesMax: number | null;
  /** Rows placed at a time; null: as many as is good. For tests. */
  readonly chunkRows?: number;
}

/** What the right side of a join may hold unless the context says otherwise. */
const BUILD_BYTES_MAX = 512 << 20;

/** Runs plans over row sources for one query: what stands above the leaves, one stage per kind of source. */
export class SourceRunner {
  readonly #options: SourceRunnerOptions;
  readonly #chunks: ChunkedRun;

  constructor(options: SourceRunnerOptions) {
    this.#options = options;
    this.#chunks = new ChunkedRun(options);
  }

  /** The answer of a plan over the rows of a source, streamed. */
  run(plan: RowsPlan, source: RowSource): AsyncIterable<Frame> {
    if (source.kind === 'table') return this.#options.runTables({ ...plan, dataSource: source.name }, [source.name]);
    if (source.kind === 'union') {
      const tables = source.sources.flatMap((each) => (each.kind === 'table' ? [each.name] : []));
      // A table that stands there twice gives its rows twice, so it cannot be read as one set of segments.
      if (new Set(tables).size === source.sources.length) return this.#options.runTables(plan, tables);
    }
    if (source.kind === 'filtered' && !shadows(plan.virtualColumns, source.filter))
      return this.run({ ...plan, filter: both(source.filter, plan.filter) }, source.source);
    const rows = this.#rows(source, columnsOfPlan(plan).columns, plan.intervals);
    return this.#chunks.run(plan, chunksOf(rows, this.#options.chunkRows));
  }

  /**
   * Rows of a source with at least these columns, where it has them. Intervals bind the rows of the base table, the
   * leftmost source of joins; whoever reads the rows may have to apply them again.
   */
  #rows(source: RowSource, columns: readonly string[], intervals: readonly Interval[]): AsyncIterable<Frame> {
    switch (source.kind) {
      case 'inline':
        return once(source.frame);
      case 'lookup':
        return lazily(() => this.#options.lookup(source.name));
      case 'query':
        return this.#limited(pruned(this.run(source.plan, source.source), columns), 'a subquery', this.#options.subqueryBytesMax);
      case 'table':
      case 'filtered':
        return this.run(scanOf(columns, intervals, []), source);
      case 'union':
        return this.#unionRows(source.sources, columns, intervals);
      case 'unnest':
        return this.#unnestRows(source.source, source.column, columns, intervals);
      case 'join':
        return this.#joinRows(source, columns, intervals);
    }
  }

  async *#unionRows(sources: readonly RowSource[], columns: readonly string[], intervals: readonly Interval[]): AsyncGenerator<Frame> {
    const wanted = columns.map((name): WantedColumn => ({ name, type: 'STRING' }));
    for (const source of sources)
      for await (const frame of this.run(scanOf(columns, intervals, []), source)) yield selectColumns(frame, wanted);
  }

  async *#unnestRows(
    source: RowSource,
    column: VirtualColumn,
    columns: readonly string[],
    intervals: readonly Interval[],
  ): AsyncGenerator<Frame> {
    const plan = scanOf([...new Set([...columns, column.name])], intervals, [column]);
    for await (const frame of this.run(plan, source)) {
      const unnested = unnestFrame(frame, column.name);
      if (unnested.rowCount > 0) yield unnested;
    }
  }

  async *#joinRows(join: JoinSource, asked: readonly string[], intervals: readonly Interval[]): AsyncGenerator<Frame> {
    if (join.condition !== null) {
      const filter: Filter = { kind: 'expression', expression: join.condition };
      yield* this.run(scanOf(asked, intervals, [], filter), { ...join, condition: null });
      return;
    }
    const isRight = (name: string): boolean => name.startsWith(join.prefix);
    const leftColumns = typed(
      asked.filter((name) => !isRight(name)),
      join.leftColumns,
    );
    const rightColumns = typed(
      asked.filter(isRight).map((name) => name.slice(join.prefix.length)),
      join.rightColumns,
    );
    const keyName = (index: number): string => `join key ${index}`;
    const keysOf = (side: 'left' | 'right'): VirtualColumn[] =>
      join.keys.map((key, index) => ({ name: keyName(index), expression: key[side], outputType: key.type }));
    const sideOf = (columns: readonly WantedColumn[], side: 'left' | 'right'): ScanPlan =>
      scanOf(
        [...columns.map(({ name }) => name), ...join.keys.map((_, index) => keyName(index))],
        side === 'left' ? intervals : [ETERNITY],
        [...keysOf(side)],
      );
    const built: Frame[] = [];
    const bytesMax = this.#options.subqueryBytesMax ?? BUILD_BYTES_MAX;
    const rightRows = this.run(sideOf(rightColumns, 'right'), join.right);
    for await (const frame of this.#limited(rightRows, 'the right side of a join', bytesMax)) built.push(frame);
    const hash = new HashJoin({
      right: concatFrames(built),
      keys: join.keys.map((_, index) => keyName(index)),
      type: join.type,
      prefix: join.prefix,
      leftColumns,
      rightColumns,
    });
    for await (const frame of this.run(sideOf(leftColumns, 'left'), join.left)) yield* hash.probe(frame);
    yield* hash.rest();
  }

  async *#limited(frames: AsyncIterable<Frame>, what: string, bytesMax: number | null): AsyncGenerator<Frame> {
    const { subqueryRowsMax: rowsMax } = this.#options;
    let [rows, bytes] = [0, 0];
    for await (const frame of frames) {
      rows += frame.rowCount;
      if (rowsMax !== null && rows > rowsMax)
        throw new ServiceError('resource_limit', `${what} gives more than the ${rowsMax} rows of context.maxSubqueryRows`);
      if (bytesMax !== null) bytes += frameBytes(frame);
      if (bytesMax !== null && bytes > bytesMax)
        throw new ServiceError('resource_limit', `${what} gives more than the ${bytesMax} bytes of context.maxSubqueryBytes`);
      yield frame;
    }
  }
}

function scanOf(
  columns: readonly string[],
  intervals: readonly Interval[],
  virtualColumns: readonly VirtualColumn[],
  filter: Filter | null = null,
): ScanPlan {
  const rest = { filter, virtualColumns, timeOrder: null, offset: 0, limit: null, finish: [] };
  return { operator: 'scan', dataSource: '', intervals, columns, ...rest };
}

/** Whether a filter of the source would read a virtual column of the plan instead of the source's own. */
function shadows(virtualColumns: readonly VirtualColumn[], filter: Filter): boolean {
  const names = new Set(virtualColumns.map(({ name }) => name));
  return [...columnsOfFilter(filter)].some((name) => names.has(name));
}

function both(first: Filter, second: Filter | null): Filter {
  return second === null ? first : { kind: 'and', filters: [first, second] };
}

function typed(names: readonly string[], schema: readonly ColumnSchema[]): readonly WantedColumn[] {
  const types = new Map(schema.map(({ name, type }) => [name, type]));
  return names.map((name) => ({ name, type: name === TIME_COLUMN ? 'LONG' : (types.get(name) ?? 'STRING') }));
}

/** Only the columns somebody reads: the others need not be placed. */
async function* pruned(frames: AsyncIterable<Frame>, columns: readonly string[]): AsyncGenerator<Frame> {
  const wanted = new Set(columns);
  for await (const frame of frames) yield { ...frame, columns: frame.columns.filter(({ name }) => wanted.has(name)) };
}

async function* once(frame: Frame): AsyncGenerator<Frame> {
  yield frame;
}

async function* lazily(make: () => Frame): AsyncGenerator<Frame> {
  yield make();
}
