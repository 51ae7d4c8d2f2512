import { heldLookups } from '../../bench/lookup-settings.js';
import type { Clock } from '../../src/base/clock/clock.js';
import { Broker } from '../../src/cluster/broker/broker.js';
import type { QueryOptions } from '../../src/cluster/broker/contract.js';
import type { ResultCache } from '../../src/cluster/broker/result-cache.js';
import type { Peers } from '../../src/cluster/rpc/peers.js';
import type {
  CoordinatorService,
  HistoricalService,
  RunPlanRequest,
  SegmentsSnapshot,
  TaskService,
} from '../../src/cluster/rpc/services.js';
import type { Engine } from '../../src/execution/run/engine.js';
import type { Frame } from '../../src/model/frame.js';
import type { SegmentDescriptor } from '../../src/model/segment.js';
import { segmentIdText } from '../../src/model/segment-id.js';
import { emptyHistorical, inventoryOf, segmentOf } from './fakes.js';

export const ids = (segments: readonly SegmentDescriptor[]): string[] => segments.map((segment) => segmentIdText(segment.id));

/** Three days of a datasource, and newer versions of them. */
export const OLD = [0, 1, 2].map((day) => segmentOf('ds', day, 'v1'));
export const NEW = [0, 1, 2].map((day) => segmentOf('ds', day, 'v2'));
/** A server of all the older ones. */
export const EVERYWHERE = { ids: ids(OLD) };

/** A broker over fake historicals whose frames name the host and the segments that were read. */
export async function brokerOver(
  snapshot: SegmentsSnapshot,
  historicals: Readonly<Record<string, Partial<HistoricalService> & { readonly ids: readonly string[]; readonly priority?: number }>>,
  results: ResultCache | null = null,
  {
    coordinator = {},
    starts = true,
    clock,
    gone,
    tasks = {},
  }: {
    readonly coordinator?: Partial<CoordinatorService>;
    readonly starts?: boolean;
    readonly clock?: Clock;
    readonly gone?: ReadonlySet<string>;
    /** Processes of tasks, by host. */
    readonly tasks?: Readonly<Record<string, Partial<TaskService>>>;
  } = {},
) {
  const asked: RunPlanRequest[] = [];
  const services = Object.entries(historicals).map(([host, { ids: served, priority = 0, ...methods }]) => ({
    host,
    session: 's',
    service: {
      ...emptyHistorical(),
      inventoryAfter: async () => inventoryOf(host, served, { priority }),
      async *runPlan(request: RunPlanRequest): AsyncIterable<Frame> {
        asked.push(request);
        yield { rowCount: request.segmentIds.length, columns: [] };
      },
      ...methods,
    },
  }));
  const running = Object.entries(tasks).map(([host, service]) => ({ host, session: 's', service }));
  const leader = {
    snapshotAfter: async () => snapshot,
    lookupsAfter: async () => null,
    usedSegments: async () => [],
    ...coordinator,
  };
  const peers = {
    all: (role: string) => (role === 'task' ? running : services).filter(({ host }) => gone?.has(host) !== true),
    at: (_role: string, host: string) => [...services, ...running].find((each) => each.host === host)?.service,
    leading: () => leader,
    isHere: () => false,
  } as unknown as Peers;
  const engine: Engine = {
    run: () => never(),
    async *runViews() {},
    async *merge(_plan, partials) {
      let rowCount = 0;
      for (const partial of partials) for await (const frame of partial) rowCount += frame.rowCount;
      yield { rowCount, columns: [] };
    },
    runRows: () => never(),
    build: () => never(),
    runUploaded: () => never(),
    reserveUpload: () => never(),
    releaseUpload: () => never(),
    counters: { rowsScanned: 0, rowsMatched: 0, segments: 0 },
    close: async () => undefined,
  };
  const broker = new Broker({
    engine,
    peers,
    retries: 1,
    exactSums: false,
    results,
    gatherBytesMax: null,
    heldBytesMax: Infinity,
    lookups: heldLookups(),
    pollMs: 60_000,
    now: Date.now,
    ...(clock === undefined ? {} : { clock }),
    log: () => undefined,
  });
  if (starts) await broker.start();
  return { broker, asked };
}

function never(): never {
  throw new Error('not asked in these tests');
}

export const options = (queryId = 'q', timeoutMs = 20_000): QueryOptions => ({
  queryId,
  deadlineMs: Date.now() + timeoutMs,
  priority: 0,
  kernels: null,
  signal: new AbortController().signal,
});

export async function rowsOf(frames: AsyncIterable<Frame>): Promise<number> {
  let rows = 0;
  for await (const frame of frames) rows += frame.rowCount;
  return rows;
}
