import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { ETERNITY } from '../../src/base/instant.js';
import { ObjectReader, readContextOf } from '../../src/base/json-reader.js';
import type { ChatHandler, LiveSource, PublishRequest, TaskContext, TaskOutcome } from '../../src/ingestion/contract.js';
import { runStreamTask } from '../../src/ingestion/stream/run/run-stream-task.js';
import { parseStreamTask } from '../../src/ingestion/stream/stream-task.js';
import { segmentIdText } from '../../src/model/segment-id.js';
import type { CheckpointRequest, OffsetsLost } from '../../src/model/stream/control.js';
import type { FakeStream } from './fake-stream.js';
import { readBack, taskContext } from './run-task.js';

export const NO_END = '9223372036854775807';
export const DAY = 86_400_000;

export interface Options {
  readonly ends?: Readonly<Record<string, string>>;
  readonly starts?: Readonly<Record<string, string>>;
  readonly tuning?: Readonly<Record<string, unknown>>;
  readonly io?: Readonly<Record<string, unknown>>;
  readonly context?: Partial<TaskContext>;
  readonly checkpoints?: unknown;
}

export interface Task {
  readonly outcome: Promise<TaskOutcome>;
  readonly published: PublishRequest[];
  readonly asked: CheckpointRequest[];
  readonly lost: OffsetsLost[];
  readonly log: string[];
  readonly live: () => LiveSource;
  readonly folder: string;
  chat(method: 'GET' | 'POST', path: string, body?: unknown, query?: Readonly<Record<string, string>>): Promise<unknown>;
  /** Rows that a query of the live segments finds. */
  count(): Promise<number>;
}

/** Begins a task over a stream in memory, whose metadata store only remembers. */
export function begin(
  stream: FakeStream,
  { ends = {}, starts = {}, tuning = {}, io = {}, context: other = {}, checkpoints }: Options = {},
): Task {
  const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-stream-'));
  const all = stream.partitions.map((_, partition) => String(partition));
  const map = (given: Readonly<Record<string, string>>, otherwise: string) =>
    Object.fromEntries(
      all.map((partition) => [
        partition,
        Number(given[partition] ?? otherwise) < 2 ** 53 ? Number(given[partition] ?? otherwise) : (given[partition] ?? otherwise),
      ]),
    );
  const payload = {
    type: 'index_kafka',
    dataSchema: {
      dataSource: 'ds',
      timestampSpec: { column: 't', format: 'millis' },
      dimensionsSpec: { dimensions: [{ type: 'long', name: 'n' }] },
      granularitySpec: { segmentGranularity: 'day', rollup: false },
    },
    ioConfig: {
      type: 'kafka',
      baseSequenceName: 'base',
      startSequenceNumbers: { stream: 't', partitionSequenceNumberMap: map(starts, '0') },
      endSequenceNumbers: { stream: 't', partitionSequenceNumberMap: map(ends, NO_END) },
      consumerProperties: { 'bootstrap.servers': 'nowhere:1' },
      inputFormat: { type: 'json' },
      pollTimeout: 5,
      ...io,
    },
    tuningConfig: { type: 'kafka', ...tuning },
    context: checkpoints === undefined ? {} : { checkpoints: JSON.stringify(checkpoints) },
  };
  const spec = parseStreamTask(new ObjectReader(payload, '', readContextOf('input_invalid', 'the task')), 'index_kafka');
  const published: PublishRequest[] = [];
  const [asked, lost, log]: [CheckpointRequest[], OffsetsLost[], string[]] = [[], [], []];
  let handler: ChatHandler | undefined;
  let source: LiveSource | undefined;
  const context: TaskContext = {
    ...taskContext(folder, []),
    now: Date.now,
    log: (line) => log.push(line),
    serveChat: (answer) => {
      handler = answer;
    },
    async serveLive(live) {
      source = live;
      return { changed: () => undefined, close: async () => undefined };
    },
    stream: { checkpoint: async (request) => void asked.push(request), offsetsLost: async (each) => void lost.push(each) },
    async publish(request) {
      published.push(request);
      return request.segments.map(({ allocated }) => (allocated === undefined ? '?' : segmentIdText(allocated)));
    },
    ...other,
  };
  const outcome = runStreamTask(spec, context, async () => stream.reader()).finally(() => rmSync(folder, { recursive: true, force: true }));
  const live = (): LiveSource => source ?? (assert.unreachable('no live segments are served yet') as never);
  return {
    outcome,
    published,
    asked,
    lost,
    log,
    live,
    folder,
    async chat(method, name, body, query = {}) {
      for (let tries = 0; ; tries++) {
        try {
          return await handler?.({
            method,
            path: name.split('/'),
            query: new Map(Object.entries(query)),
            body: JSON.stringify(body ?? null),
          });
        } catch (error) {
          if (!(error instanceof ServiceError) || error.code !== 'unavailable' || tries > 500) throw error;
          await new Promise((resolve) => setTimeout(resolve, 2));
        }
      }
    },
    async count() {
      const { rows, engine, store } = live();
      await rows.settle();
      const held = rows.hold(rows.describe().map(({ id }) => segmentIdText(id)));
      let count = 0;
      const plan = {
        operator: 'scan',
        dataSource: 'ds',
        intervals: [ETERNITY],
        filter: null,
        virtualColumns: [],
        columns: ['n'],
        timeOrder: null,
        offset: 0,
        limit: null,
        post: [],
      } as const;
      const options = { ending: 'final', deadlineMs: Number.MAX_SAFE_INTEGER, kernels: null, batchRows: null } as const;
      const parts = [...held.parts.values()].flat();
      try {
        if (parts.length > 0)
          for await (const { rowCount } of engine.run(plan, store, parts, options, new AbortController().signal)) count += rowCount;
      } finally {
        held.release();
      }
      return count;
    },
  };
}

export const message = (n: number, t = n): string => JSON.stringify({ t, n });

export async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  for (const startMs = Date.now(); !(await isTrue()); await new Promise((resolve) => setTimeout(resolve, 3)))
    if (Date.now() > startMs + 20_000) throw new Error('did not come true');
}

export async function numbersOf(published: readonly PublishRequest[]): Promise<readonly number[]> {
  const numbers: number[] = [];
  for (const request of published) if (request.segments.length > 0) for (const { n } of await readBack(request)) numbers.push(Number(n));
  return numbers.sort((a, b) => a - b);
}

export const bounds = ({ stream }: PublishRequest): unknown => [
  stream?.sequence,
  Object.fromEntries(stream?.start.offsets ?? []),
  Object.fromEntries(stream?.end.offsets ?? []),
];

/** The rows of what a task has published: files go with its folder, so they are read as they are published. */
export function reading(): {
  readonly numbers: number[];
  readonly context: Pick<TaskContext, 'publish'>;
  readonly published: PublishRequest[];
} {
  const [numbers, published]: [number[], PublishRequest[]] = [[], []];
  return {
    numbers,
    published,
    context: {
      async publish(request) {
        published.push(request);
        for (const n of await numbersOf([request])) numbers.push(n);
        return request.segments.map(({ allocated }) => (allocated === undefined ? '?' : segmentIdText(allocated)));
      },
    },
  };
}
