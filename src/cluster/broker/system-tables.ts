// Rows of the tables of `sys`, asked of the other roles.

import { ServiceError } from '../../base/errors.js';
import { parseJsonWithDoubles, stringifyJson } from '../../base/json.js';
import { formatInstant } from '../../base/time.js';
import type { TaskRecord } from '../../metadata/tasks.js';
import type { Frame } from '../../model/frame.js';
import type { SegmentDescriptor } from '../../model/segment.js';
import { segmentIdText } from '../../model/segment-id.js';
import type { SystemCell, SystemRow, SystemRows, SystemTableName } from '../../planner/sql/catalog/system-schema.js';
import type { Coordination, Member } from '../membership/coordination.js';
import type { HttpClient } from '../rpc/http-client.js';
import { type Peers, TASK_ROLE } from '../rpc/peers.js';
import type { LiveInventory, ServerInventory } from '../rpc/services.js';
import type { LiveCounts } from './segment-rows.js';

export interface SystemTablesSource {
  readonly coordination: Pick<Coordination, 'members' | 'leader'>;
  readonly peers: Pick<Peers, 'all' | 'leading'>;
  readonly client: Pick<HttpClient, 'send'>;
  readonly roles: readonly string[];
  /** Whether the announced ports are those of TLS. */
  readonly isTls?: boolean;
  /** Leaves out datasources that the reader of the rows may not read; null: he may read all of them. */
  readonly readable: ((dataSources: readonly string[]) => readonly string[]) | null;
  /** The SQL queries of this broker, running and ended. */
  queries(): readonly SystemRow[];
  /** `segments` as it is now; of this broker. */
  segmentsTable(live: LiveCounts): Promise<Frame>;
}

/** Details that a process announces about itself. */
export interface MemberDetails {
  readonly startedMs: number;
  readonly version: string;
  readonly processors: number;
  readonly memoryBytes: number;
}

/** Rows of `sys`, asked at once of those who know; one that does not answer fails the statement. */
export function systemRows(source: SystemTablesSource, table: SystemTableName): Promise<SystemRows> {
  return TABLES[table](source);
}

const TABLES: { readonly [Name in SystemTableName]: (source: SystemTablesSource) => Promise<SystemRows> } = {
  segments: async ({ peers, segmentsTable }) => {
    // Before the others: one that is handed over meanwhile is published by then.
    const live = new Map<string, { readonly segment: SegmentDescriptor; count: number }>();
    for (const segment of (await readTasks(peers)).flatMap(({ segments }) => segments)) {
      const id = segmentIdText(segment.id);
      live.set(id, { segment, count: (live.get(id)?.count ?? 0) + 1 });
    }
    return segmentsTable(live);
  },
  servers: async (source) => {
    const inventories = new Map((await readInventories(source.peers)).map((inventory) => [inventory.host, inventory]));
    return [...membersOf(source), ...source.coordination.members(TASK_ROLE)].map((member) =>
      serverRow(source, member, inventories.get(member.host)),
    );
  },
  server_segments: async ({ peers }) => {
    const [inventories, tasks] = await Promise.all([readInventories(peers), readTasks(peers)]);
    return [
      ...inventories.flatMap(({ host, segmentIds }) => segmentIds.map((id): SystemRow => [host, id])),
      ...tasks.flatMap(({ host, segments }) => segments.map(({ id }): SystemRow => [host, segmentIdText(id)])),
    ];
  },
  tasks: async ({ peers, isTls, readable }) => {
    const overlord = peers.leading('overlord');
    // The newest that the reader may see, rather than what is left of the newest.
    const dataSources = readable === null ? null : readable(await overlord.finishedDataSources());
    return (await overlord.tasks(dataSources)).map((task) => taskRow(task, isTls));
  },
  supervisors: async ({ peers }) =>
    (await peers.leading('overlord').supervisorList()).map(
      ({ id, dataSource, state, detailedState, healthy, type, source, suspended, spec }): SystemRow => [
        ...[id, dataSource, state, detailedState],
        BigInt(healthy),
        ...[type, source],
        BigInt(suspended),
        stringifyJson(spec),
      ],
    ),
  server_properties: async (source) => {
    const rolesOf = new Map<string, string[]>();
    for (const { host, role } of membersOf(source)) rolesOf.set(host, [...(rolesOf.get(host) ?? []), role]);
    const rows = [...rolesOf].map(async ([host, roles]) => {
      const [service = '', list] = [`svc/${roles[0]?.toLowerCase()}`, `[${roles.map(wordOf).join(',')}]`];
      return Object.entries(await readProperties(source.client, host)).map(
        ([name, value]): SystemRow => [host, service, list, name, value],
      );
    });
    return (await Promise.all(rows)).flat();
  },
  queries: async (source) => source.queries(),
};

async function readInventories(peers: SystemTablesSource['peers']): Promise<readonly ServerInventory[]> {
  return Promise.all(peers.all('historical').map(({ service }) => service.inventory()));
}

/** A task that has ended meanwhile has no segments. */
async function readTasks(peers: SystemTablesSource['peers']): Promise<readonly LiveInventory[]> {
  const told = await Promise.all(peers.all(TASK_ROLE).map(({ service }) => service.liveAfter(null).catch(() => null)));
  return told.flatMap((inventory) => inventory ?? []);
}

function membersOf({ coordination, roles }: SystemTablesSource): readonly Member[] {
  return roles.flatMap((role) => coordination.members(role));
}

function serverRow(
  { coordination, isTls }: SystemTablesSource,
  { role, host, details }: Member,
  inventory: ServerInventory | undefined,
): SystemRow {
  const { startedMs, version, processors, memoryBytes } = details as Partial<MemberDetails>;
  const leads = role === 'coordinator' || role === 'overlord' ? BigInt(coordination.leader(role)?.host === host) : null;
  const data = role === 'historical' ? inventory : undefined;
  return [
    ...address(host, isTls),
    wordOf(role),
    data?.tier ?? null,
    BigInt(data?.currentSizeBytes ?? 0),
    BigInt(data?.maxSizeBytes ?? 0),
    leads,
    startedMs === undefined ? null : formatInstant(startedMs),
    version ?? null,
    null,
    null,
    processors === undefined ? null : BigInt(processors),
    memoryBytes === undefined ? null : BigInt(memoryBytes),
    BigInt(data?.currentSizeBytes ?? 0),
    BigInt(data?.maxSizeBytes ?? 0),
  ];
}

/** `host:port`, host, its port without TLS and that with it, of which the one that is not announced is -1. */
function address(hostAndPort: string, isTls = false): readonly SystemCell[] {
  const at = hostAndPort.lastIndexOf(':');
  const port = BigInt(hostAndPort.slice(at + 1));
  return [hostAndPort, hostAndPort.slice(0, at), ...(isTls ? [-1n, port] : [port, -1n])];
}

/** The spelling that clients compare with: `middle_manager`, and `peon` for the process of a task. */
function wordOf(role: string): string {
  if (role === TASK_ROLE) return 'peon';
  return role.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function taskRow(task: TaskRecord, isTls?: boolean): SystemRow {
  const finished = task.state === 'SUCCESS' || task.state === 'FAILED';
  const runs = task.state === 'RUNNING' && task.workerHost !== null;
  return [
    task.id,
    task.groupId,
    task.type,
    task.dataSource,
    formatInstant(task.createdMs),
    formatInstant(task.queuedMs),
    finished ? task.state : 'RUNNING',
    finished ? 'NONE' : task.state,
    task.finishedMs === null ? null : BigInt(task.finishedMs - (task.startedMs ?? task.finishedMs)),
    ...(runs ? address(task.workerHost ?? '', isTls) : [null, null, -1n, -1n]),
    task.error,
  ];
}

/** Longer than any server that is alive takes. */
const PROPERTIES_TIMEOUT_MS = 5000;

async function readProperties(client: SystemTablesSource['client'], host: string): Promise<Readonly<Record<string, string>>> {
  const signal = AbortSignal.timeout(PROPERTIES_TIMEOUT_MS);
  const request = { host, method: 'GET', path: '/status/properties', headers: {}, asProcess: true, body: null, signal };
  const { status, body } = await client.send(request);
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  if (status !== 200) throw new ServiceError('unavailable', `${host} answered ${status} when it was asked for its properties`);
  return parseJsonWithDoubles(Buffer.concat(chunks).toString('utf8')) as Record<string, string>;
}
