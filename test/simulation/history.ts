// History of a simulation, and whether it may have happened: checked at every commit and at every look at a Broker.

import type { Interval } from '../../src/base/instant.js';
import type { Fence } from '../../src/metadata/leadership.js';
import { taskFileName } from '../../src/model/task-file-name.js';
import type { Files } from './files.js';
import type { Commit, Row, Statement, Store } from './store.js';
import type { SimulatedTask } from './worker.js';
import { STREAM_ROWS } from './worker.js';
import type { Process, World } from './world.js';

/** Roles whose leaders write to a table; processes announce themselves and stand for election without leading. */
const WRITERS: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ...[
    'tasks',
    'locks',
    'publications',
    'stream_offsets',
    'stream_publications',
    'pending_segments',
    'carried_segments',
    'data_sources',
  ].map((table) => [table, ['overlord']] as const),
  ...['segments', 'revision', 'config', 'audit', 'killed_partitions'].map((table) => [table, ['overlord', 'coordinator']] as const),
]);
/** Columns of a row of `insertSegments`. */
const SEGMENT_BINDINGS = 11;
const COMPATIBLE: ReadonlySet<string> = new Set(['shared+shared', 'append+append', 'append+replace', 'replace+append']);

interface Chunk {
  rows: readonly number[];
  /** Appends by the number of their commit: a replace carries those along that came after its lock. */
  readonly appended: { readonly commit: number; readonly rows: readonly number[] }[];
}

interface Versions {
  /** Last place in the order of what was visible, by the visible segments. */
  readonly placeOf: Map<string, number>;
  count: number;
  last: string;
}

/** Model of what metadata holds, kept by rules of its own, and what Brokers have shown. */
export class History {
  readonly #world: World;
  readonly #files: Files;
  readonly #tasks = new Map<string, SimulatedTask>();
  readonly #chunks = new Map<string, Map<number, Chunk>>();
  readonly #versions = new Map<string, Versions>();
  readonly #published = new Set<string>();
  readonly #lockedAt = new Map<string, number>();
  readonly #holders = new Map<string, string>();
  readonly #epochs = new Map<string, number>();
  readonly #gained = new Map<Process, Map<string, number>>();
  readonly #seen = new Map<Process, Map<string, number>>();
  #commits = 0;
  #leaders: readonly Row[] = [];
  /** Publishes of batch tasks and of sequences that were committed. */
  publishes = 0;

  constructor(world: World, files: Files) {
    this.#world = world;
    this.#files = files;
  }

  submitted(task: SimulatedTask): void {
    this.#tasks.set(task.id, task);
  }

  /** A process begins to lead. */
  gained(process: Process, { role, epoch }: Fence): void {
    this.#world.note(`${process.session} leads ${role} with epoch ${epoch}`);
    const known = this.#gained.get(process) ?? new Map<string, number>();
    this.#gained.set(process, known.set(role, epoch));
    const other = [...this.#gained].find(([each, epochs]) => each !== process && epochs.get(role) === epoch);
    if (other !== undefined) this.#world.violated(`${process.session} and ${other[0].session} both lead ${role} with epoch ${epoch}`);
  }

  /** The epoch that a process leads with, or did last. */
  epochOf(process: Process, role: string): number | undefined {
    return this.#gained.get(process)?.get(role);
  }

  committed(store: Store, { process, writes }: Commit): void {
    this.#commits++;
    const tables = new Set(writes.map(({ sql }) => tableOf(sql)));
    this.#world.note(`${process.session} commits ${[...tables].join(' ')}`);
    if (tables.has('leaders')) {
      this.#leaders = store.peek('SELECT role, epoch, host FROM leaders');
      this.#checkLeaders(this.#leaders);
    }
    for (const table of tables) this.#checkWriter(process, table, this.#leaders);
    if (tables.has('locks')) this.#checkLocks(store, writes);
    if (tables.has('segments')) this.#checkSegments(store, process, writes);
    if (tables.has('publications') || tables.has('stream_publications')) this.publishes++;
  }

  /** A file was removed from deep storage. */
  removed(store: Store, path: string): void {
    this.#world.note(`file ${path.slice(0, 8)} is removed`);
    if (store.peek('SELECT id FROM segments WHERE used = 1 AND load_path = ?', [path]).length > 0)
      this.#world.violated(`the file ${path} of a used segment was removed`);
  }

  /** Visible segments of a datasource now, as `segmentKey` writes them. */
  visible(dataSource: string): string {
    return this.#versionsOf(dataSource).last;
  }

  get dataSources(): readonly string[] {
    return [...this.#versions.keys()];
  }

  /** Segments that a Broker shows of a datasource: all of some version of it, and none older than it showed before. */
  shown(
    broker: Process,
    dataSource: string,
    ids: readonly string[],
    sinceMs = this.#world.nowMs,
    atLeast = this.placeOf(broker, dataSource),
  ): void {
    const key = segmentKey(ids);
    const place = this.#versionsOf(dataSource).placeOf.get(key);
    if (place === undefined)
      this.#world.violated(
        `${broker.session} shows a mixture of ${dataSource}, asked at ${sinceMs}: [${key}], now [${this.visible(dataSource)}]`,
      );
    else if (place < atLeast) this.#world.violated(`${broker.session} shows version ${place} of ${dataSource} after ${atLeast}`);
    else {
      const seen = this.#seen.get(broker) ?? new Map<string, number>();
      this.#seen.set(broker, seen.set(dataSource, Math.max(place, seen.get(dataSource) ?? 0)));
    }
  }

  /** Newest version that a Broker has shown. */
  placeOf(broker: Process, dataSource: string): number {
    return this.#seen.get(broker)?.get(dataSource) ?? 0;
  }

  /** Every task is there and has ended, with a publication if it succeeded and without one if it failed. */
  unfinished(store: Store, acknowledged: ReadonlySet<string>): readonly string[] {
    const states = new Map(store.peek('SELECT id, state FROM tasks').map(({ id, state }) => [String(id), String(state)]));
    return [...acknowledged]
      .filter((id) => !['SUCCESS', 'FAILED'].includes(states.get(id) ?? 'lost'))
      .map((id) => `${id} ${states.get(id)}`);
  }

  checkEnds(store: Store): void {
    const published = new Set(store.peek('SELECT task_id FROM publications').map(({ task_id }) => task_id));
    for (const { id, state, error } of store.peek('SELECT id, state, error FROM tasks')) {
      const task = this.#tasks.get(String(id));
      this.#world.note(`task ${String(id)} ended ${String(state)}: ${String(error)}`);
      if (task === undefined || task.kind === 'stream') continue;
      if (published.has(id) !== (state === 'SUCCESS'))
        this.#world.violated(`task ${String(id)} is ${String(state)}, published: ${published.has(id)}`);
    }
  }

  #versionsOf(dataSource: string): Versions {
    const known = this.#versions.get(dataSource) ?? { placeOf: new Map([['', 0]]), count: 1, last: '' };
    this.#versions.set(dataSource, known);
    return known;
  }

  #checkLeaders(leaders: readonly Row[]): void {
    for (const { role, epoch, host } of leaders) {
      const held = this.#holders.get(`${role}/${epoch}`);
      if (held !== undefined && held !== host) this.#world.violated(`epoch ${epoch} of ${role} went from ${held} to ${host}`);
      if (Number(epoch) < (this.#epochs.get(String(role)) ?? 0)) this.#world.violated(`epoch ${epoch} of ${role} follows a newer one`);
      this.#holders.set(`${role}/${epoch}`, String(host));
      this.#epochs.set(String(role), Number(epoch));
    }
  }

  #checkWriter(process: Process, table: string, leaders: readonly Row[]): void {
    const roles = WRITERS.get(table);
    if (roles === undefined) {
      if (table !== 'announcements' && table !== 'leaders') this.#world.violated(`nobody is known to write to ${table}`);
      return;
    }
    const leads = leaders.some(
      ({ role, epoch, host }) =>
        roles.includes(String(role)) && host === process.name && this.#gained.get(process)?.get(String(role)) === epoch,
    );
    if (!leads) this.#world.violated(`${process.session} wrote to ${table} and does not lead: ${JSON.stringify(leaders)}`);
  }

  #checkLocks(store: Store, writes: readonly Statement[]): void {
    for (const { sql, bindings } of writes)
      if (tableOf(sql) === 'locks' && sql.startsWith('INSERT')) {
        const [taskId] = bindings;
        if (!this.#lockedAt.has(String(taskId))) this.#lockedAt.set(String(taskId), this.#commits);
      }
    const locks = store.peek('SELECT task_id, data_source, start_ms, end_ms, kind FROM locks');
    for (const [at, one] of locks.entries())
      for (const other of locks.slice(at + 1)) {
        const meet = Number(one['start_ms']) < Number(other['end_ms']) && Number(other['start_ms']) < Number(one['end_ms']);
        if (!meet || one['data_source'] !== other['data_source'] || one['task_id'] === other['task_id']) continue;
        if (!COMPATIBLE.has(`${one['kind']}+${other['kind']}`))
          this.#world.violated(`locks overlap: ${JSON.stringify(one)} and ${JSON.stringify(other)}`);
      }
  }

  #checkSegments(store: Store, process: Process, writes: readonly Statement[]): void {
    const publication = writes.find(({ sql }) => /^\s*INSERT INTO (stream_)?publications/.test(sql));
    if (publication !== undefined) {
      const taskId = String(publication.sql.includes('stream_publications') ? publication.bindings[2] : publication.bindings[0]);
      const inserted = writes.filter(({ sql }) => tableOf(sql) === 'segments' && /^\s*INSERT/.test(sql)).flatMap(segmentsOf);
      this.#publish(store, taskId, inserted);
    }
    const used = store.peek('SELECT id, data_source, start_ms, version, load_path FROM segments WHERE used = 1');
    const versions = new Map<string, string>();
    const chunkOf = ({ data_source, start_ms }: Row): string => `${data_source} ${start_ms}`;
    for (const row of used) {
      const newest = versions.get(chunkOf(row));
      if (newest === undefined || newest < String(row['version'])) versions.set(chunkOf(row), String(row['version']));
    }
    const visible = used.filter((row) => versions.get(chunkOf(row)) === row['version']);
    for (const [dataSource, chunks] of this.#chunks) {
      const own = visible.filter(({ data_source }) => data_source === dataSource);
      for (const [start, { rows }] of chunks) {
        const paths = own.filter(({ start_ms }) => start_ms === start).map(({ load_path }) => String(load_path));
        const found = paths.flatMap((path) => this.#files.rowsOf.get(path) ?? []);
        if (!isSame(found, rows))
          this.#world.violated(`${process.session}: rows of ${dataSource} at ${start} are [${sorted(found)}], expected [${sorted(rows)}]`);
      }
      this.#note(dataSource, segmentKey(own.map(({ id }) => String(id))));
    }
    this.#checkOffsets(store);
  }

  #note(dataSource: string, key: string): void {
    const known = this.#versionsOf(dataSource);
    if (known.last === key) return;
    known.last = key;
    known.placeOf.set(key, known.count++);
  }

  #publish(store: Store, taskId: string, inserted: readonly Inserted[]): void {
    const task = this.#tasks.get(taskId);
    if (task === undefined) return this.#world.violated(`unknown task ${taskId} published`);
    const fresh = inserted.filter(({ path }) => path !== '' && !this.#published.has(path));
    for (const { path } of fresh) this.#published.add(path);
    const [run] = store.peek('SELECT attempts, worker_session FROM tasks WHERE id = ?', [taskId]);
    const counted = `${taskFileName(taskId)}/${run?.['attempts']}/${run?.['worker_session']}/`;
    for (const { path } of fresh)
      if (!path.startsWith(counted)) this.#world.violated(`task ${taskId}: ${path} was published, and the run that counts is ${counted}`);
    this.#world.note(`task ${taskId} (${task.kind}) published ${fresh.length} segments and carries ${inserted.length - fresh.length}`);
    const rowsIn = ({ start }: Interval): readonly number[] =>
      fresh.filter((each) => each.start === start).flatMap(({ path }) => this.#files.rowsOf.get(path) ?? []);
    const chunks = this.#chunks.get(task.dataSource) ?? new Map<number, Chunk>();
    this.#chunks.set(task.dataSource, chunks);
    for (const interval of task.chunks) {
      const chunk: Chunk = chunks.get(interval.start) ?? { rows: [], appended: [] };
      chunks.set(interval.start, chunk);
      const rows = rowsIn(interval);
      if (task.kind === 'append' || task.kind === 'stream') {
        chunk.rows = [...chunk.rows, ...rows];
        chunk.appended.push({ commit: this.#commits, rows });
        continue;
      }
      const since = this.#lockedAt.get(taskId) ?? 0;
      const carried = task.isConcurrent ? chunk.appended.filter(({ commit }) => commit > since).flatMap((each) => each.rows) : [];
      const after = [...rows, ...carried];
      if (task.kind === 'rewrite' && !isSame(after, chunk.rows))
        this.#world.violated(`task ${taskId} changes rows that it compacts: [${sorted(chunk.rows)}] to [${sorted(after)}]`);
      chunk.rows = after;
    }
  }

  /** Published rows of a stream are those up to the published offset, each once. */
  #checkOffsets(store: Store): void {
    for (const { supervisor_id, payload } of store.peek('SELECT supervisor_id, payload FROM stream_offsets')) {
      const offset = storedOffset(String(payload));
      const chunks = [...(this.#chunks.get(String(supervisor_id))?.values() ?? [])];
      const found = chunks.flatMap(({ rows }) => rows).filter((row) => row >= STREAM_ROWS);
      const expected = Array.from({ length: offset }, (_, at) => STREAM_ROWS + at);
      if (!isSame(found, expected))
        this.#world.violated(`${supervisor_id}: ${found.length} rows are published, and the offset is ${offset}`);
    }
  }
}

/** The offset of partition 0 in a document of `stream_offsets`. */
export function storedOffset(payload: string): number {
  const { partitions } = JSON.parse(payload) as {
    readonly partitions: { readonly partitionSequenceNumberMap: Readonly<Record<string, unknown>> };
  };
  return Number(partitions.partitionSequenceNumberMap['0'] ?? 0);
}

/** Segments in one order. */
export const segmentKey = (ids: readonly string[]): string => [...ids].sort().join(' ');

interface Inserted {
  readonly start: number;
  readonly path: string;
}

function segmentsOf({ bindings }: Statement): readonly Inserted[] {
  const found: Inserted[] = [];
  for (let at = 0; at < bindings.length; at += SEGMENT_BINDINGS)
    found.push({ start: Number(bindings[at + 2]), path: String(bindings[at + 6]) });
  return found;
}

function tableOf(sql: string): string {
  return /^\s*(?:INSERT INTO|UPDATE|DELETE FROM)\s+(\w+)/i.exec(sql)?.[1] ?? '?';
}

const sorted = (rows: readonly number[]): readonly number[] => rows.toSorted((a, b) => a - b);

function isSame(one: readonly number[], other: readonly number[]): boolean {
  return one.length === other.length && sorted(one).join() === sorted(other).join();
}
