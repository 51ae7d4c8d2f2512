// Routes of automatic compaction: its configurations and its status.

import { ServiceError } from '../../base/errors.js';
import { ObjectReader, readContextOf } from '../../base/json-reader.js';
import { type ClusterCompactionConfig, parseClusterConfig } from '../../cluster/compaction/cluster-config.js';
import type { CompactionChange, CompactionConfigs } from '../../cluster/compaction/compaction-configs.js';
import { type CompactionSnapshot, type IntervalStatus, notEnabled } from '../../cluster/compaction/snapshot.js';
import type { CoordinatorService } from '../../cluster/rpc/services.js';
import { itself, readable } from '../access/readable.js';
import type { HttpRequest, HttpResponse, Route } from '../http.types.js';
import {
  CONFIG_READ,
  CONFIG_WRITE,
  DATASOURCE_READ,
  DATASOURCE_WRITE,
  formatInstant,
  isFlagged,
  json,
  LISTED,
  readAuthor,
  readHistorySelection,
  readJson,
  route,
  STATE_READ,
  STATE_WRITE,
} from './exchange.js';

export interface CompactionSource {
  readonly configs: CompactionConfigs;
  /** The Coordinator whose duty it is. */
  coordinator(): Promise<Pick<CoordinatorService, 'compactionReport' | 'simulateCompaction' | 'wakeCompaction'>>;
  /** `svc.audit.manager.auditHistoryMillis`. */
  readonly auditHistoryMs: number;
  readonly now: () => number;
}

/** Body of a change, in the newer form. */
const DONE = { success: true };

/** The older paths, under those of the Coordinator. */
export function compactionDutyRoutes(source: CompactionSource): readonly Route[] {
  const { configs, coordinator } = source;
  const base = '/svc/coordinator/v1/config/compaction';
  const all = async (): Promise<HttpResponse> => {
    const { cluster, dataSources } = await configs.all();
    return json(200, { compactionConfigs: [...dataSources.values()], ...cluster });
  };
  return [
    route('GET', base, CONFIG_READ, all),
    route('POST', base, CONFIG_WRITE, async (request) => {
      await configs.set(readFields(request, 'the compaction configuration'), readAuthor(request));
      return { status: 200 };
    }),
    route('POST', `${base}/taskslots`, CONFIG_WRITE, async (request) => {
      const written = { compactionTaskSlotRatio: request.query.get('ratio'), maxCompactionTaskSlots: request.query.get('max') };
      await configs.changeCluster(
        (current) => parseClusterConfig(fieldsOf(written, request, 'the task slots'), current),
        readAuthor(request),
      );
      return { status: 200 };
    }),
    route('GET', `${base}/cluster`, CONFIG_READ, async () => {
      const { cluster, dataSources } = await configs.all();
      return json(200, dataSources.get('cluster') ?? cluster);
    }),
    route('POST', `${base}/cluster`, CONFIG_WRITE, async (request) => {
      await configs.changeCluster(clusterChange(request), readAuthor(request));
      return { status: 200 };
    }),
    route('GET', `${base}/{dataSource}`, CONFIG_READ, async (_request, { dataSource = '' }) => json(200, await configs.get(dataSource))),
    route('DELETE', `${base}/{dataSource}`, CONFIG_WRITE, async (request, { dataSource = '' }) => {
      await configs.remove(dataSource, readAuthor(request));
      return { status: 200 };
    }),
    route('GET', `${base}/{dataSource}/history`, CONFIG_READ, async (request, { dataSource = '' }) =>
      json(200, await history(source, request, dataSource)),
    ),
    route('GET', '/svc/coordinator/v1/compaction/status', STATE_READ, async (request) => {
      const dataSource = request.query.get('dataSource');
      if (dataSource !== null && dataSource !== '') return json(200, { latestStatus: [await statusOf(source, request, dataSource)] });
      return json(200, { latestStatus: (await (await coordinator()).compactionReport(null)).snapshots });
    }),
    route('GET', '/svc/coordinator/v1/compaction/progress', STATE_READ, async (request) => {
      const dataSource = request.query.get('dataSource') ?? '';
      if (dataSource === '') throw new ServiceError('input_invalid', 'dataSource: found nothing, expected the name of a datasource');
      await configs.get(dataSource);
      const { snapshots } = await (await coordinator()).compactionReport(null);
      const snapshot = snapshots.find((each) => each.dataSource === dataSource);
      if (snapshot === undefined) throw new ServiceError('not_found', `compaction has not looked at datasource ${dataSource} yet`);
      return json(200, { remainingSegmentSize: snapshot.bytesAwaitingCompaction });
    }),
    route('POST', '/svc/coordinator/v1/compaction/compact', CONFIG_WRITE, async () => {
      await (await coordinator()).wakeCompaction();
      return { status: 200 };
    }),
    route('POST', '/svc/coordinator/v1/compaction/simulate', STATE_WRITE, (request) => simulate(source, request)),
  ];
}

/** The newer paths, under those of the Overlord. */
export function compactionRoutes(source: CompactionSource): readonly Route[] {
  const { configs, coordinator } = source;
  const base = '/svc/indexer/v1/compaction';
  return [
    route('GET', `${base}/isSupervisorEnabled`, CONFIG_READ, async () => json(200, (await configs.all()).cluster.useSupervisors)),
    route('GET', `${base}/config/cluster`, CONFIG_READ, async () => json(200, (await configs.all()).cluster)),
    route('POST', `${base}/config/cluster`, CONFIG_WRITE, async (request) => {
      await configs.changeCluster(clusterChange(request), readAuthor(request));
      return json(200, DONE);
    }),
    route('GET', `${base}/config/datasources`, LISTED, async ({ caller }) => {
      const { dataSources } = await configs.all();
      const names = readable(caller, [...dataSources.keys()], itself);
      return json(200, { compactionConfigs: names.map((name) => dataSources.get(name)) });
    }),
    route('GET', `${base}/config/datasources/{dataSource}`, DATASOURCE_READ, async (_request, { dataSource = '' }) =>
      json(200, await configs.get(dataSource)),
    ),
    route('POST', `${base}/config/datasources/{dataSource}`, DATASOURCE_WRITE, async (request, { dataSource = '' }) => {
      const fields = readFields(request, 'the compaction configuration');
      if (fields.string('dataSource') !== dataSource) throw fields.invalid('dataSource', `differs from that of the path, "${dataSource}"`);
      await configs.set(fields, readAuthor(request));
      return json(200, DONE);
    }),
    route('DELETE', `${base}/config/datasources/{dataSource}`, DATASOURCE_WRITE, async (request, { dataSource = '' }) => {
      await configs.remove(dataSource, readAuthor(request));
      return json(200, DONE);
    }),
    route('GET', `${base}/config/datasources/{dataSource}/history`, DATASOURCE_READ, async (request, { dataSource = '' }) =>
      json(200, { entries: await history(source, request, dataSource) }),
    ),
    route('GET', `${base}/status/datasources`, LISTED, async ({ caller }) => {
      const { snapshots } = await (await coordinator()).compactionReport(null);
      return json(200, { latestStatus: readable(caller, snapshots, ({ dataSource }) => dataSource) });
    }),
    route('GET', `${base}/status/datasources/{dataSource}`, DATASOURCE_READ, async (request, { dataSource = '' }) =>
      json(200, await statusOf(source, request, dataSource)),
    ),
    route('POST', `${base}/simulate`, CONFIG_WRITE, (request) => simulate(source, request)),
  ];
}

function readFields(request: HttpRequest, root: string): ObjectReader {
  return fieldsOf(readJson(request), request, root);
}

function fieldsOf(value: unknown, request: HttpRequest, root: string): ObjectReader {
  return new ObjectReader(value, '', readContextOf('input_invalid', root, request.viaAlias));
}

/** The configuration of the cluster as the body changes it. */
function clusterChange(request: HttpRequest): (current: ClusterCompactionConfig) => ClusterCompactionConfig {
  const body = readJson(request);
  return (current) => parseClusterConfig(fieldsOf(body, request, 'the compaction configuration'), current);
}

async function history(
  { configs, auditHistoryMs, now }: CompactionSource,
  request: HttpRequest,
  dataSource: string,
): Promise<readonly unknown[]> {
  const changes = await configs.history(dataSource, readHistorySelection(request, now(), auditHistoryMs));
  return changes.map(({ timeMs, ...change }: CompactionChange) => ({ ...change, auditTime: formatInstant(timeMs) }));
}

/** Status of one datasource; with `full`, each of its intervals and why it is, or is not, compacted. */
async function statusOf({ configs, coordinator }: CompactionSource, request: HttpRequest, dataSource: string): Promise<CompactionSnapshot> {
  const { snapshots, intervals } = await (await coordinator()).compactionReport(dataSource);
  const isConfigured = (await configs.inEffect()).dataSources.has(dataSource);
  const snapshot = snapshots.find((each) => each.dataSource === dataSource);
  if (isConfigured && snapshot !== undefined) return isFlagged(request, 'full') ? { ...snapshot, ...{ intervals } } : snapshot;
  if (!isConfigured && (await configs.wasConfigured(dataSource))) return notEnabled(dataSource);
  throw new ServiceError(
    'not_found',
    isConfigured ? `compaction has not looked at datasource ${dataSource} yet` : `datasource ${dataSource} has no compaction configuration`,
  );
}

const COLUMNS = ['dataSource', 'interval', 'numSegments', 'bytes'];
/** Columns of the tables of a simulation, by state. */
const TABLES: Readonly<Record<IntervalStatus['state'], readonly string[]>> = {
  COMPLETE: COLUMNS,
  RUNNING: [...COLUMNS, 'maxTaskSlots', 'reasonToCompact'],
  PENDING: [...COLUMNS, 'maxTaskSlots', 'reasonToCompact'],
  SKIPPED: [...COLUMNS, 'reasonToSkip'],
};

async function simulate({ configs, coordinator }: CompactionSource, request: HttpRequest): Promise<HttpResponse> {
  const change = clusterChange(request);
  const intervals = await (await coordinator()).simulateCompaction(change((await configs.all()).cluster));
  const states = Object.entries(TABLES).flatMap(([state, columnNames]): [string, unknown][] => {
    const rows = intervals.filter((each) => each.state === state).map((each) => rowOf(each, columnNames));
    return rows.length === 0 ? [] : [[state, { columnNames, rows }]];
  });
  return json(200, { compactionStates: Object.fromEntries(states) });
}

function rowOf({ dataSource, interval, segments, bytes, reason }: IntervalStatus, columnNames: readonly string[]): readonly unknown[] {
  // A compaction is one task.
  const cells = [dataSource, interval, segments, bytes, ...(columnNames.includes('maxTaskSlots') ? [1] : [])];
  return columnNames.length > cells.length ? [...cells, reason] : cells;
}
