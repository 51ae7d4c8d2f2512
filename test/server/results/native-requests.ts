import * as assert from 'uvu/assert';
import type { Interval } from '../../../src/base/instant.js';
import type { BrokerQueries, QueryOptions, SegmentToRun } from '../../../src/cluster/broker/contract.js';
import { ALLOW_ALL_CALLER } from '../../../src/model/access/authorizer.js';
import type { Frame, FrameColumn } from '../../../src/model/frame.js';
import type { Plan } from '../../../src/model/plan.js';
import type { RowSource } from '../../../src/model/row-source.js';
import type { SegmentAnalysis } from '../../../src/model/segment.js';
import type { HttpRequest, HttpResponse } from '../../../src/server/http.types.js';
import { PlanThread } from '../../../src/server/planning/plan-thread.js';
import { QueryLog } from '../../../src/server/queries/query-log.js';
import { nativeRoutes } from '../../../src/server/routes/native.js';
import { unlimited } from '../../cluster/fakes.js';

export const MAX = 9223372036854775807n;
export const HOUR = 3_600_000;
export const NOON = Date.UTC(2015, 8, 12, 12);

export const long = (name: string, values: readonly (bigint | null)[]): FrameColumn => ({
  kind: 'long',
  name,
  values: BigInt64Array.from(values, (value) => value ?? 0n),
  nulls: nullBits(values),
});
export const double = (name: string, values: readonly (number | null)[], type: 'DOUBLE' | 'FLOAT' = 'DOUBLE'): FrameColumn => ({
  kind: 'double',
  name,
  type,
  values: Float64Array.from(values, (value) => value ?? 0),
  nulls: nullBits(values),
});
export const text = (name: string, values: readonly (string | null)[]): FrameColumn => {
  const dictionary = [...new Set(values)];
  return { kind: 'string', name, ids: Uint32Array.from(values, (value) => dictionary.indexOf(value)), dictionary };
};
export const frame = (...columns: FrameColumn[]): Frame => {
  const [first] = columns;
  return {
    rowCount:
      first === undefined
        ? 0
        : first.kind === 'string'
          ? first.ids.length
          : first.kind === 'multi'
            ? first.offsets.length - 1
            : first.values.length,
    columns,
  };
};

function nullBits(values: readonly unknown[]): Uint32Array | null {
  if (!values.includes(null)) return null;
  const bits = new Uint32Array(Math.ceil(values.length / 32));
  for (const [row, value] of values.entries()) if (value === null) bits[row >>> 5] = (bits[row >>> 5] ?? 0) | (1 << (row & 31));
  return bits;
}

export const log = new QueryLog({ kept: 10, now: () => 1000 });
export const scheduler = unlimited();
export const planThread = new PlanThread(100);

/** A broker that answers plans from a list, in order, and remembers what it was asked. */
export class FakeBroker implements BrokerQueries {
  readonly asked: { readonly plan: Plan; readonly options: QueryOptions }[] = [];
  readonly cancelled: string[] = [];
  readonly #answers: (readonly Frame[])[];
  readonly #analyses: readonly SegmentAnalysis[];

  constructor(answers: readonly (readonly Frame[])[], analyses: readonly SegmentAnalysis[] = []) {
    this.#answers = [...answers];
    this.#analyses = analyses;
  }

  knownResult = () => undefined;
  tables = () => ['wiki'];
  table = (name: string) => ({
    name,
    columns: [
      { name: '__time', type: 'LONG', multiValue: false, hasNulls: false } as const,
      { name: 'page', type: 'STRING', multiValue: false, hasNulls: true } as const,
    ],
    mixed: new Set<string>(),
    rowCount: 1,
    interval: { start: Date.UTC(2015, 8, 12), end: Date.UTC(2015, 8, 13) },
  });
  async *run(plan: Plan, options: QueryOptions): AsyncIterable<Frame> {
    this.asked.push({ plan, options });
    yield* this.#answers.shift() ?? [];
  }
  runOver(plan: Plan, _source: RowSource, options: QueryOptions): AsyncIterable<Frame> {
    return this.run(plan, options);
  }
  async *bySegment(
    dataSource: string,
    { intervals }: { readonly intervals: readonly Interval[] },
    options: QueryOptions,
  ): AsyncIterable<readonly SegmentToRun[]> {
    yield intervals.map(
      (interval, index): SegmentToRun => ({ id: `${dataSource}_${index}`, interval, run: (plan) => this.run(plan, options) }),
    );
  }
  analyze = async () => this.#analyses;
  candidates = (dataSource: string) => [
    {
      segment: {
        id: { dataSource, interval: { start: NOON, end: NOON + HOUR }, version: '2015-09-13T00:00:00.000Z', partitionNumber: 2 },
        shardSpec: { type: 'numbered', partitionNum: 2, partitions: 3 } as const,
        loadSpec: { type: 'local', path: 'x' },
        sizeBytes: 77,
        rowCount: 1,
        dimensions: ['page'],
        metrics: ['added'],
        columns: [],
      },
      hosts: [{ host: 'localhost:8083', tier: '_default_tier', priority: 0, maxSizeBytes: 100 }],
    },
  ];
  cancel(queryId: string): boolean {
    this.cancelled.push(queryId);
    return true;
  }
}

export async function send(
  broker: BrokerQueries,
  body: unknown,
  more: Partial<HttpRequest> = {},
  method = 'POST',
  path = '/svc/v2',
): Promise<HttpResponse & { readonly text: string }> {
  const routes = nativeRoutes(broker, {
    now: () => 1000,
    newQueryId: () => 'made-up',
    defaultTimeoutMs: 300,
    maxTimeoutMs: 10_000,
    log,
    scheduler,
    planThread,
  });
  const route = routes.find((each) => each.method === method && each.path === path);
  assert.ok(route);
  const request: HttpRequest = {
    method,
    path,
    rawUrl: path,
    query: new URLSearchParams(),
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
    remoteAddress: '127.0.0.1',
    signal: new AbortController().signal,
    viaAlias: false,
    caller: ALLOW_ALL_CALLER,
    ...more,
  };
  const response = await route.handle(request, { id: 'q7' });
  let answer = '';
  if (typeof response.body === 'string') answer = response.body;
  else if (response.body !== undefined && !(response.body instanceof Uint8Array)) for await (const piece of response.body) answer += piece;
  return { ...response, text: answer };
}

export const base = {
  dataSource: 'wiki',
  intervals: '2015-09-12/P1D',
  granularity: 'hour',
  aggregations: [{ type: 'longSum', name: 'added', fieldName: 'added' }],
};
