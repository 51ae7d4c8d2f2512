import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { SegmentTable } from '../../src/cluster/broker/segment-rows.js';
import { type SystemTablesSource, systemRows } from '../../src/cluster/broker/system-tables.js';
import { ClusterView } from '../../src/cluster/broker/view.js';
import type { Member } from '../../src/cluster/membership/coordination.js';
import type { TaskRecord } from '../../src/metadata/tasks.js';
import { cellAt } from '../../src/model/frame.js';
import type { SegmentDescriptor } from '../../src/model/segment.js';
import { segmentIdText } from '../../src/model/segment-id.js';
import { SYSTEM_TABLE_NAMES, SYSTEM_TABLES, type SystemTableName } from '../../src/planner/sql/catalog/system-schema.js';
import { emptyHistorical, inventoryOf, segmentOf } from './fakes.js';

const [OLD, NEW, GONE] = [segmentOf('wiki', 1, 'v1'), segmentOf('wiki', 1, 'v2'), segmentOf('wiki', 7, 'v1', 3, 4)];
const SUPERVISOR = {
  id: 's',
  dataSource: 'd',
  state: 'RUNNING',
  detailedState: 'CREATING_TASKS',
  healthy: true,
  type: 'kafka',
  source: 't',
  suspended: false,
  spec: { type: 'kafka' },
};
const TASK: TaskRecord = {
  id: 't',
  groupId: 'g',
  type: 'index_parallel',
  dataSource: 'wiki',
  state: 'RUNNING',
  priority: 0,
  createdMs: 0,
  queuedMs: 1000,
  startedMs: 2000,
  finishedMs: null,
  workerHost: '10.0.0.1:8091',
  workerSession: 's',
  attempts: 1,
  error: null,
  parentId: null,
  claimedBy: null,
};

/** A cluster whose Coordinator and Overlord share an address; what its historicals serve, by host. */
function sourceOf(
  served: Readonly<Record<string, readonly string[]>>,
  changes: Partial<SystemTablesSource> = {},
  live: readonly SegmentDescriptor[] = [],
): SystemTablesSource {
  const member = (role: string, host: string): Member => ({
    role,
    host,
    session: 's',
    details: { startedMs: 0, version: '1.0', processors: 2, memoryBytes: 1024 },
  });
  const members = [
    member('coordinator', 'a:1'),
    member('overlord', 'a:1'),
    ...Object.keys(served).map((host) => member('historical', host)),
    ...(live.length === 0 ? [] : [member('task', 'w:7')]),
  ];
  const services = {
    coordinator: {},
    overlord: {
      supervisorList: async () => [SUPERVISOR],
      tasks: async () => [TASK, { ...TASK, id: 'f', state: 'FAILED', finishedMs: 5000, error: 'no' }],
    },
  };
  const historical = (host: string) => ({
    ...emptyHistorical(),
    inventory: async () => inventoryOf(host, served[host] ?? [], { tier: 'hot' }),
  });
  return {
    coordination: {
      members: (role) => members.filter((each) => each.role === role),
      leader: (role) => ({ role, host: 'a:1', epoch: 1, expiresMs: 1e15 }),
    },
    // The test asks for these methods only.
    peers: {
      all: (role: string) =>
        role === 'task'
          ? [{ host: 'w:7', session: 's', service: { liveAfter: async () => ({ host: 'w:7', generation: '1', segments: live }) } }]
          : Object.keys(served).map((host) => ({ host, session: 's', service: historical(host) })),
      leading: (role: 'coordinator' | 'overlord') => services[role],
    } as unknown as SystemTablesSource['peers'],
    client: {
      send: async ({ host, path }) => {
        async function* body(): AsyncGenerator<Uint8Array> {
          yield Buffer.from(JSON.stringify({ 'svc.host': host, path }));
        }
        return { status: 200, headers: {}, body: body() };
      },
    },
    roles: ['coordinator', 'overlord', 'historical'],
    readable: null,
    queries: () => [['q', 'native', 'RUNNING', '{}']],
    async segmentsTable(counts) {
      const view = new ClusterView();
      await view.updateServers(Object.entries(served).map(([host, ids]) => inventoryOf(host, ids, { tier: 'hot' })));
      await view.adopt({ revision: 1, segments: [NEW], copies: [{ hot: 2 }], others: [OLD], overshadowed: [true] });
      return new SegmentTable(view).frame(counts);
    },
    ...changes,
  };
}

const SERVED = { 'h1:83': [segmentIdText(NEW.id), segmentIdText(GONE.id)], 'h2:83': [segmentIdText(NEW.id)] };

async function cellsOf(source: SystemTablesSource, table: SystemTableName): Promise<readonly (readonly unknown[])[]> {
  const rows = await systemRows(source, table);
  if (!('rowCount' in rows)) return rows;
  return Array.from({ length: rows.rowCount }, (_, row) => rows.columns.map((column) => cellAt(column, row)));
}

/** Rows as objects of the named columns. */
async function rowsOf(table: SystemTableName, columns: readonly string[], source = sourceOf(SERVED)): Promise<unknown[][]> {
  const names: readonly string[] = SYSTEM_TABLES[table].map(([name]) => name);
  return (await cellsOf(source, table)).map((row) => columns.map((column) => row[names.indexOf(column)]));
}

const system = suite('rows of sys');

for (const table of SYSTEM_TABLE_NAMES) {
  system(`${table}: a value for each column, of its type`, async () => {
    for (const row of await cellsOf(sourceOf(SERVED), table)) {
      assert.is(row.length, SYSTEM_TABLES[table].length);
      for (const [index, [name, type]] of SYSTEM_TABLES[table].entries()) {
        const value = row[index];
        if (value !== null) assert.is(typeof value, type === 'LONG' ? 'bigint' : 'string', name);
      }
    }
  });
}

system('segments: used ones, hidden ones, and those that are served and no longer used', async () => {
  const columns = [
    'version',
    'partition_num',
    'size',
    'num_replicas',
    'num_rows',
    'is_active',
    'is_published',
    'is_available',
    'is_overshadowed',
    'replication_factor',
  ];
  assert.equal(await rowsOf('segments', columns), [
    ['v2', 0n, 100n, 2n, 10n, 1n, 1n, 1n, 0n, 2n],
    ['v1', 0n, 100n, 0n, 10n, 0n, 1n, 0n, 1n, 0n],
    ['v1', 3n, 0n, 1n, 0n, 0n, 0n, 1n, 0n, -1n],
  ]);
});

system('segments and servers: those of a task, published ones among them until a Historical serves them', async () => {
  const live = segmentOf('wiki', 8, 'v1', 2, 0);
  const columns = ['segment_id', 'num_replicas', 'num_rows', 'is_active', 'is_published', 'is_available', 'is_realtime'];
  const source = (served: Readonly<Record<string, readonly string[]>>) => sourceOf(served, {}, [live, NEW]);
  const ids = [NEW, OLD, live].map(({ id }) => segmentIdText(id));
  assert.equal(await rowsOf('segments', columns, source({})), [
    [ids[0], 1n, 10n, 1n, 1n, 1n, 1n],
    [ids[1], 0n, 10n, 0n, 1n, 0n, 0n],
    [ids[2], 1n, 10n, 1n, 0n, 1n, 1n],
  ]);
  assert.equal((await rowsOf('segments', columns, source(SERVED)))[0], [ids[0], 3n, 10n, 1n, 1n, 1n, 0n]);
  assert.equal(await rowsOf('servers', ['server', 'server_type'], source({})).then((rows) => rows.at(-1)), ['w:7', 'peon']);
  assert.equal(await rowsOf('server_segments', ['server', 'segment_id'], source({})), [
    ['w:7', ids[2]],
    ['w:7', ids[0]],
  ]);
});

system('servers: leaders, and tiers of those that have one', async () => {
  assert.equal(
    await rowsOf('servers', ['server', 'host', 'plaintext_port', 'server_type', 'tier', 'is_leader', 'start_time', 'total_memory']),
    [
      ['a:1', 'a', 1n, 'coordinator', null, 1n, '1970-01-01T00:00:00.000Z', 1024n],
      ['a:1', 'a', 1n, 'overlord', null, 1n, '1970-01-01T00:00:00.000Z', 1024n],
      ['h1:83', 'h1', 83n, 'historical', 'hot', null, '1970-01-01T00:00:00.000Z', 1024n],
      ['h2:83', 'h2', 83n, 'historical', 'hot', null, '1970-01-01T00:00:00.000Z', 1024n],
    ],
  );
});

system('tasks: where one runs, and how long one took', async () => {
  assert.equal(await rowsOf('tasks', ['task_id', 'status', 'runner_status', 'duration', 'location', 'plaintext_port', 'error_msg']), [
    ['t', 'RUNNING', 'RUNNING', null, '10.0.0.1:8091', 8091n, null],
    ['f', 'FAILED', 'NONE', 3000n, null, -1n, 'no'],
  ]);
});

system('supervisors: one row each, with its spec', async () => {
  const rows = await rowsOf('supervisors', [
    'supervisor_id',
    'datasource',
    'detailed_state',
    'healthy',
    'type',
    'source',
    'suspended',
    'spec',
  ]);
  assert.equal(rows, [['s', 'd', 'CREATING_TASKS', 1n, 'kafka', 't', 0n, '{"type":"kafka"}']]);
});

system('server_properties: every server is asked once, with all of its roles', async () => {
  const rows = await rowsOf('server_properties', ['server', 'node_roles', 'value']);
  assert.equal(rows, [
    ['a:1', '[coordinator,overlord]', 'a:1'],
    ['a:1', '[coordinator,overlord]', '/status/properties'],
    ['h1:83', '[historical]', 'h1:83'],
    ['h1:83', '[historical]', '/status/properties'],
    ['h2:83', '[historical]', 'h2:83'],
    ['h2:83', '[historical]', '/status/properties'],
  ]);
});

system('a server that does not answer fails the statement: no table is half of itself', async () => {
  const down = sourceOf(SERVED, {
    client: { send: () => Promise.reject(new ServiceError('unavailable', 'cannot reach h2:83')) },
  });
  await systemRows(down, 'server_properties').then(
    () => assert.unreachable('it must fail'),
    (error: ServiceError) => assert.equal([error.code, error.message], ['unavailable', 'cannot reach h2:83']),
  );
});
system.run();
