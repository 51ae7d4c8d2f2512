import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ETERNITY } from '../../src/base/instant.js';
import { parseJson, stringifyJson } from '../../src/base/json.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import type { ChildTask, PublishRequest, TaskChildren, TaskContext, TaskOutcome, TaskProgress } from '../../src/ingestion/contract.js';
import { runTask } from '../../src/ingestion/task.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { segmentIdText } from '../../src/model/segment-id.js';
import { createSegmentStore } from '../../src/storage/segment-store.js';
import { cellsOf, DECOMPRESSION } from './blocks.js';

export interface TaskRun {
  readonly outcome: TaskOutcome;
  readonly published: readonly PublishRequest[];
  readonly log: readonly string[];
  readonly progress: readonly TaskProgress[];
  /** Rows of all published segments, as the engine reads them from the pushed files. */
  readonly rows: readonly Record<string, unknown>[];
  /** Files in deep storage. */
  readonly pushed: number;
}

/** Runs a task against a scratch directory, with a metadata store that only remembers; reads back what was published. */
export async function run(payload: unknown, options: Partial<TaskContext> = {}): Promise<TaskRun> {
  const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-task-'));
  const published: PublishRequest[] = [];
  const log: string[] = [];
  const progress: TaskProgress[] = [];
  let pushed = 0;
  const context: TaskContext = {
    ...taskContext(folder, published, () => pushed++),
    log: (line) => log.push(line),
    progress: (update) => progress.push(update),
    children: childrenOf(() => context),
    ...options,
  };
  try {
    const outcome = await runTask(payload, context);
    const rows = published[0] === undefined ? [] : await readBack(published[0]);
    return { outcome, published, log, progress, rows, pushed };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Context of a task, with a metadata store that only remembers and a folder as deep storage. */
export function taskContext(folder: string, published: PublishRequest[], pushed: () => void = () => undefined): TaskContext {
  mkdirSync(path.join(folder, 'work'), { recursive: true });
  /** Sequences by the start of the chunk in which they have a segment; the place of one is its partition number. */
  const allocated = new Map<number, string[]>();
  const context: TaskContext = {
    taskId: 'task-1',
    attempt: 1,
    workDirectory: path.join(folder, 'work'),
    allowedDirectories: [],
    exportDirectory: path.join(folder, 'exports'),
    maxBytesInMemory: 1 << 28,
    maxKernelBytes: 2 ** 32 - 2 ** 16,
    http: { maxBytes: 1 << 20, allowedProtocols: ['http', 'https'], allowedHosts: [], allowedAddresses: [] },
    peers: [],
    inputLimits: { maxColumns: 1000, maxRowBytes: 1 << 20, decompression: DECOMPRESSION },
    keepsStoredTimes: false,
    kernels: 'reference',
    storage: {
      async pull({ path: from }, localFile) {
        copyFileSync(from, localFile);
      },
      async *read({ path: from }, range) {
        const bytes = readFileSync(from);
        yield range === undefined ? bytes : bytes.subarray(range.at, range.at + range.bytes);
      },
      async push(files) {
        return files.map(({ localFile, key }) => {
          mkdirSync(path.join(folder, path.dirname(key)), { recursive: true });
          copyFileSync(localFile, path.join(folder, key));
          pushed();
          return { type: 'local', path: path.join(folder, key) };
        });
      },
    },
    pushResults: null,
    signal: new AbortController().signal,
    now: () => 1_000_000,
    log: () => undefined,
    progress: () => undefined,
    serveChat: () => undefined,
    visibleSegments: async () => [],
    runSource: () => {
      throw new Error('no source in these tests');
    },
    readTables: () => {
      throw new Error('no SQL here');
    },
    children: childrenOf(() => context),
    segments: {
      async allocate({ dataSource, interval, sequence }) {
        const inChunk = allocated.get(interval.start) ?? [];
        allocated.set(interval.start, inChunk);
        const partitionNumber = inChunk.includes(sequence) ? inChunk.indexOf(sequence) : inChunk.push(sequence) - 1;
        return { dataSource, interval, version: '2026-01-01T00:00:00.000Z', partitionNumber };
      },
      served: async () => true,
      seen: async () => undefined,
    },
    serveLive: async () => ({ changed: () => undefined, close: async () => undefined }),
    stream: { checkpoint: async () => undefined, offsetsLost: async () => undefined },
    async publish(request) {
      published.push(request);
      return request.segments.map((_, position) => `segment ${position}`);
    },
  };
  return context;
}

/** Other tasks of a task, which run beside it in this process. */
export function childrenOf(parent: () => TaskContext): TaskChildren {
  const children = new Map<string, { state: ChildTask['state']; error: string | null; payload: unknown; report: unknown }>();
  return {
    async submit(payloads) {
      for (const payload of payloads) {
        const { id } = payload as { readonly id: string };
        if (children.has(id)) continue;
        const child = { state: 'RUNNING' as ChildTask['state'], error: null as string | null, payload, report: null as unknown };
        children.set(id, child);
        const { workDirectory, storage } = parent();
        const context = {
          ...parent(),
          taskId: id,
          workDirectory: path.join(workDirectory, id),
          storage: {
            ...storage,
            push: (files: Parameters<typeof storage.push>[0]) =>
              storage.push(files.map(({ localFile, key }) => ({ localFile, key: `${id}/${key}` }))),
          },
        };
        mkdirSync(context.workDirectory);
        // The Overlord keeps payloads as text.
        void runTask(parseJson(stringifyJson(payload)), context).then(({ succeeded, errorMessage, report }) =>
          Object.assign(child, { state: succeeded ? 'SUCCESS' : 'FAILED', error: errorMessage, report }),
        );
      }
    },
    list: async () => [...children].map(([id, { state, error }]) => ({ id, state, error })),
    async documents(id) {
      const child = children.get(id);
      return { payload: stringifyJson(child?.payload), report: child?.report === null ? null : stringifyJson(child?.report) };
    },
    async stop(id, reason) {
      Object.assign(children.get(id) ?? {}, { state: 'FAILED', error: reason });
    },
    look: async (ids) => ids.map((id) => ({ status: { id }, progress: null })),
    claim: async () => null,
    ended: async () => undefined,
    runHere: async () => false,
  };
}

/** Rows of published segments, as the engine reads them from the pushed files. */
export async function readBack({ dataSource, segments }: PublishRequest): Promise<Record<string, unknown>[]> {
  const memory = KernelMemory.create({ maximumBytes: 1 << 28 });
  const engine = createEngine({ memory, kernels: 'reference', threads: 0 });
  const store = createSegmentStore({ memory, cacheBytes: 1 << 27, openFilesMax: 16, run: (name, request) => engine.runJob(name, request) });
  const ids: string[] = [];
  for (const [partitionNumber, segment] of segments.entries()) {
    const id = { dataSource, interval: segment.interval, version: '1970-01-01T00:00:00.000Z', partitionNumber };
    await store.open(segment.loadSpec.path, {
      ...segment,
      id,
      shardSpec: { type: 'numbered', partitionNum: partitionNumber, partitions: 0 },
    });
    ids.push(segmentIdText(id));
  }
  const columns = [...new Set(segments.flatMap((segment) => segment.columns.map(({ name }) => name)))];
  const rows: Record<string, unknown>[] = [];
  const options = { ending: 'final', deadlineMs: Number.MAX_SAFE_INTEGER, priority: 0, kernels: null, batchRows: null } as const;
  const plan = {
    operator: 'scan',
    dataSource,
    intervals: [ETERNITY],
    filter: null,
    virtualColumns: [],
    columns,
    timeOrder: null,
    offset: 0,
    limit: null,
    post: [],
  } as const;
  for await (const frame of engine.run(plan, store, ids, options, new AbortController().signal)) rows.push(...cellsOf(frame));
  for (const id of ids) await store.close(id);
  await engine.close();
  return rows;
}
