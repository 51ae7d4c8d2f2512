// Runs plans over row sources: tables, subqueries, inline rows, unions and joins of them.

import { ServiceError } from '../../base/errors.js';
import { ETERNITY, type Interval } from '../../base/instant.js';
import { columnsRead } from '../../execution/expression/columns-of-plan.js';
import { frameBytes, selectColumns, type WantedColumn } from '../../execution/join/rows.js';
import type { Engine, RunOptions, UploadedRows } from '../../execution/run/engine.js';
import type { VirtualColumn } from '../../model/aggregator.js';
import { columnsOfFilter } from '../../model/columns-read.js';
import type { Filter } from '../../model/filter.js';
import type { Frame } from '../../model/frame.js';
import type { PostStep, ScanPlan } from '../../model/plan.js';
import type { JoinSource, RowSource, RowsPlan } from '../../model/row-source.js';
import type { RunLimits } from '../../model/run-limits.js';
import { type ColumnSchema, TIME_COLUMN } from '../../model/schema.js';
import type { FilterStage, JoinStage, Stage } from '../../model/stage.js';
import { columnsThrough } from '../../model/stage-columns.js';
import type { Upload, UploadColumn } from '../../model/upload.js';
import { type KeptFrames, keeping, lazily, mapped, once, peekUploaded, pruned } from './frame-streams.js';
import { type Bound, columnBelow, KeyBounds } from './key-bounds.js';
import { asksForTime, chooseSides, cutByTime, isBesideTables, pushDown, type SourceSteps, sketchStages, stepsOf } from './source-steps.js';

export interface SourceRunnerOptions {
  readonly engine: Pick<Engine, 'runRows' | 'runUploaded' | 'build' | 'reserveUpload' | 'releaseUpload'>;
  /** Runs a plan over the segments of all these tables together. */
  readonly runTables: (plan: RowsPlan, tables: readonly string[]) => AsyncIterable<Frame>;
  /** Whether all segments of these tables are served by this process, whose kernel memory is shared. */
  readonly isServedHere: (tables: readonly string[]) => boolean;
  /** Rows of a table; null when there is none of the name. */
  readonly rowsOfTable: (name: string) => number | null;
  /** Rows of a lookup; throws `query_invalid` when there is none of the name. */
  readonly lookup: (name: string) => Frame;
  /** Known columns of a source. */
  readonly columnsOf: (source: RowSource) => readonly ColumnSchema[];
  readonly runOptions: Omit<RunOptions, 'ending'>;
  readonly signal: AbortSignal;
  /** Rows placed at a time; null: as many as is good. For tests. */
  readonly chunkRows?: number;
}

/** Default size limit of a join's right side. */
const BUILD_BYTES_MAX = 512 << 20;
/** Results of subqueries that take more come as frames, chunk by chunk. */
const NESTED_BYTES_MAX = 64 << 20;

/**
 * Runs plans over row sources for one query. Every source is rows of some kind (tables, a subquery, inline rows) and
 * stages over them; right sides of joins are placed first. Over tables the stages run beside the segments, where they
 * can; all other rows come as frames and are read on a processing thread. Nothing but right sides is held here.
 */
export class SourceRunner {
  readonly #options: SourceRunnerOptions;

  constructor(options: SourceRunnerOptions) {
    this.#options = options;
  }

  /** The answer of a plan over the rows of a source, streamed. */
  run(plan: RowsPlan, source: RowSource): AsyncIterable<Frame> {
    return this.#run(plan, source, []);
  }

  /** @param bounds  rows outside of them may be left out */
  #run(plan: RowsPlan, source: RowSource, bounds: readonly Bound[]): AsyncIterable<Frame> {
    const { base, steps } = stepsOf(source);
    const tables = tablesOf(base);
    if (tables === undefined || bounds.length > 0) return this.#runStaged(plan, { base, steps }, bounds);
    const filters = steps.flatMap((step) => (step.kind === 'filter' && !shadows(plan.virtualColumns, step.filter) ? [step.filter] : []));
    if (filters.length < steps.length) return this.#runStaged(plan, { base, steps }, []);
    const whole = { ...plan, filter: filters.reduceRight<Filter | null>(both, plan.filter) };
    return this.#runTables(cutByTime(whole, []).plan, tables);
  }

  async *#runStaged(asked: RowsPlan, given: SourceSteps, outer: readonly Bound[]): AsyncGenerator<Frame> {
    const { engine, isServedHere, runOptions, signal, chunkRows } = this.#options;
    const pushed = pushDown(inOrder(asked), given.steps);
    const source = chooseSides(pushed.plan, { ...given, steps: pushed.steps }, (base) => this.#countRows(base));
    const tables = tablesOf(source.base);
    const besideTables = tables !== undefined && isBesideTables(source.steps);
    const { plan, steps } = besideTables ? cutByTime(pushed.plan, source.steps) : { plan: pushed.plan, steps: source.steps };
    const sends = besideTables && !isServedHere(tables);
    const placed: UploadedRows[] = [];
    try {
      const sketches = sketchStages(steps, columnsRead(plan));
      const joined: Stage[] = sketches.map(({ stage }) => stage);
      const bounds = new KeyBounds({ base: source.base, steps }, this.#options.columnsOf(source.base), sends ? [] : outer);
      let areSent = true;
      for (const at of bounds.order((side) => this.#rowsBelow(side))) {
        const { stage, join } = sketches[at] ?? {};
        if (stage?.kind !== 'join' || join === undefined) continue;
        const kept: KeptFrames = { frames: sends ? [] : null, bytes: 0 };
        const side = {
          keys: stage.keys,
          keysOnly: stage.condition === null && stage.columns.length === 0 && KEEPS_LEFT.has(join.type),
          marked: join.type === 'right' || join.type === 'full',
          bytesMax: this.#buildBytesMax - bytesOf(placed),
          limit: BYTES_LIMIT,
        };
        const id = engine.reserveUpload();
        placed.push({ id, rowCount: 0, bytes: 0, release: () => engine.releaseUpload(id) });
        const upload = { ...side, id, columns: [], rowsMax: this.#rowsMax, orFrames: false, subject: RIGHT_SIDE };
        const found = await peekUploaded(this.#rightRows(join, stage, sends ? undefined : upload, bounds.ofRight(at)));
        const rows =
          found.uploaded === undefined
            ? await engine.build(
                keeping(this.#limited(found.frames, RIGHT_SIDE, this.#buildBytesMax), kept),
                side,
                { ...runOptions, ending: 'final' },
                signal,
              )
            : { ...found.uploaded, release: () => undefined };
        placed.push(rows);
        areSent &&= kept.frames !== null;
        joined[at] = { ...stage, build: { id: rows.id, frames: kept.frames } };
        if (!sends) bounds.place(at, rows, this.#rowsBelow(join.right));
      }
      const [filters, others] = leading(joined);
      const stages = tables === undefined ? joined : [...filters, ...bounds.stages(), ...others];
      if (besideTables && (areSent || !sends)) yield* this.#runTables({ ...plan, stages }, tables);
      else {
        // The scan of tables can do these itself.
        const [first, later] = tables === undefined ? [[], stages] : [filters, others];
        const needed = [...columnsThrough(later, columnsRead(plan)).before];
        const columns = typed(needed, this.#options.columnsOf(source.base));
        const upload = this.#nestedUpload(plan, { ...source, steps }, columns);
        if (upload !== undefined) placed.push({ id: upload.id, rowCount: 0, bytes: 0, release: () => engine.releaseUpload(upload.id) });
        const conditions = first.map(({ filter }) => filter);
        const found = await peekUploaded(this.#rows(source.base, needed, plan.intervals, conditions, { upload, bounds: bounds.ofBase() }));
        const known = { columns, chunkRows: chunkRows ?? null };
        const staged = { ...plan, stages: later };
        const final = { ...runOptions, ending: 'final' } as const;
        if (found.uploaded !== undefined) yield* engine.runUploaded(staged, found.uploaded.id, final, signal);
        else yield* engine.runRows(staged, found.frames, known, final, signal);
      }
    } finally {
      for (const rows of placed) rows.release();
    }
  }

  /** The groups of a subquery stay in memory where they are not too many, and no time is asked of them: they are in no order of it. */
  #nestedUpload(plan: RowsPlan, { base, steps }: SourceSteps, columns: readonly ColumnSchema[]): Upload | undefined {
    if (base.kind !== 'query' || base.plan.operator !== 'group' || !isBesideTables(steps) || asksForTime(plan, steps)) return undefined;
    if (this.#options.columnsOf(base).some(({ name }) => name === TIME_COLUMN)) return undefined;
    const named = columns.flatMap(({ name }) => (name === TIME_COLUMN ? [] : [{ name, from: name }]));
    if (named.length === 0) return undefined;
    const bytesMax = Math.min(NESTED_BYTES_MAX, this.#limits.maxSubqueryBytes ?? Infinity);
    const side = { keys: [], keysOnly: false, marked: false, bytesMax, limit: BYTES_LIMIT };
    const id = this.#options.engine.reserveUpload();
    return { ...side, id, columns: named, rowsMax: this.#rowsMax, orFrames: true, subject: 'a subquery' };
  }

  /** Rows of other processes come as frames, whatever the plan asks for. */
  #runTables({ upload, ...plan }: RowsPlan, tables: readonly string[]): AsyncIterable<Frame> {
    const { runTables, isServedHere } = this.#options;
    return runTables(upload !== undefined && isServedHere(tables) ? { ...plan, upload } : plan, tables);
  }

  /** Row count of tables that are served here; null for others, to which the right side is sent whatever its size. */
  #countRows(base: SourceSteps['base']): number | null {
    const { isServedHere, rowsOfTable, lookup } = this.#options;
    if (base.kind === 'inline') return base.frame.rowCount;
    if (base.kind === 'lookup') return lookup(base.name).rowCount;
    return base.kind === 'table' && isServedHere([base.name]) ? rowsOfTable(base.name) : null;
  }

  /** Rows that a source reads of what it begins with, whatever it makes of them; null: not known. */
  #rowsBelow(source: RowSource): number | null {
    const { base } = stepsOf(source);
    return base.kind === 'query' ? this.#rowsBelow(base.source) : this.#countRows(base);
  }

  /**
   * Rows of what a source begins with, with at least these columns, where it has them. Intervals bind the rows of tables;
   * whoever reads the rows applies them again.
   */
  #rows(
    source: SourceSteps['base'],
    columns: readonly string[],
    intervals: readonly Interval[],
    filters: readonly Filter[],
    { upload, bounds = [] }: { readonly upload?: Upload | undefined; readonly bounds?: readonly Bound[] },
  ): AsyncIterable<Frame> {
    switch (source.kind) {
      case 'inline':
        return once(source.frame);
      case 'lookup':
        return lazily(() => this.#options.lookup(source.name));
      case 'query':
        return this.#limited(
          pruned(
            this.#run(
              uploading(narrowed(source.plan, this.#options.columnsOf(source), columns), upload),
              source.source,
              bounds.flatMap((bound) => columnBelow(bound, source.plan, this.#options.columnsOf(source.source))),
            ),
            columns,
          ),
          'a subquery',
          this.#limits.maxSubqueryBytes ?? null,
        );
      case 'table':
        return this.run({ ...scanOf(columns, intervals, []), filter: filters.reduceRight<Filter | null>(both, null) }, source);
      case 'union':
        return this.#unionRows(source, columns, intervals, filters);
    }
  }

  async *#unionRows(
    union: Extract<RowSource, { kind: 'union' }>,
    columns: readonly string[],
    intervals: readonly Interval[],
    filters: readonly Filter[],
  ): AsyncGenerator<Frame> {
    const wanted = typed(columns, this.#options.columnsOf(union));
    for (const source of union.sources)
      for await (const frame of this.run(
        { ...scanOf(columns, intervals, []), filter: filters.reduceRight<Filter | null>(both, null) },
        source,
      ))
        yield selectColumns(frame, wanted);
  }

  /** The `columnCount` columns of the right side that are needed, then the parts of the key, by the names of the stage. */
  async *#rightRows(join: SketchedJoin, stage: JoinStage, upload: Upload | undefined, bounds: readonly Bound[]): AsyncGenerator<Frame> {
    const { right, keys, needed } = join;
    const keyColumns = keys.map(
      (key, index): VirtualColumn => ({ name: `join key ${index}`, expression: key.right, outputType: key.type }),
    );
    const own = [...stage.columns.map(({ from }) => from), ...stage.keys.map(({ build }) => build)];
    const asTheyCome = this.#rowsAsTheyCome(join, own, upload, bounds);
    const names = [...needed, ...keyColumns.map(({ name }) => name)];
    const plan = scanOf(names, [ETERNITY], keyColumns);
    const rows =
      asTheyCome ??
      this.#run(upload === undefined ? plan : { ...plan, upload: { ...upload, columns: renamed(names, own) } }, right, bounds);
    for await (const frame of rows) {
      if (frame.uploaded !== undefined) yield frame;
      else yield { ...frame, columns: frame.columns.map((column, at) => ({ ...column, name: own[at] ?? column.name })) };
    }
  }

  /**
   * The needed columns and the parts of the key straight from what gives frames anyway, where the parts are columns of
   * their type; undefined: the rows have to be read first.
   */
  #rowsAsTheyCome(
    { right, keys, needed }: SketchedJoin,
    own: readonly string[],
    upload: Upload | undefined,
    bounds: readonly Bound[],
  ): AsyncIterable<Frame> | undefined {
    const { base, steps } = stepsOf(right);
    if (steps.length > 0 || base.kind === 'table' || base.kind === 'union') return undefined;
    const types = new Map(this.#options.columnsOf(base).map(({ name, type }) => [name, type]));
    const parts = keys.flatMap(({ right: key, type }) => (key.kind === 'column' && types.get(key.name) === type ? [key.name] : []));
    if (parts.length < keys.length) return undefined;
    const names = [...needed, ...parts];
    const wanted = names.map((name): WantedColumn => ({ name, type: types.get(name) ?? 'STRING' }));
    const placed = upload && { ...upload, columns: renamed(names, own) };
    const rows = this.#rows(base, [...new Set(names)], [ETERNITY], [], { upload: placed, bounds });
    return mapped(rows, (frame) => (frame.uploaded === undefined ? selectColumns(frame, wanted) : frame));
  }

  get #buildBytesMax(): number {
    return this.#limits.maxSubqueryBytes ?? BUILD_BYTES_MAX;
  }

  /** Bytes take precedence where both are set, as documented. */
  get #rowsMax(): number | null {
    const { maxSubqueryRows = null, maxSubqueryBytes = null } = this.#limits;
    return maxSubqueryBytes === null ? maxSubqueryRows : null;
  }

  get #limits(): RunLimits {
    return this.#options.runOptions.limits ?? {};
  }

  async *#limited(frames: AsyncIterable<Frame>, what: string, bytesMax: number | null): AsyncGenerator<Frame> {
    const rowsMax = this.#rowsMax;
    let [rows, bytes] = [0, 0];
    for await (const frame of frames) {
      rows += frame.rowCount;
      if (rowsMax !== null && rows > rowsMax)
        throw new ServiceError('resource_limit', `${what} gives more than the ${rowsMax} rows of context.maxSubqueryRows`);
      if (bytesMax !== null) bytes += frameBytes(frame);
      if (bytesMax !== null && bytes > bytesMax)
        throw new ServiceError('resource_limit', `${what} gives more than the ${bytesMax} bytes of ${BYTES_LIMIT}`);
      yield frame;
    }
  }
}

/** Joins that give rows of the left side, whatever the right one has beside its keys. */
const KEEPS_LEFT: ReadonlySet<string> = new Set(['semi', 'anti', 'mark']);
const RIGHT_SIDE = 'the right side of a join';
const BYTES_LIMIT = 'context.maxSubqueryBytes';

type SketchedJoin = JoinSource & { readonly needed: readonly string[] };

function bytesOf(placed: readonly UploadedRows[]): number {
  return placed.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Tables that can be read as one set of segments: one that stands there twice gives its rows twice, so it cannot. */
function tablesOf(source: RowSource): readonly string[] | undefined {
  if (source.kind === 'table') return [source.name];
  if (source.kind !== 'union') return undefined;
  const tables = source.sources.flatMap((each) => (each.kind === 'table' ? [each.name] : []));
  return new Set(tables).size === source.sources.length ? tables : undefined;
}

/** Rows that went through stages, or came as frames, are in no order of time, so that is a step after they have met. */
function inOrder(plan: RowsPlan): RowsPlan {
  if (plan.operator !== 'scan' || plan.timeOrder === null) return plan;
  const { offset, limit, columns } = plan;
  const by = [{ column: TIME_COLUMN, descending: plan.timeOrder === 'descending', nulls: 'first', ordering: 'numeric' }] as const;
  const steps: PostStep[] = [{ step: 'sort', by, offset, limit }];
  if (!columns.includes(TIME_COLUMN)) steps.push({ step: 'project', columns: columns.map((name) => ({ name, from: name })) });
  return {
    ...plan,
    columns: columns.includes(TIME_COLUMN) ? columns : [...columns, TIME_COLUMN],
    timeOrder: null,
    offset: 0,
    limit: null,
    post: [...steps, ...plan.post],
  };
}

function scanOf(columns: readonly string[], intervals: readonly Interval[], virtualColumns: readonly VirtualColumn[]): ScanPlan {
  const rest = { filter: null, virtualColumns, timeOrder: null, offset: 0, limit: null, post: [] };
  return { operator: 'scan', dataSource: '', intervals, columns, ...rest };
}

/** Whether a filter of the source would read a virtual column of the plan instead of the source's own. */
function shadows(virtualColumns: readonly VirtualColumn[], filter: Filter): boolean {
  const names = new Set(virtualColumns.map(({ name }) => name));
  return [...columnsOfFilter(filter)].some((name) => names.has(name));
}

/** Conditions before all other stages, and what is left. */
function leading(stages: readonly Stage[]): readonly [readonly FilterStage[], readonly Stage[]] {
  const end = stages.findIndex(({ kind }) => kind !== 'filter');
  const count = end < 0 ? stages.length : end;
  return [stages.slice(0, count).flatMap((stage) => (stage.kind === 'filter' ? [stage] : [])), stages.slice(count)];
}

function both(second: Filter | null, first: Filter): Filter {
  return second === null ? first : { kind: 'and', filters: [first, second] };
}

function typed(names: readonly string[], schema: readonly ColumnSchema[]): readonly (WantedColumn & ColumnSchema)[] {
  const known = new Map(schema.map((column) => [column.name, column]));
  return names.flatMap((name) => {
    const column = known.get(name);
    if (column !== undefined) return [column];
    return name === TIME_COLUMN ? [{ name, type: 'LONG', multiValue: false, hasNulls: true } as const] : [];
  });
}

/** The plan without outputs that nobody reads, so that their texts are not decoded; as it is where not all are known. */
function narrowed(plan: RowsPlan, outputs: readonly ColumnSchema[], wanted: readonly string[]): RowsPlan {
  const known = new Set(outputs.map(({ name }) => name));
  if (wanted.some((name) => name !== TIME_COLUMN && !known.has(name))) return plan;
  const kept = outputs.filter(({ name }) => wanted.includes(name)).map(({ name }) => name);
  if (kept.length === outputs.length) return plan;
  if (plan.operator === 'scan' && plan.post.length === 0) return { ...plan, columns: plan.columns.filter((name) => kept.includes(name)) };
  return { ...plan, post: [...plan.post, { step: 'project', columns: kept.map((name) => ({ name, from: name })) }] };
}

function renamed(from: readonly string[], names: readonly string[]): readonly UploadColumn[] {
  return names.map((name, at) => ({ name, from: from[at] ?? name }));
}

function uploading(plan: RowsPlan, upload: Upload | undefined): RowsPlan {
  return upload === undefined ? plan : { ...plan, upload };
}
