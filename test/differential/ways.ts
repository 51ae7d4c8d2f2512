import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ServiceError } from '../../src/base/errors.js';
import { ETERNITY } from '../../src/base/instant.js';
import { withMixedTypes } from '../../src/cluster/broker/table-schema.js';
import { lookupRows } from '../../src/cluster/lookups/lookup-store.js';
import { resolveLookups } from '../../src/cluster/lookups/resolve-lookups.js';
import { SourceRunner } from '../../src/cluster/sources/source-runner.js';
import { createEngine, type ProcessingEngine } from '../../src/execution/run/local-engine.js';
import type { PublishRequest } from '../../src/ingestion/contract.js';
import { runTask } from '../../src/ingestion/task.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { cellAt, type Frame, type FrameCell } from '../../src/model/frame.js';
import { lookupTableOf } from '../../src/model/lookup/lookup-table.js';
import type { RowSource, RowsPlan } from '../../src/model/row-source.js';
import { type ColumnSchema, type ColumnType, widestType } from '../../src/model/schema.js';
import { segmentIdText } from '../../src/model/segment-id.js';
import { planNative } from '../../src/planner/native/plan-native.js';
import type { KnownTables } from '../../src/planner/plan.js';
import { rowSourceColumns } from '../../src/planner/row-source-columns.js';
import type { SqlSchema } from '../../src/planner/sql/catalog/schema.js';
import { planSql } from '../../src/planner/sql/plan-sql.js';
import type { SegmentStore } from '../../src/storage/contract.js';
import { createSegmentStore } from '../../src/storage/segment-store.js';
import { taskContext } from '../ingestion/run-task.js';
import type { Answer, DifferentialCase, Fields, Json } from './case.js';
import { findDifference } from './compare.js';
import { LAYOUTS, type Layout, laidOut } from './layouts.js';
import type { Servers } from './servers.js';
import { type DifferentialTable, dataSchemaOf, LOOKUP, linesOf, small } from './tables.js';

/** One way to run a plan: where rows lie, and who reads them how. */
interface Way {
  readonly name: string;
  readonly layout: Layout;
  readonly engine: keyof Engines;
  readonly batchRows: number | null;
  /** Servers that the segments are dealt out to, whose partial results are merged. */
  readonly servers: number;
  /** Whether right sides of joins have to be sent. */
  readonly isElsewhere: boolean;
  /** Segments that fit into memory together; more are read in halves. */
  readonly segmentsMax: number;
}

type Engines = Readonly<Record<'plain' | 'reference' | 'threads' | 'brief' | 'parts' | 'spilling' | 'spillingThreads', ProcessingEngine>>;

const PLAIN: Way = {
  name: 'whole',
  layout: 'whole',
  engine: 'plain',
  batchRows: null,
  servers: 1,
  isElsewhere: false,
  segmentsMax: Number.POSITIVE_INFINITY,
};

/** Ways of `WAYS`, or those of segments whose columns are of other types each. */
export interface WaySet {
  /** Way that the others are compared with. */
  readonly plain: Way;
  readonly ways: readonly Way[];
  /** Types of columns by segment, in turn: the rows are others in every layout then. */
  readonly types: Readonly<Record<string, readonly string[]>>;
}

/** Compared with `whole`. */
const WAYS: readonly Way[] = [
  ...LAYOUTS.filter((layout) => layout !== 'whole').map((layout): Way => ({ ...PLAIN, name: layout, layout })),
  { ...PLAIN, name: 'reference by 7', engine: 'reference', batchRows: 7, layout: 'rising' },
  { ...PLAIN, name: 'whole on threads', engine: 'threads' },
  { ...PLAIN, name: 'segments on threads', engine: 'threads', layout: 'uneven' },
  { ...PLAIN, name: 'briefly', engine: 'brief', layout: 'falling' },
  { ...PLAIN, name: 'one part after the other', engine: 'parts', layout: 'rising' },
  { ...PLAIN, name: 'spilling', engine: 'spilling', layout: 'uneven' },
  { ...PLAIN, name: 'spilling on threads', engine: 'spillingThreads', layout: 'lacking', batchRows: 16 },
  { ...PLAIN, name: 'three servers', servers: 3, layout: 'spread' },
  { ...PLAIN, name: 'three servers elsewhere', servers: 3, layout: 'lacking', isElsewhere: true },
  { ...PLAIN, name: 'two servers of chunks', servers: 2, layout: 'doubled', isElsewhere: true },
  { ...PLAIN, name: 'halves', segmentsMax: 3, layout: 'falling' },
  { ...PLAIN, name: 'halves on two servers', segmentsMax: 2, servers: 2, layout: 'uneven' },
];

/** A column of several types: the rows of a segment have one of them each. */
const MIXED_TYPES = { n: ['long', 'double'], x: ['double', 'float', 'double'], l: ['long', 'string'] } as const;
const MIXED_PLAIN: Way = { ...PLAIN, layout: 'uneven' };

/** Ways that find the rows in the same segments. */
export const ALL: WaySet = { plain: PLAIN, ways: WAYS, types: {} };

export const MIXED: WaySet = {
  plain: MIXED_PLAIN,
  ways: WAYS.flatMap((way) =>
    way.engine !== 'plain' || way.servers > 1 || way.segmentsMax < 9 ? [{ ...way, layout: 'uneven' as const }] : [],
  ),
  types: MIXED_TYPES,
};

/** Small rows of the process's own, in all layouts, and engines of all kinds that read them. */
class Bench {
  readonly #folder = mkdtempSync(path.join(tmpdir(), 'dolmen-ways-'));
  readonly #memory = KernelMemory.create({ maximumBytes: 1 << 30 });
  readonly #engines: Engines;
  readonly #store: SegmentStore;
  readonly #ids = new Map<string, readonly string[]>();
  readonly #schemas: ReturnType<typeof schemasOf>;

  private constructor(types: WaySet['types']) {
    this.#schemas = schemasOf(types);
    const memory = this.#memory;
    const spill = (name: string) => ({ groupBytesMax: 50_000, spillDirectory: path.join(this.#folder, name) });
    const onThreads = { memory, kernels: 'simd', threads: 2, rowsRunInline: 0, morselRows: 16 } as const;
    this.#engines = {
      plain: createEngine({ memory, kernels: 'simd', threads: 0 }),
      reference: createEngine({ memory, kernels: 'reference', threads: 0 }),
      threads: createEngine({ ...onThreads, briefMs: 0 }),
      brief: createEngine({ ...onThreads, threads: 1, briefMs: 5 }),
      parts: createEngine({ memory, kernels: 'simd', threads: 0, cellsAtOnce: 40 }),
      spilling: createEngine({ memory, kernels: 'simd', threads: 0, ...spill('spilling') }),
      spillingThreads: createEngine({ ...onThreads, ...spill('spilling-threads') }),
    };
    const { plain } = this.#engines;
    this.#store = createSegmentStore({
      memory,
      cacheBytes: 1 << 28,
      openFilesMax: 64,
      run: (name, request) => plain.runJob(name, request),
    });
  }

  static async open(layouts: ReadonlySet<Layout>, types: WaySet['types'], rowCount: number): Promise<Bench> {
    const bench = new Bench(types);
    for (const layout of layouts) await bench.#load(laidOut(layout, { rowCount }), types);
    await bench.#load(small(), {});
    return bench;
  }

  async close(): Promise<void> {
    for (const engine of Object.values(this.#engines)) await engine.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #load(table: DifferentialTable, types: WaySet['types']): Promise<void> {
    const ids: string[] = [];
    for (const [at, rows] of table.segments.entries()) {
      const published: PublishRequest[] = [];
      const spec = {
        ioConfig: { type: 'index_parallel', inputSource: { type: 'inline', data: linesOf(rows) }, inputFormat: { type: 'json' } },
        dataSchema: dataSchemaOf({ ...table, dimensions: dimensionsOf(table, types, at) }),
        tuningConfig: { type: 'index_parallel' },
      };
      const { succeeded, errorMessage } = await runTask({ type: 'index_parallel', spec }, taskContext(this.#folder, published));
      if (!succeeded) throw new Error(String(errorMessage));
      for (const segment of published.flatMap(({ segments }) => segments)) {
        const partitionNumber = ids.length;
        const id = { dataSource: table.name, interval: segment.interval, version: '2026-01-01T00:00:00.000Z', partitionNumber };
        // The next task writes to the same path.
        const file = path.join(this.#folder, `${table.name}-${partitionNumber}`);
        copyFileSync(segment.loadSpec.path, file);
        const shardSpec = { type: 'numbered', partitionNum: partitionNumber, partitions: 0 } as const;
        await this.#store.open(file, { ...segment, id, shardSpec });
        ids.push(segmentIdText(id));
      }
    }
    this.#ids.set(table.name, ids);
  }

  plansOf(one: DifferentialCase): Planned[] {
    return plansOf(one, this.#schemas);
  }

  /** Rows of a plan over a source, in a way. */
  async rows({ plan, source }: Planned, way: Way): Promise<Json[]> {
    const engine = this.#engines[way.engine];
    const { signal } = new AbortController();
    const run = { deadlineMs: Date.now() + 60_000, priority: 0, kernels: null, batchRows: way.batchRows } as const;
    const runner = new SourceRunner({
      engine: way.isElsewhere ? this.#engines.reference : engine,
      isServedHere: () => !way.isElsewhere,
      rowsOfTable: (name) => this.#schemas.rowsOf(name),
      columnsOf: (each) => rowSourceColumns(each, this.#schemas.known),
      runTables: (leaf, tables) => this.#runTables(engine, leaf, tables, way, run, signal),
      lookup: () => lookupRows(LOOKUP_TABLE),
      runOptions: run,
      signal,
      ...(way.batchRows === null ? {} : { chunkRows: way.batchRows }),
    });
    const rows: Json[] = [];
    for await (const frame of runner.run(plan, source))
      for (let row = 0; row < frame.rowCount; row++) rows.push(frame.columns.map((column) => shown(cellAt(column, row))));
    return rows;
  }

  async *#runTables(
    engine: ProcessingEngine,
    asked: RowsPlan,
    tables: readonly string[],
    { layout, servers, segmentsMax }: Way,
    run: { readonly deadlineMs: number; readonly priority: number; readonly kernels: null; readonly batchRows: number | null },
    signal: AbortSignal,
  ): AsyncGenerator<Frame> {
    const plan = withMixedTypes(asked, () => tables.map((name) => this.#schemas.schemaOf(name)));
    const ids = tables.map((name) => this.#ids.get(name === 'nasty' ? `nasty_${layout}` : name) ?? []);
    const store = segmentsMax < ids.flat().length ? withRoomFor(this.#store, segmentsMax) : this.#store;
    const [only] = ids;
    if (servers === 1 && only !== undefined && ids.length === 1) {
      yield* engine.run(plan, store, only, { ...run, ending: 'final' }, signal);
      return;
    }
    const { upload: _, ...sent } = plan;
    // One read, one datasource, as the Broker asks its servers.
    const reads = ids.flatMap((ofTable) => {
      const each = Math.ceil(ofTable.length / servers);
      return Array.from({ length: servers }, (_part, at) => ofTable.slice(at * each, (at + 1) * each));
    });
    const partials = reads.map((read) => engine.run(sent, store, read, { ...run, ending: 'partial' }, signal));
    yield* engine.merge(sent, partials, { ...run, ending: 'final' }, signal);
  }
}

/** Halves of surrogate pairs are U+FFFD wherever they are sent on. */
function shown(cell: FrameCell): Json {
  return typeof cell === 'string' ? Buffer.from(cell).toString() : Array.isArray(cell) ? (cell as FrameCell[]).map(shown) : (cell as Json);
}

/** A store that pins so many segments together. */
function withRoomFor(store: SegmentStore, segmentsMax: number): SegmentStore {
  return new Proxy(store, {
    get: (target, name) => {
      if (name === 'pin')
        return async (request: Parameters<SegmentStore['pin']>[0]) => {
          if (request.segmentIds.length > segmentsMax) throw new ServiceError('resource_limit', 'no room');
          return target.pin(request);
        };
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

function dimensionsOf({ dimensions }: DifferentialTable, types: WaySet['types'], at: number): Json[] {
  return (dimensions as readonly Fields[]).map((dimension) => {
    const own = types[String(dimension['name'])];
    return own === undefined ? dimension : { ...dimension, type: own[at % own.length] ?? 'string' };
  });
}

const TYPES = new Map<unknown, ColumnType>([
  ['string', 'STRING'],
  ['long', 'LONG'],
  ['double', 'DOUBLE'],
  ['float', 'FLOAT'],
  ['json', 'COMPLEX<json>'],
]);

function schemaOf({ dimensions }: DifferentialTable, types: WaySet['types']): ColumnSchema[] {
  const columns = (dimensions as readonly Fields[]).map(
    ({ name, type, castToType }): ColumnSchema => ({
      name: String(name),
      type:
        (castToType as ColumnType | undefined) ??
        widestType(new Set((types[String(name)] ?? [type]).map((one) => TYPES.get(one) ?? 'STRING'))),
      multiValue: name === 'mv' || name === 'mv2',
      hasNulls: true,
    }),
  );
  return [{ name: '__time', type: 'LONG', multiValue: false, hasNulls: false }, ...columns];
}

/** Schemas of the tables, for planners. */
function schemasOf(types: WaySet['types']): {
  readonly sql: SqlSchema;
  readonly known: KnownTables;
  readonly schemaOf: (name: string) => { readonly columns: readonly ColumnSchema[]; readonly mixed: ReadonlySet<string> };
  readonly rowsOf: (name: string) => number;
} {
  const tables = [laidOut('whole', { name: 'nasty' }), small()];
  const schemas = new Map(tables.map((table) => [table.name, schemaOf(table, table.name === 'nasty' ? types : {})]));
  const rowCounts = new Map(tables.map(({ name, segments }) => [name, segments.flat().length]));
  const rowsOf = (name: string): number => rowCounts.get(name) ?? 0;
  const columnsOf = <More extends object>(name: string, more: More) => {
    const columns = schemas.get(name);
    return columns && { columns, ...more };
  };
  const mixed = new Set(Object.keys(types));
  return {
    schemaOf: (name: string) => ({ columns: schemas.get(name) ?? [], mixed: name === 'nasty' ? mixed : new Set<string>() }),
    sql: { tables: () => [...schemas.keys()], table: (name) => columnsOf(name, { rowCount: rowsOf(name) }), lookups: () => [LOOKUP.name] },
    known: { table: (name) => columnsOf(name, { interval: ETERNITY }) },
    rowsOf,
  };
}

interface Planned {
  readonly plan: RowsPlan;
  readonly source: RowSource;
}

const LOOKUP_TABLE = await lookupTableOf(Object.entries(LOOKUP.map));

type Schemas = ReturnType<typeof schemasOf>;

/** The plans of a request, each of which gives rows. */
function plansOf(one: DifferentialCase, schemas: Schemas): Planned[] {
  const found = one.kind === 'sql' ? plansOfSql(one.request, schemas) : one.kind === 'native' ? plansOfNative(one.request, schemas) : [];
  return found.map(({ plan, source }) => ({
    plan: resolveLookups(plan, () => LOOKUP_TABLE),
    source: resolveLookups(source, () => LOOKUP_TABLE),
  }));
}

function plansOfSql({ query, context, parameters }: Fields, { sql }: Schemas): Planned[] {
  const request = { query: String(query), context: (context ?? {}) as Fields, parameters: (parameters ?? []) as readonly Json[] };
  const statement = planSql(request, sql, Date.UTC(2026, 0, 1));
  if (statement.kind !== 'select' || statement.source.kind === 'external') throw new Error('no rows come of it');
  return [{ plan: statement.plan, source: statement.source }];
}

function plansOfNative(request: Fields, { known }: Schemas): Planned[] {
  const { plans, source } = planNative(request, false, known);
  return plans.flatMap((plan) => (plan.operator === 'segmentMetadata' ? [] : [{ plan, source }]));
}

/** Dolmen in one process: the plan of a request is run in every way, and the first answer that differs is compared with the plain one. */
export async function openWays({ plain, ways, types }: WaySet, rowCount = 300): Promise<Servers> {
  const bench = await Bench.open(new Set([plain.layout, ...ways.map(({ layout }) => layout)]), types, rowCount);
  const plans = new WeakMap<DifferentialCase, Planned[]>();
  const wholes = new WeakMap<DifferentialCase, Promise<Answer>>();
  const answerOf = async (one: DifferentialCase, way: Way): Promise<Answer> => {
    try {
      const planned = plans.get(one) ?? bench.plansOf(one);
      plans.set(one, planned);
      const rows: Json[] = [];
      for (const each of planned) rows.push(...(await bench.rows(each, way)));
      return { state: 'rows', rows };
    } catch (error) {
      const isRefusal = error instanceof ServiceError && error.code !== 'internal';
      return { state: isRefusal ? 'refused' : 'broken', message: error instanceof Error ? (error.stack ?? '') : String(error) };
    }
  };
  const wholeOf = (one: DifferentialCase): Promise<Answer> => {
    const answer = wholes.get(one) ?? answerOf(one, plain);
    wholes.set(one, answer);
    return answer;
  };
  return {
    askOriginal: wholeOf,
    askDolmen: async (one) => {
      const whole = await wholeOf(one);
      for (const way of ways) {
        const answer = await answerOf(one, way);
        // Some orders of time are not read in halves, and time is short where much is drawn.
        if (answer.state === 'refused' && /no room|did not end before/.test(answer.message)) continue;
        if (findDifference(one, answer, whole) !== undefined) return { ...answer, by: way.name };
      }
      return whole;
    },
    stop: () => bench.close(),
  };
}
