import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type DolmenProcess, runTask, sqlRows, startDolmen, waitForCount } from '../../bench/server.js';

const PORT_OFFSET = 6_800;
/** Ports of the roles without the offset. */
const PORTS = [8888, 8081, 8082, 8083, 8091];

/** A line of the text form: its comments, and samples with their labels and number. */
const LINE =
  /^(# (HELP [a-zA-Z_:][\w:]* .*|TYPE [a-zA-Z_:][\w:]* (counter|gauge|histogram))|[a-zA-Z_:][\w:]*(\{(\w+="([^"\\\n]|\\["\\n])*",?)+\})? \S+)$/;

interface Context {
  dataDir: string;
  server: DolmenProcess;
}

const metrics = suite<Context>('metrics of a server');
metrics.before(async (context) => {
  context.dataDir = mkdtempSync(path.join(tmpdir(), 'dolmen-metrics-'));
  context.server = await startDolmen({ dataDir: context.dataDir, portOffset: PORT_OFFSET });
});
metrics.after(async ({ server, dataDir }) => {
  await server.stop();
  rmSync(dataDir, { recursive: true });
});

async function read(port = 8888): Promise<ReadonlyMap<string, number>> {
  const answer = await fetch(`http://127.0.0.1:${port + PORT_OFFSET}/metrics`);
  assert.is(answer.status, 200);
  assert.match(answer.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
  const lines = (await answer.text()).trimEnd().split('\n');
  for (const line of lines) assert.match(line, LINE);
  const types = lines.filter((line) => line.startsWith('# TYPE')).map((line) => line.split(' ')[2]);
  assert.is(new Set(types).size, types.length, 'each metric is told once');
  const samples = lines.filter((line) => !line.startsWith('#'));
  return new Map(samples.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]));
}

metrics('every port answers', async () => {
  for (const port of PORTS) assert.ok((await read(port)).has('process_resident_memory_bytes'), String(port));
});

metrics('segments, tasks and queries are counted', async ({ server }) => {
  await runTask(server.url, {
    type: 'index_parallel',
    spec: {
      ioConfig: {
        type: 'index_parallel',
        inputSource: { type: 'inline', data: '2024-01-01T00:00:00Z,a\n2024-01-02T00:00:00Z,b\n2024-01-02T00:00:00Z,out\nnever,c' },
        inputFormat: { type: 'csv', columns: ['time', 'name'] },
      },
      dataSchema: {
        dataSource: 'counted',
        timestampSpec: { column: 'time', format: 'iso' },
        dimensionsSpec: { dimensions: ['name'] },
        transformSpec: { filter: { type: 'not', field: { type: 'selector', dimension: 'name', value: 'out' } } },
        granularitySpec: { type: 'uniform', segmentGranularity: 'day', rollup: false },
      },
      tuningConfig: { type: 'index_parallel' },
    },
  });
  await waitForCount(server.url, 'counted', 2);
  const before = await read();
  for (let at = 0; at < 3; at++) await sqlRows(server.url, 'SELECT name FROM counted');
  await sqlRows(server.url, 'SELECT name FROM counted', { timeout: 'none' }).catch(() => undefined);
  const after = await read();
  const grown = (name: string): number => (after.get(name) ?? 0) - (before.get(name) ?? 0);
  assert.is(grown('druid_query_count_total'), 3, 'a statement that is refused before it runs is not a query');
  assert.is(grown('druid_query_success_count_total'), 3);
  assert.is(grown('druid_query_time_count{dataSource="counted",type="sql"}'), 3);
  assert.is(grown('druid_query_time_bucket{dataSource="counted",type="sql",le="+Inf"}'), 3);
  const expected = {
    'druid_segment_count{dataSource="counted"}': 2,
    'druid_segment_served_count{dataSource="counted",tier="_default_tier",priority="0"}': 2,
    'druid_segment_unavailable_count{dataSource="counted"}': 0,
    'druid_service_heartbeat{type="coordinator",leader="1"}': 1,
    'druid_service_heartbeat{type="overlord",leader="1"}': 1,
    'druid_service_heartbeat{type="historical"}': 1,
    ...Object.fromEntries(
      Object.entries({
        ingest_events_processed: 2,
        ingest_events_processedwitherror: 0,
        ingest_events_thrownaway: 1,
        ingest_events_unparseable: 1,
        ingest_rows_output: 2,
        ingest_segments_count: 2,
        ingest_handoff_count: 0,
        worker_task_success_count: 1,
        worker_task_failed_count: 0,
      }).map(([name, value]) => [`druid_${name}_total{dataSource="counted",taskType="index_parallel"}`, value]),
    ),
    druid_taskslot_used_count: 0,
    druid_segment_scan_pending: 0,
  };
  for (const [name, value] of Object.entries(expected)) assert.is(after.get(name), value, name);
  assert.is(
    after.get('druid_segment_size{dataSource="counted"}'),
    after.get('druid_segment_used{dataSource="counted",tier="_default_tier",priority="0"}'),
  );
});

metrics.run();
