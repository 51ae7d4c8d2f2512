// Runs plans over row sources: tables, subqueries, inline rows, unions and joins of them.

import { ServiceError } from '../../base/errors.js';
import { ETERNITY, type Interval } from '../../base/instant.js';
import { extended } from '../../base/names.js';
import { columnsRead } from '../../execution/expression/columns-of-plan.js';
import { selectColumns, type WantedColumn } from '../../execution/join/rows.js';
import type { UploadedRows } from '../../execution/run/engine.js';
import type { VirtualColumn } from '../../model/aggregator.js';
import type { Filter } from '../../model/filter.js';
import type { Frame, Uploaded } from '../../model/frame.js';
import type { LookupTable } from '../../model/lookup/lookup-table.js';
import { arrivalName } from '../../model/rewrite/arrival-time.js';
import type { JoinSource, RowSource, RowsPlan } from '../../model/row-source.js';
import { TIME_COLUMN } from '../../model/schema.js';
import type { JoinStage, Stage } from '../../model/stage.js';
import { columnsThrough } from '../../model/stage-columns.js';
import type { Upload } from '../../model/upload.js';
import { type KeptFrames, keeping, leftInMemory, mapped, once, peekUploaded, pruned } from './frame-streams.js';
import { heldRows } from './held-rows.js';
import { keptEntries, keptSide } from './kept-lookups.js';
import { type Bound, columnBelow, KeyBounds } from './key-bounds.js';
import { withLookedUpPartners } from './lookup-joins.js';
import { readInMemory } from './read-in-memory.js';
import { BYTES_LIMIT, bytesOf, HeldLimits, limited, refuseMany, unlessFull } from './row-limits.js';
import type { SourceRunnerOptions } from './runner-options.js';
import { type SharedGroups, type SharedRows, SharedSources } from './shared-sources.js';
import { countRows, rowsBelow } from './source-counts.js';
import {
  asksKeysOnly,
  both,
  inOrder,
  isWorthKeeping,
  keptScan,
  leading,
  narrowed,
  originalOf,
  type QuerySource,
  readKept,
  renamed,
  scanOf,
  shadows,
  tablesOf,
  typed,
  unordered,
  uploading,
} from './source-plans.js';
import { asksForTime, chooseSides, cutByTime, isBesideTables, pushDown, type SourceSteps, sketchStages, stepsOf } from './source-steps.js';
import { splitWindows } from './split-windows.js';
import { unionFrames } from './union-rows.js';

/**
 * Runs plans over row sources for one query. Every source is rows of some kind (tables, a subquery, inline rows) and
 * stages over them; right sides of joins are placed first. Over tables the stages run beside the segments, where they
 * can; all other rows come as frames and are read on a processing thread. Nothing but right sides is held here.
 */
export class SourceRunner {
  readonly #options: SourceRunnerOptions;
  readonly #limits: HeldLimits;
  #shared: SharedSources | undefined;
  /** Entries of lookups as they were when a join first named them. */
  readonly #tables = new Map<string, LookupTable | undefined>();

  constructor(options: SourceRunnerOptions) {
    this.#options = options;
    this.#limits = new HeldLimits(options.runOptions.limits ?? {});
  }

  /** The answer of a plan over the rows of a source, streamed; once. */
  async *run(plan: RowsPlan, source: RowSource): AsyncGenerator<Frame> {
    this.#shared = new SharedSources(plan, source);
    try {
      yield* this.#run(plan, source, []);
    } finally {
      this.#shared.release();
    }
  }

  /** @param bounds  rows outside of them may be left out */
  #run(plan: RowsPlan, source: RowSource, bounds: readonly Bound[]): AsyncIterable<Frame> {
    // Rows that are kept for others have limits of their own.
    const shared = bounds.length > 0 || this.#limits.areSet ? undefined : this.#shared?.rowsOf(plan, source);
    return shared === undefined ? this.#runAlone(plan, source, bounds) : this.#runShared(plan, shared);
  }

  /** A plan over joined rows that others read too, where they can lie in memory. */
  async *#runShared(plan: RowsPlan, shared: SharedRows): AsyncGenerator<Frame> {
    const { engine, runOptions, signal } = this.#options;
    const kept = await this.#shared?.once(shared, () => this.#keptRows(shared));
    if (kept === undefined) yield* this.#runAlone(plan, shared.source, []);
    else yield* engine.runUploaded(plan, [kept.id], { ...runOptions, ending: 'final' }, signal);
  }

  async #keptRows({ source, columns }: SharedRows): Promise<Uploaded | undefined> {
    const { engine, isServedHere } = this.#options;
    const given = stepsOf(source);
    if (columns.size === 0 || !isServedHere(tablesOf(given.base) ?? [])) return undefined;
    const id = engine.reserveUpload();
    this.#shared?.hold(() => engine.releaseUpload(id));
    return unlessFull(() => leftInMemory(this.#runStaged(keptScan([...columns], id), given, [], true)));
  }

  #runAlone(asked: RowsPlan, source: RowSource, bounds: readonly Bound[]): AsyncIterable<Frame> {
    const split = bounds.length === 0 ? splitWindows(asked, source, this.#options, this.#limits) : undefined;
    if (split !== undefined) return this.#runStaged(split.reader, { base: split.query, steps: [] }, []);
    const { base, steps: given } = stepsOf(source);
    const { plan, steps } = withLookedUpPartners(asked, given, {
      tableOf: (name) => this.#tableOf(name),
      columnsOf: this.#options.columnsOf,
    });
    const tables = tablesOf(base);
    if (tables === undefined || bounds.length > 0) return this.#runStaged(plan, { base, steps }, bounds);
    const filters = steps.flatMap((step) => (step.kind === 'filter' && !shadows(plan.virtualColumns, step.filter) ? [step.filter] : []));
    if (filters.length < steps.length) return this.#runStaged(plan, { base, steps }, []);
    const whole = { ...plan, filter: filters.reduceRight<Filter | null>(both, plan.filter) };
    return this.#runTables(cutByTime(whole, []).plan, tables);
  }

  #tableOf(name: string): LookupTable | undefined {
    if (!this.#tables.has(name)) this.#tables.set(name, this.#options.lookup(name).table);
    return this.#tables.get(name);
  }

  /** @param isKept  the rows are to be kept for several plans, if they are few */
  async *#runStaged(asked: RowsPlan, given: SourceSteps, outer: readonly Bound[], isKept = false): AsyncGenerator<Frame> {
    const { engine, isServedHere, runOptions, signal, chunkRows } = this.#options;
    const pushed = pushDown(inOrder(asked), given.steps);
    const source = chooseSides(pushed.plan, { ...given, steps: pushed.steps }, (base) => countRows(this.#options, base));
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
      for (const at of bounds.order((side) => rowsBelow(this.#options, side))) {
        const { stage, join } = sketches[at] ?? {};
        if (stage?.kind !== 'join' || join === undefined) continue;
        const kept: KeptFrames = { frames: sends ? [] : null, bytes: 0 };
        const rows = await this.#place({ stage, join }, bounds.ofRight(at), placed, kept);
        areSent &&= kept.frames !== null;
        joined[at] = { ...stage, build: { id: rows.id, frames: kept.frames } };
        if (!sends) bounds.place(at, rows, rowsBelow(this.#options, join.right));
      }
      if (isKept && plan.upload !== undefined && !isWorthKeeping(plan.upload, countRows(this.#options, source.base), bounds.left)) return;
      const [filters, others] = leading(joined);
      const stages = tables === undefined ? joined : [...filters, ...bounds.stages(), ...others];
      if (besideTables && (areSent || !sends)) yield* this.#runTables(extended(plan, { stages }), tables);
      else {
        // The scan of tables can do these itself.
        const [first, later] = tables === undefined ? [[], stages] : [filters, others];
        const needed = [...columnsThrough(later, columnsRead(plan)).before];
        const columns = typed(needed, this.#options.columnsOf(source.base));
        const known = { columns, chunkRows: chunkRows ?? null };
        const staged = extended(plan, { stages: later });
        const final = { ...runOptions, ending: 'final' } as const;
        const entries = asksForTime(plan, steps) ? undefined : await keptEntries(this.#options, source.base, this.#limits.sides.bytesMax);
        if (entries !== undefined) {
          placed.push(entries);
          yield* engine.runUploaded(staged, [entries.id], final, signal);
          return;
        }
        const inMemory = readInMemory(plan, { ...source, steps }, columns, this.#options.columnsOf(source.base));
        const upload = inMemory && this.#uploadOf(inMemory.names);
        if (upload !== undefined) placed.push(this.#reserved(upload.id));
        const conditions = first.map(({ filter }) => filter);
        const base = unordered(plan, source.base);
        const held = await heldRows(
          { plan, base: source.base, steps, columns, conditions },
          {
            options: this.#options,
            limits: this.#limits,
            sideBytesMax: this.#limits.sides.bytesMax - bytesOf(placed),
            placed,
            upload: (names) => {
              const made = this.#uploadOf(names);
              placed.push(this.#reserved(made.id));
              return made;
            },
            rows: (from, names, made, filters) => this.#rows(from, names, [ETERNITY], filters, { upload: made }),
          },
        );
        const found =
          held ?? (await peekUploaded(this.#rows(base, needed, plan.intervals, conditions, { upload, bounds: bounds.ofBase() })));
        try {
          const all = [...(held?.stages ?? []), ...later];
          if (found.ids !== undefined)
            yield* engine.runUploaded(extended(inMemory?.plan ?? plan, { stages: all }), found.ids, final, signal);
          else yield* engine.runRows(staged, found.frames, known, final, signal);
        } finally {
          await found.end();
        }
      }
    } finally {
      for (const rows of placed) rows.release();
    }
  }

  /** The right side of a join in memory: that of another join of the statement, where both are the same. Frames are kept for other processes, if at all. */
  async #place(
    { stage, join }: { readonly stage: JoinStage; readonly join: SketchedJoin },
    bounds: readonly Bound[],
    placed: UploadedRows[],
    kept: KeptFrames,
  ): Promise<UploadedRows> {
    const { engine, runOptions, signal } = this.#options;
    const sends = kept.frames !== null;
    const keysOnly = asksKeysOnly(stage);
    const name = sends ? undefined : this.#shared?.sideOf(join, stage, keysOnly, bounds);
    const known = name === undefined ? undefined : this.#shared?.sides.get(name);
    const own = (rows: UploadedRows): UploadedRows => {
      if (name !== undefined) this.#shared?.hold(rows.release);
      placed.push(name === undefined ? rows : extended(rows, { release: () => undefined }));
      return rows;
    };
    if (known !== undefined) {
      placed.push(extended(known, { release: () => undefined }));
      return known;
    }
    const side = {
      keys: stage.keys,
      ranges: stage.ranges ?? [],
      keysOnly,
      marked: join.type === 'right' || join.type === 'full',
      bytesMax: this.#limits.sides.bytesMax - bytesOf(placed),
      limit: BYTES_LIMIT,
    };
    if (!sends && !side.marked) {
      const entries = await keptSide(this.#options, join, side, () =>
        limited(this.#rightRows(join, stage, undefined, []), RIGHT_SIDE, this.#limits.sides),
      );
      if (entries !== undefined) {
        placed.push(entries);
        refuseMany(entries, RIGHT_SIDE, { ...this.#limits.sides, bytesMax: side.bytesMax });
        return entries;
      }
    }
    const { id } = own(this.#reserved(engine.reserveUpload()));
    const upload = extended(side, { id, columns: [], rowsMax: this.#limits.sides.rowsMax, orFrames: false, subject: RIGHT_SIDE });
    const found = await peekUploaded(this.#rightRows(join, stage, sends ? undefined : upload, bounds));
    try {
      const frames = keeping(limited(found.frames, RIGHT_SIDE, this.#limits.sides), kept);
      const rows = own(
        found.uploaded === undefined
          ? await engine.build(frames, side, { ...runOptions, ending: 'final' }, signal)
          : extended(found.uploaded, { release: () => undefined }),
      );
      if (name !== undefined) this.#shared?.sides.set(name, rows);
      return rows;
    } finally {
      await found.end();
    }
  }

  /** Reserved memory, of which nothing is taken yet. */
  #reserved(id: string): UploadedRows {
    return { id, rowCount: 0, bytes: 0, release: () => this.#options.engine.releaseUpload(id) };
  }

  /** Asks for the rows of a subquery to be left in memory, unless they are too many; their time goes by the name of arrival. */
  #uploadOf(names: readonly string[]): Upload {
    const bytesMax = this.#limits.nestedBytesMax;
    const side = { keys: [], keysOnly: false, marked: false, bytesMax, limit: BYTES_LIMIT };
    const id = this.#options.engine.reserveUpload();
    return extended(side, {
      id,
      columns: renamed(names, names.map(arrivalName)),
      rowsMax: this.#limits.sides.rowsMax,
      orFrames: true,
      subject: 'a subquery',
    });
  }

  /** Rows of other processes come as frames, whatever the plan asks for. */
  #runTables({ upload, ...plan }: RowsPlan, tables: readonly string[]): AsyncIterable<Frame> {
    const { runTables, isServedHere } = this.#options;
    return runTables(upload !== undefined && isServedHere(tables) ? extended(plan, { upload }) : plan, tables);
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
        return pruned(once(source.frame), columns);
      case 'external':
        if (this.#options.external === undefined) throw new ServiceError('unsupported', 'TABLE(EXTERN(...)) is read by tasks only');
        return this.#options.external(source);
      case 'lookup':
        return this.#options.lookup(source.name).frames();
      case 'query':
        return limited(pruned(this.#queryRows(source, columns, upload, bounds), columns), 'a subquery', this.#limits.subqueries);
      case 'table':
        return this.#run(
          uploading({ ...scanOf(columns, intervals, []), filter: filters.reduceRight<Filter | null>(both, null) }, upload),
          source,
          [],
        );
      case 'union': {
        const wanted = typed(columns, this.#options.columnsOf(source));
        const plan = { ...scanOf(columns, intervals, []), filter: filters.reduceRight<Filter | null>(both, null) };
        return unionFrames(source.sources, (each) => mapped(this.#run(plan, each, []), (frame) => selectColumns(frame, wanted)));
      }
    }
  }

  /** Rows of a subquery; groups that stand in the statement several times are made once, where nothing bounds them. */
  async *#queryRows(
    source: QuerySource,
    columns: readonly string[],
    upload: Upload | undefined,
    bounds: readonly Bound[],
  ): AsyncGenerator<Frame> {
    const { engine, columnsOf, runOptions, signal } = this.#options;
    const shared = bounds.length > 0 ? undefined : this.#shared?.groupsOf(originalOf(source));
    if (shared === undefined) {
      const below = bounds.flatMap((bound) => columnBelow(bound, source.plan, columnsOf(source.source)));
      yield* this.#run(uploading(narrowed(source.plan, columnsOf(source), columns), upload), source.source, below);
      return;
    }
    // Whoever makes them reads them as they come when they do not stay in memory.
    let frames: AsyncIterable<Frame> | undefined;
    const kept = await this.#shared?.once(shared, async () => {
      const found = await peekUploaded(this.#keptGroups(shared));
      frames = found.frames;
      return found.uploaded;
    });
    const from = (name: string): string | undefined => (shared.names === undefined ? name : shared.names.get(name));
    const { plan, rename } = readKept(columns, from, upload);
    if (kept === undefined) yield* mapped(frames ?? this.#run(shared.source.plan, shared.source.source, []), rename);
    else if (upload?.keys.length === 0 && upload.columns.every((column) => column.name === from(column.from)))
      yield { rowCount: 0, columns: [], uploaded: kept };
    else
      yield* mapped(engine.runUploaded(plan, [kept.id], { ...runOptions, ending: 'final' }, signal), (frame) =>
        frame.uploaded === undefined ? rename(frame) : frame,
      );
  }

  #keptGroups({ source }: SharedGroups): AsyncIterable<Frame> {
    const names = this.#options.columnsOf(source).map(({ name }) => name);
    const upload = names.includes(TIME_COLUMN) ? undefined : this.#uploadOf(names);
    if (upload !== undefined) this.#shared?.hold(() => this.#options.engine.releaseUpload(upload.id));
    return this.#run(uploading(source.plan, upload), source.source, []);
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
}

const RIGHT_SIDE = 'the right side of a join';
type SketchedJoin = JoinSource & { readonly needed: readonly string[] };
