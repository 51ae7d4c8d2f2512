import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Interval } from '../../src/base/instant.js';
import { contains, containsInstant, intersect } from '../../src/base/interval.js';
import { carriedBy } from '../../src/metadata/carried.js';
import type { Database } from '../../src/metadata/database.js';
import { acquireLocks, conflicts, type LockKind, locksOfDataSource, releaseLocks } from '../../src/metadata/locks.js';
import { pinnedSegments, publishSegments, visibleSegments } from '../../src/metadata/publish.js';
import { deleteUnused } from '../../src/metadata/segments.js';
import { finishTask, insertTask, moveTask, startTask } from '../../src/metadata/tasks.js';
import { isTombstone } from '../../src/metadata/tombstones.js';
import type { Granularity } from '../../src/model/granularity.js';
import type { PublishRequest } from '../../src/model/publication.js';
import type { SegmentDescriptor } from '../../src/model/segment.js';
import { segmentIdText } from '../../src/model/segment-id.js';
import { caseCount } from '../case-count.js';
import { DAY, day, openMetadata, pushed, runningTask } from './fixture.js';

type Context = Awaited<ReturnType<typeof openMetadata>>;
const concurrent = suite<Context>('appends beside a replace');
concurrent.before.each(async (context) => {
  Object.assign(context, await openMetadata());
});
concurrent.after.each((context) => context.close());

const HOUR = DAY / 24;
const KINDS: readonly LockKind[] = ['exclusive', 'shared', 'append', 'replace'];

for (const [held, wanted] of [
  ['shared', 'shared'],
  ['append', 'append'],
  ['append', 'replace'],
  ['replace', 'append'],
] as const)
  concurrent(`${wanted} is granted beside ${held}`, async () => {
    assert.is(conflicts({ kind: held, interval: day(0) }, { kind: wanted, intervals: [day(0)] }), false);
  });

concurrent('of all other kinds of locks, two over one interval exclude each other', async () => {
  const excluded = KINDS.flatMap((held) =>
    KINDS.filter((wanted) => conflicts({ kind: held, interval: day(0) }, { kind: wanted, intervals: [day(0)] })),
  );
  assert.is(excluded.length, 16 - 4);
});

async function publish(database: Database, request: PublishRequest): Promise<readonly string[]> {
  const ids = await database.transaction((queries) => publishSegments(queries, request, 1));
  await database.transaction((queries) => releaseLocks(queries, request.taskId));
  return ids;
}

const append = (taskId: string, intervals: readonly Interval[]): PublishRequest => ({
  ...{ taskId, dataSource: 'ds', mode: { kind: 'append' } },
  segments: intervals.map((interval) => pushed(interval)),
});

const replace = (taskId: string, intervals: readonly Interval[], chunks: readonly Interval[]): PublishRequest => ({
  ...{ taskId, dataSource: 'ds', mode: { kind: 'replace', intervals } },
  segments: chunks.map((interval) => pushed(interval)),
});

/** Visible segments as `days, seconds of the version, partition number`. */
const shownIds = async (database: Database): Promise<readonly string[]> =>
  (await visibleSegments(database, 'ds', [{ start: 0, end: 40 * DAY }])).map(({ segment: { id } }) => {
    const { interval, version, partitionNumber } = id;
    return `${interval.start / DAY}-${interval.end / DAY}, ${Date.parse(version) / 1000}, ${partitionNumber}`;
  });

concurrent('what is appended meanwhile joins the chunk that takes the place of its time', async ({ database }) => {
  await runningTask(database, 'r', 'replace', [day(0), day(1)], 'ds', 1000);
  await runningTask(database, 'a', 'append', [{ start: 0, end: 40 * DAY }], 'ds', 2000);
  await publish(database, append('a', [day(0), day(1), day(2)]));
  await publish(database, replace('r', [day(0), day(1)], [day(0), day(0)]));
  assert.equal(await shownIds(database), [
    '0-1, 1, 0',
    '0-1, 1, 1',
    '0-1, 1, 2',
    // Nothing was written in its place: it stays a chunk of its own, of the version of the replace.
    '1-2, 1, 0',
    // Not in the intervals of the replace.
    '2-3, 2, 0',
  ]);
});

concurrent('what was appended before the replace got its lock is replaced', async ({ database }) => {
  await runningTask(database, 'a', 'append', [day(0)], 'ds', 1000);
  await publish(database, append('a', [day(0)]));
  await runningTask(database, 'r', 'replace', [day(0)], 'ds', 2000);
  await publish(database, replace('r', [day(0)], [day(0)]));
  assert.equal(await shownIds(database), ['0-1, 2, 0']);
});

concurrent('a task that replaces reads what was there when it got its lock', async ({ database }) => {
  await runningTask(database, 'first', 'append', [day(0)], 'ds', 1000);
  const [before = ''] = await publish(database, append('first', [day(0)]));
  await runningTask(database, 'r', 'replace', [day(0)], 'ds', 2000);
  await runningTask(database, 'later', 'append', [day(0)], 'ds', 3000);
  await publish(database, append('later', [day(0)]));
  assert.equal(await pinnedSegments(database, 'r'), { dataSource: 'ds', intervals: [day(0)], ids: [before] });
  assert.is(await pinnedSegments(database, 'later'), null);
});

concurrent('a task that replaces does not read what is appended while it looks', async ({ database }) => {
  await runningTask(database, 'first', 'append', [day(0)], 'ds', 1000);
  const [before = ''] = await publish(database, append('first', [day(0)]));
  await runningTask(database, 'r', 'replace', [day(0)], 'ds', 2000);
  await runningTask(database, 'later', 'append', [day(0)], 'ds', 3000);
  // Published between its look at segments and its look at those that it carries along.
  let looks = 0;
  const rows: Database['rows'] = async (sql, bindings) => {
    if (/FROM carried_segments|payload FROM segments/.test(sql) && ++looks === 2) await publish(database, append('later', [day(0)]));
    return database.rows(sql, bindings);
  };
  const pinned = await pinnedSegments({ rows, faults: database.faults }, 'r');
  assert.is(looks, 2);
  assert.equal(pinned?.ids, [before]);
});

concurrent('chunks that are finer than what was appended cannot take it along: nothing is published', async ({ database }) => {
  await runningTask(database, 'r', 'replace', [day(0)], 'ds', 1000);
  await runningTask(database, 'a', 'append', [day(0)], 'ds', 2000);
  await publish(database, append('a', [day(0)]));
  const before = await shownIds(database);
  const refused = await publish(database, replace('r', [day(0)], [{ start: 0, end: HOUR }])).then(String, (error: Error) => error.message);
  assert.match(refused, /was appended meanwhile, and reaches over the chunk .*; nothing is published/);
  assert.equal(await shownIds(database), before);
});

concurrent('a file stays for as long as one of its segments does', async ({ database }) => {
  await runningTask(database, 'r', 'replace', [day(0)], 'ds', 1000);
  await runningTask(database, 'a', 'append', [day(0)], 'ds', 2000);
  await publish(database, append('a', [day(0)]));
  await publish(database, replace('r', [day(0)], []));
  const deleted = await database.transaction((queries) => deleteUnused(queries, { dataSource: 'ds', interval: day(0) }, 10));
  assert.equal(deleted, { count: 1, files: [] });
});

/** A task of the model: it has its lock, and may have read. */
interface Running {
  readonly id: string;
  readonly kind: 'append' | 'compact' | 'overwrite';
  readonly interval: Interval;
  readonly chunkMs: number;
  /** Rows that a compaction has read, and the segments that it read them from. */
  read: { readonly rows: readonly number[]; readonly inputs: readonly string[] } | null;
  /** Rows that were there within its interval when it got its lock. */
  readonly before: readonly number[];
}

function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 0x41c64e6d) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const DAYS = 4;
const EVENTS = 60;

/**
 * The datasource as a multiset of rows, each with its hour, and tasks whose locks, reads, publishes, ends and repetitions come in
 * any order: what metadata shows has exactly the rows of the model, of which no appended row is lost or doubled.
 */
class Model {
  readonly published = { append: 0, compact: 0, overwrite: 0, beside: 0, refused: 0 };
  readonly #database: Database;
  readonly #dataSource: string;
  readonly #next: (below: number) => number;
  readonly #hours = new Map<number, number>();
  readonly #files = new Map<string, readonly number[]>();
  readonly #running: Running[] = [];
  #rows: readonly number[] = [];
  #count = 0;

  constructor(database: Database, seed: number) {
    this.#database = database;
    this.#dataSource = `ds${seed}`;
    this.#next = random(seed);
  }

  async run(): Promise<void> {
    for (let event = 0; event < EVENTS; event++) {
      const [task] = this.#running.length > 0 ? [this.#running[this.#next(this.#running.length)]] : [];
      const draw = this.#next(10);
      if (task === undefined || draw < 4) await this.#begin();
      else if (draw < 5) await this.#end(task);
      else if (draw < 6) await this.#kill();
      else await this.#proceed(task);
      assert.equal(await this.#shown(), this.#rows.toSorted(), `${this.#dataSource}, event ${event}`);
    }
    while (this.#running[0] !== undefined) await this.#end(this.#running[0]);
    assert.equal(await locksOfDataSource(this.#database, this.#dataSource), []);
    assert.equal(await this.#database.rows('SELECT * FROM carried_segments'), []);
  }

  async #begin(): Promise<void> {
    const kind = (['append', 'append', 'compact', 'overwrite'] as const)[this.#next(4)] ?? 'append';
    const from = this.#next(DAYS);
    const whole = { start: from * DAY, end: (from + 1 + this.#next(DAYS - from)) * DAY };
    const interval = kind === 'append' ? { start: 0, end: DAYS * DAY } : whole;
    const lock = kind === 'append' ? 'append' : this.#next(4) === 0 ? 'exclusive' : 'replace';
    const id = `${this.#dataSource}-${this.#count++}`;
    const granted = await this.#database.transaction(async (queries) => {
      await insertTask(queries, { id, groupId: id, type: 'index', dataSource: this.#dataSource, priority: 0, payload: '{}' }, 1000);
      const locks = await acquireLocks(queries, { taskId: id, dataSource: this.#dataSource, kind: lock, intervals: [interval] }, 1000);
      if (locks === undefined) return false;
      await moveTask(queries, id, 'WAITING', 'PENDING');
      await startTask(queries, id, { host: 'worker:1', session: 's' }, 1000);
      return true;
    });
    const chunkMs = [HOUR, DAY, DAY, 2 * DAY][this.#next(4)] ?? DAY;
    if (granted) this.#running.push({ id, kind, interval, chunkMs, read: null, before: this.#within(interval) });
  }

  async #proceed(task: Running): Promise<void> {
    if (task.kind === 'compact' && task.read === null) {
      const found = await visibleSegments(this.#database, this.#dataSource, [task.interval], () => carriedBy(this.#database, task.id));
      const rows = found.flatMap(({ segment, visible }) =>
        this.#shownOf(
          segment,
          visible.flatMap((each) => intersect(each, task.interval) ?? []),
        ),
      );
      task.read = { rows, inputs: found.map(({ segment }) => segmentIdText(segment.id)) };
      return;
    }
    const rows = task.kind === 'compact' ? (task.read?.rows ?? []) : this.#newRows(task);
    const segments = [...chunksOf(rows, this.#hours, task.chunkMs)].map(([start, own]) => {
      const segment = pushed({ start, end: start + task.chunkMs }, own.length);
      this.#files.set(segment.loadSpec.path, own);
      return segment;
    });
    const outside = segments.some(({ interval }) => !contains(task.interval, interval));
    const intervals = [task.interval];
    const mode =
      task.kind === 'append' ? ({ kind: 'append' } as const) : ({ kind: 'replace', intervals, ...this.#granularity(task) } as const);
    const inputs = task.read === null ? {} : { inputs: task.read.inputs };
    const request = { taskId: task.id, dataSource: this.#dataSource, segments, mode, ...inputs };
    const isBeside = (await carriedBy(this.#database, task.id)).size > 0;
    try {
      const ids = await this.#database.transaction((queries) => publishSegments(queries, request, 1000));
      // The answer was lost: it is asked again.
      assert.equal(await this.#database.transaction((queries) => publishSegments(queries, request, 1000)), ids);
      assert.is(outside, false);
      this.published[task.kind]++;
      if (isBeside) this.published.beside++;
      if (task.kind === 'append') this.#rows = [...this.#rows, ...rows];
      if (task.kind === 'overwrite') {
        const replaced = new Set(task.before);
        this.#rows = [...this.#rows.filter((row) => !replaced.has(row)), ...rows];
      }
    } catch (error) {
      assert.is((error as { code?: string }).code, 'conflict', String(error));
      this.published.refused++;
    }
    await this.#end(task);
  }

  async #end(task: Running): Promise<void> {
    this.#running.splice(this.#running.indexOf(task), 1);
    await this.#database.transaction(async (queries) => {
      await releaseLocks(queries, task.id);
      await finishTask(queries, task.id, { succeeded: true, error: null, report: null }, 1000);
    });
  }

  /** Removes unused segments for good, and files that nobody has any more. */
  async #kill(): Promise<void> {
    const selection = { dataSource: this.#dataSource, interval: { start: 0, end: DAYS * DAY } };
    const { files } = await this.#database.transaction((queries) => deleteUnused(queries, selection, 1 + this.#next(4)));
    for (const { path } of files) this.#files.delete(path);
  }

  #newRows({ interval, chunkMs }: Running): readonly number[] {
    const first = this.#hours.size;
    const hours = (interval.end - interval.start) / HOUR;
    const from = interval.start / HOUR + this.#next(hours);
    const spread = Math.min(interval.end / HOUR - from, chunkMs > DAY ? 1 : 1 + this.#next(30));
    const rows = Array.from({ length: this.#next(5) === 0 ? 0 : 1 + this.#next(4) }, (_, at) => first + at);
    for (const row of rows) this.#hours.set(row, from + this.#next(spread));
    return rows;
  }

  #within(interval: Interval): readonly number[] {
    return this.#rows.filter((row) => {
      const start = (this.#hours.get(row) ?? 0) * HOUR;
      return intersect(interval, { start, end: start + HOUR }) !== undefined;
    });
  }

  async #shown(): Promise<readonly number[]> {
    const shown = await visibleSegments(this.#database, this.#dataSource, [{ start: -40 * DAY, end: 40 * DAY }]);
    return shown.flatMap(({ segment, visible }) => this.#shownOf(segment, visible)).toSorted();
  }

  /** Rows of a segment in parts of its time. */
  #shownOf(segment: SegmentDescriptor, parts: readonly Interval[]): readonly number[] {
    if (isTombstone(segment)) return [];
    const rows = this.#files.get(segment.loadSpec.path);
    assert.ok(rows, `${segmentIdText(segment.id)} has no file`);
    return (rows ?? []).filter((row) => parts.some((part) => containsInstant(part, (this.#hours.get(row) ?? 0) * HOUR)));
  }

  #granularity({ kind, chunkMs }: Running): { readonly granularity?: Granularity } {
    return kind === 'overwrite' && this.#next(2) === 0 ? { granularity: { kind: 'duration', durationMs: chunkMs, origin: 0 } } : {};
  }
}

/** Rows by the start of their chunk. */
function chunksOf(rows: readonly number[], hours: ReadonlyMap<number, number>, chunkMs: number): ReadonlyMap<number, readonly number[]> {
  const chunks = new Map<number, number[]>();
  for (const row of rows) {
    const start = Math.floor(((hours.get(row) ?? 0) * HOUR) / chunkMs) * chunkMs;
    chunks.set(start, [...(chunks.get(start) ?? []), row]);
  }
  return chunks;
}

concurrent('tasks in any order lose and double no row', async ({ database }) => {
  const total = { append: 0, compact: 0, overwrite: 0, beside: 0, refused: 0 };
  for (let seed = 1; seed <= caseCount(15); seed++) {
    const model = new Model(database, seed);
    await model.run();
    for (const key of ['append', 'compact', 'overwrite', 'beside', 'refused'] as const) total[key] += model.published[key];
  }
  const { append: appends, compact, overwrite, beside } = total;
  assert.ok(Math.min(appends, compact, overwrite, beside) > 2, JSON.stringify(total));
});

concurrent.run();
