// Metrics that are read from the roles of a process when they are asked for.

import { getHeapStatistics } from 'node:v8';
import { LoopTurns } from '../../base/loop-turns.js';
import type { CompactionSnapshot } from '../../cluster/compaction/snapshot.js';
import type { TaskCount } from '../../cluster/middlemanager/task-counts.js';
import type { Cluster } from '../../cluster/roles.js';
import { selectTasks } from '../../metadata/tasks.js';
import type { SegmentStore } from '../../storage/contract.js';
import { type Labels, type Metric, type Sample, writeMetric } from './exposition.js';

/** Parts of a process that have something to tell. */
export interface MetricSource {
  readonly cluster: Pick<Cluster, 'database' | 'historical' | 'coordinator' | 'overlord' | 'middleManager' | 'broker' | 'cache'>;
  readonly store: Pick<SegmentStore, 'residentBytes'>;
}

/** Values of gauges by their names, each written once with all that came for it. */
class Gauges {
  readonly #rows = new Map<string, { readonly metric: Metric; readonly samples: Sample[] }>();

  add(name: string, help: string, value: number, labels: Labels = {}, type: Metric['type'] = 'gauge'): void {
    const row = this.#rows.get(name) ?? { metric: { type, name, help }, samples: [] };
    this.#rows.set(name, row);
    row.samples.push({ labels, value });
  }

  /** Adds a value for each entry; none for an empty table. */
  addAll(name: string, help: string, label: string, values: ReadonlyMap<string, number>): void {
    for (const [value, count] of values) this.add(name, help, count, { [label]: value });
  }

  write(namespace: string): string {
    return Array.from(this.#rows.values(), ({ metric, samples }) => writeMetric(namespace, metric, samples)).join('');
  }
}

/** Facts of the process, under the names that clients of Prometheus use everywhere. */
export function processMetrics(): string {
  const gauges = new Gauges();
  const { heapUsed, heapTotal, external, rss } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  gauges.add('process_cpu_seconds_total', 'Processor time in seconds.', (user + system) / 1e6, {}, 'counter');
  gauges.add('process_resident_memory_bytes', 'Resident memory.', rss);
  gauges.add('process_start_time_seconds', 'Start of the process, seconds since 1970.', performance.timeOrigin / 1000);
  gauges.add('nodejs_heap_size_total_bytes', 'JavaScript heap.', heapTotal);
  gauges.add('nodejs_heap_size_used_bytes', 'JavaScript heap in use.', heapUsed);
  gauges.add('nodejs_heap_size_limit_bytes', 'Most that the JavaScript heap may be.', getHeapStatistics().heap_size_limit);
  gauges.add('nodejs_external_memory_bytes', 'Memory outside the JavaScript heap: buffers and kernel memory.', external);
  const { active } = performance.eventLoopUtilization();
  gauges.add('nodejs_eventloop_active_seconds_total', 'Seconds that the event loop was busy.', active / 1000, {}, 'counter');
  return gauges.write('');
}

/** Facts of the roles that this process plays. */
export async function roleMetrics({ cluster, store }: MetricSource, namespace: string): Promise<string> {
  const gauges = new Gauges();
  heartbeats(gauges, cluster);
  const { entries, bytes, hits, misses } = cluster.cache;
  gauges.add('query/cache/total/numEntries', 'Results that are kept.', entries);
  gauges.add('query/cache/total/sizeBytes', 'Bytes of results that are kept.', bytes);
  gauges.add('query/cache/total/hits', 'Results that were found.', hits);
  gauges.add('query/cache/total/misses', 'Results that were looked for and not found.', misses);
  gauges.add('query/cache/total/hitRate', 'Share of results that were found.', hits + misses === 0 ? 0 : hits / (hits + misses));
  if (cluster.historical !== undefined) await historicalMetrics(gauges, cluster.historical, store);
  if (cluster.coordinator?.leading === true) {
    const { runs, lastMs } = cluster.coordinator.runs;
    gauges.add('coordinator/global/time', 'Milliseconds that the last run of the duties took.', lastMs);
    gauges.add('coordinator/global/runs', 'Runs of the duties that this process has ended.', runs);
    for (const { tier, dataSource, count, bytes } of cluster.coordinator.moves.moved) {
      const labels = { dataSource, tier };
      gauges.add('segment/moved/count', 'Segments that this Coordinator has moved.', count, labels, 'counter');
      gauges.add('segment/moved/bytes', 'Bytes of segments that it has moved.', bytes, labels, 'counter');
    }
    await coordinatorMetrics(gauges, cluster.coordinator.picture);
    compactionMetrics(gauges, cluster.coordinator.compaction.report(null).snapshots);
  }
  if (cluster.overlord?.leading === true) await overlordMetrics(gauges, cluster.overlord, cluster.database);
  if (cluster.middleManager !== undefined) {
    const { capacity, runningTasks, enabled } = await cluster.middleManager.status();
    gauges.add('worker/taskSlot/total/count', 'Tasks that this MiddleManager may run at a time.', capacity);
    gauges.add('worker/taskSlot/used/count', 'Tasks that it runs.', runningTasks.length);
    gauges.add('worker/taskSlot/idle/count', 'Tasks that it has room for.', enabled ? Math.max(0, capacity - runningTasks.length) : 0);
    taskMetrics(gauges, cluster.middleManager.counts.all());
  }
  return gauges.write(namespace);
}

function heartbeats(gauges: Gauges, { historical, coordinator, overlord, middleManager, broker }: MetricSource['cluster']): void {
  const beat = (type: string, leader?: boolean): void =>
    gauges.add('service/heartbeat', 'The role is up; 1 under leader: it leads.', 1, {
      type,
      ...(leader === undefined ? {} : { leader: leader ? '1' : '0' }),
    });
  if (broker !== undefined) beat('broker');
  if (historical !== undefined) beat('historical');
  if (middleManager !== undefined) beat('middleManager');
  if (coordinator !== undefined) beat('coordinator', coordinator.leading);
  if (overlord !== undefined) beat('overlord', overlord.leading);
}

async function historicalMetrics(
  gauges: Gauges,
  historical: NonNullable<Cluster['historical']>,
  store: MetricSource['store'],
): Promise<void> {
  const { tier, priority, maxSizeBytes, segments } = historical.holding();
  const turns = new LoopTurns();
  const [bytes, counts] = [new Map<string, number>(), new Map<string, number>()];
  for (const { id, sizeBytes } of segments) {
    bytes.set(id.dataSource, (bytes.get(id.dataSource) ?? 0) + sizeBytes);
    counts.set(id.dataSource, (counts.get(id.dataSource) ?? 0) + 1);
    if (turns.isDue) await turns.give();
  }
  gauges.add('segment/max', 'Bytes of segments that this Historical takes.', maxSizeBytes);
  for (const [dataSource, used] of bytes) {
    const labels = { dataSource, tier, priority: String(priority) };
    gauges.add('segment/used', 'Bytes of segments that it serves.', used, labels);
    gauges.add('segment/usedPercent', 'Share of its room that they take.', maxSizeBytes === 0 ? 0 : used / maxSizeBytes, labels);
    gauges.add('segment/served/count', 'Segments that it serves.', counts.get(dataSource) ?? 0, labels);
  }
  const { waiting, inside } = historical.runs;
  gauges.add('segment/scan/pending', 'Runs over segments that wait for their turn.', waiting);
  gauges.add('segment/scan/active', 'Runs over segments under way.', inside);
  gauges.add('segment/columns/residentBytes', 'Bytes of columns in kernel memory.', store.residentBytes);
}

type Picture = NonNullable<Cluster['coordinator']>['picture'];

async function coordinatorMetrics(gauges: Gauges, { servers, targets, drops }: Picture): Promise<void> {
  const turns = new LoopTurns();
  const [sizes, counts, unavailable] = [new Map<string, number>(), new Map<string, number>(), new Map<string, number>()];
  const missing = new Map<string, Map<string, number>>();
  const tiers = new Map<string, Picture['servers'][number][]>();
  for (const server of servers) tiers.set(server.tier, [...(tiers.get(server.tier) ?? []), server]);
  for (const { id, segment, tieredReplicants } of targets.values()) {
    const { dataSource } = segment.id;
    sizes.set(dataSource, (sizes.get(dataSource) ?? 0) + segment.sizeBytes);
    counts.set(dataSource, (counts.get(dataSource) ?? 0) + 1);
    let copies = 0;
    for (const [tier, wanted] of Object.entries(tieredReplicants)) {
      const served = (tiers.get(tier) ?? []).reduce((count, server) => count + (server.served.has(id) ? 1 : 0), 0);
      copies += served;
      const ofTier = missing.get(tier) ?? new Map<string, number>();
      missing.set(tier, ofTier.set(dataSource, (ofTier.get(dataSource) ?? 0) + Math.max(0, wanted - served)));
    }
    const isWanted = Object.keys(tieredReplicants).length > 0;
    unavailable.set(dataSource, (unavailable.get(dataSource) ?? 0) + (isWanted && copies === 0 ? 1 : 0));
    if (turns.isDue) await turns.give();
  }
  gauges.addAll('segment/size', 'Bytes of used segments.', 'dataSource', sizes);
  gauges.addAll('segment/count', 'Used segments.', 'dataSource', counts);
  gauges.addAll('segment/unavailable/count', 'Segments to be loaded that nobody serves.', 'dataSource', unavailable);
  for (const [tier, ofTier] of missing)
    for (const [dataSource, count] of ofTier)
      gauges.add('segment/underReplicated/count', 'Copies of segments still to be loaded.', count, { dataSource, tier });
  for (const { host, loading } of servers) {
    const size = [...loading].reduce((sum, id) => sum + (targets.get(id)?.segment.sizeBytes ?? 0), 0);
    gauges.add('segment/loadQueue/count', 'Segments that a server is to load.', loading.size, { server: host });
    gauges.add('segment/loadQueue/size', 'Bytes of segments that a server is to load.', size, { server: host });
    gauges.add('segment/dropQueue/count', 'Segments that a server is to drop.', drops.get(host)?.length ?? 0, { server: host });
  }
  for (const [tier, members] of tiers) {
    gauges.add('tier/historical/count', 'Historicals of a tier.', members.length, { tier });
    const bytes = members.reduce((sum, { maxSizeBytes }) => sum + maxSizeBytes, 0);
    gauges.add('tier/total/capacity', 'Bytes of segments that a tier takes.', bytes, { tier });
  }
}

/** Facts of automatic compaction, as its last run found them, and the metric of each. */
const COMPACTION_METRICS = [
  ['segment/waitCompact/bytes', 'Bytes of segments that wait for compaction.', 'bytesAwaitingCompaction'],
  ['segment/waitCompact/count', 'Segments that wait for compaction.', 'segmentCountAwaitingCompaction'],
  ['interval/waitCompact/count', 'Intervals that wait for compaction.', 'intervalCountAwaitingCompaction'],
  ['segment/compacted/bytes', 'Bytes of segments that are compacted.', 'bytesCompacted'],
  ['segment/compacted/count', 'Segments that are compacted.', 'segmentCountCompacted'],
  ['interval/compacted/count', 'Intervals that are compacted.', 'intervalCountCompacted'],
  ['segment/skipCompact/bytes', 'Bytes of segments that compaction leaves as they are.', 'bytesSkipped'],
  ['segment/skipCompact/count', 'Segments that compaction leaves as they are.', 'segmentCountSkipped'],
  ['interval/skipCompact/count', 'Intervals that compaction leaves as they are.', 'intervalCountSkipped'],
] as const satisfies readonly (readonly [string, string, keyof CompactionSnapshot])[];

function compactionMetrics(gauges: Gauges, snapshots: readonly CompactionSnapshot[]): void {
  for (const [name, help, field] of COMPACTION_METRICS)
    for (const snapshot of snapshots) gauges.add(name, help, snapshot[field], { dataSource: snapshot.dataSource });
}

/** Counts of tasks, and the metric of each. */
const INGESTION_METRICS = [
  ['ingest/events/processed', 'Rows that tasks of this MiddleManager have read and kept.', 'processed'],
  ['ingest/events/processedWithError', 'Rows kept although a field could not be read.', 'processedWithError'],
  ['ingest/events/thrownAway', 'Rows that a filter or a bound of time left out.', 'thrownAway'],
  ['ingest/events/unparseable', 'Rows that could not be read.', 'unparseable'],
  ['ingest/input/bytes', 'Bytes of input that were read.', 'bytesRead'],
  ['ingest/rows/output', 'Rows of segments that were published.', 'rows'],
  ['ingest/segments/count', 'Segments that were published.', 'segments'],
  ['ingest/handoff/count', 'Segments of streams that were published.', 'handoffs'],
  ['worker/task/success/count', 'Tasks of this MiddleManager that succeeded.', 'succeeded'],
  ['worker/task/failed/count', 'Tasks of this MiddleManager that failed.', 'failed'],
] as const satisfies readonly (readonly [string, string, keyof TaskCount])[];

function taskMetrics(gauges: Gauges, counts: Iterable<TaskCount>): void {
  for (const count of counts)
    for (const [name, help, field] of INGESTION_METRICS)
      gauges.add(name, help, count[field], { dataSource: count.dataSource, taskType: count.taskType }, 'counter');
}

/** Names of the lag of a stream, in records or in milliseconds. */
const LAG_METRICS = {
  kafka: ['ingest/kafka/lag', 'ingest/kafka/maxLag', 'ingest/kafka/avgLag'],
  kinesis: ['ingest/kinesis/lag/time', 'ingest/kinesis/maxLag/time', 'ingest/kinesis/avgLag/time'],
} as const;

/** Lags as the supervisors have last looked at their streams; of one that knows none there is nothing. */
function lagMetrics(gauges: Gauges, supervisors: NonNullable<Cluster['overlord']>['supervisors']): void {
  for (const { id, dataSource, source: stream } of supervisors.list()) {
    const supervisor = supervisors.find(id);
    const lag = supervisor?.lag() ?? null;
    if (supervisor === undefined || lag === null) continue;
    const [sum, max, average] = LAG_METRICS[supervisor.spec.kind];
    const labels = { dataSource, stream, supervisorId: id };
    gauges.add(sum, 'Lag behind the end of a stream, of all partitions together.', lag.sum, labels);
    gauges.add(max, 'Lag of the partition that is furthest behind.', lag.max, labels);
    gauges.add(average, 'Lag of a partition, on average.', lag.average, labels);
  }
}

/** States of tasks that have not ended, and the metric of each. */
const TASK_METRICS = {
  WAITING: ['task/waiting/count', 'Tasks that wait for a lock.'],
  PENDING: ['task/pending/count', 'Tasks that wait for a worker.'],
  RUNNING: ['task/running/count', 'Tasks that run.'],
} as const;

async function overlordMetrics(gauges: Gauges, overlord: NonNullable<Cluster['overlord']>, database: Cluster['database']): Promise<void> {
  const byState = new Map<string, Map<string, number>>(Object.keys(TASK_METRICS).map((state) => [state, new Map()]));
  for (const { state, dataSource } of await selectTasks(database, { states: ['WAITING', 'PENDING', 'RUNNING'] })) {
    const counts = byState.get(state);
    counts?.set(dataSource, (counts.get(dataSource) ?? 0) + 1);
  }
  for (const [state, [name, help]] of Object.entries(TASK_METRICS))
    gauges.addAll(name, help, 'dataSource', byState.get(state) ?? new Map());
  const workers = await overlord.workers();
  const total = workers.reduce((sum, { capacity }) => sum + capacity, 0);
  const used = workers.reduce((sum, { runningTasks }) => sum + runningTasks.length, 0);
  gauges.add('taskSlot/total/count', 'Tasks that all MiddleManagers may run at a time.', total);
  gauges.add('taskSlot/used/count', 'Tasks that they run.', used);
  const idle = workers.reduce(
    (sum, { enabled, capacity, runningTasks }) => sum + (enabled ? Math.max(0, capacity - runningTasks.length) : 0),
    0,
  );
  gauges.add('taskSlot/idle/count', 'Tasks that they have room for.', idle);
  for (const { id, type, state, detailedState } of await overlord.supervisorList())
    gauges.add('supervisor/count', 'Supervisors.', 1, { supervisorId: id, type, state, detailedState });
  lagMetrics(gauges, overlord.supervisors);
}
