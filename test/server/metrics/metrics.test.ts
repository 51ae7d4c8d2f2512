import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Counter, Timer } from '../../../src/server/metrics/counted.js';
import { type Metric, metricName, type Sample, writeMetric } from '../../../src/server/metrics/exposition.js';
import { QueryMetrics } from '../../../src/server/metrics/query-metrics.js';
import { processMetrics } from '../../../src/server/metrics/role-metrics.js';

const metrics = suite('metrics');

for (const [name, expected] of Object.entries({
  'query/time': 'druid_query_time',
  'query/segmentAndCache/time': 'druid_query_segmentandcache_time',
  'segment/loadQueue/count': 'druid_segment_loadqueue_count',
  'jvm/mem-used': 'druid_jvm_mem_used',
}))
  metrics(`${name} is ${expected}`, () => assert.is(metricName('druid', name), expected));

const written: readonly { readonly name: string; readonly metric: Metric; readonly samples: readonly Sample[]; readonly text: string }[] = [
  {
    name: 'a gauge with labels, escaped',
    metric: { type: 'gauge', name: 'segment/count', help: 'Segments.' },
    samples: [
      { labels: { dataSource: 'a"b\\c\nd' }, value: 1.5 },
      { labels: { dataSource: 'ü' }, value: 0 },
    ],
    text: '# HELP svc_segment_count Segments.\n# TYPE svc_segment_count gauge\nsvc_segment_count{dataSource="a\\"b\\\\c\\nd"} 1.5\nsvc_segment_count{dataSource="ü"} 0\n',
  },
  {
    name: 'a counter',
    metric: { type: 'counter', name: 'query/count', help: 'Two\nlines\\.' },
    samples: [{ labels: {}, value: 7 }],
    text: '# HELP svc_query_count_total Two\\nlines\\\\.\n# TYPE svc_query_count_total counter\nsvc_query_count_total 7\n',
  },
  {
    name: 'numbers that are not finite',
    metric: { type: 'gauge', name: 'x', help: '-' },
    samples: [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY].map((value) => ({ labels: {}, value })),
    text: '# HELP svc_x -\n# TYPE svc_x gauge\nsvc_x NaN\nsvc_x +Inf\nsvc_x -Inf\n',
  },
  { name: 'nothing', metric: { type: 'gauge', name: 'x', help: '-' }, samples: [], text: '' },
];
for (const { name, metric, samples, text } of written)
  metrics(`${name} in the form of Prometheus`, () => assert.is(writeMetric('svc', metric, samples), text));

metrics('a timer counts into buckets that hold what is below them', () => {
  const timer = new Timer('type');
  for (const seconds of [0.005, 0.3, 0.3, 7, 1000]) timer.add(seconds, 'sql');
  const samples = timer.samples();
  const bucket = (le: string) => samples.find(({ labels }) => labels['le'] === le)?.value;
  assert.equal(['0.005', '0.25', '0.5', '5', '10', '300', '+Inf'].map(bucket), [1, 1, 3, 3, 4, 4, 5]);
  assert.equal(
    samples.filter(({ suffix }) => suffix !== '_bucket').map(({ suffix, value }) => [suffix, Math.round((value ?? 0) * 1000) / 1000]),
    [
      ['_sum', 1007.605],
      ['_count', 5],
    ],
  );
  assert.ok(samples.every(({ labels }) => labels['type'] === 'sql'));
});

metrics('label values beyond a thousand count together, so that names from outside take no more memory', () => {
  const counter = new Counter('dataSource');
  for (let at = 0; at < 3000; at++) counter.add(`table ${at}`);
  counter.add('table 1');
  const samples = counter.samples();
  assert.is(samples.length, 1001);
  const valueOf = (dataSource: string) => samples.find(({ labels }) => labels['dataSource'] === dataSource)?.value;
  assert.equal([valueOf('table 1'), valueOf('table 999'), valueOf('(other)')], [2, 1, 2000]);
});

metrics('queries count by how they ended', () => {
  const queries = new QueryMetrics();
  const ended = { dataSource: 't', queryType: 'sql', milliseconds: 20, planningMs: 2 };
  for (const errorCode of [undefined, undefined, 'internal', 'cancelled', 'timeout', 'resource_limit'])
    queries.ended({ ...ended, errorCode });
  queries.ended({ ...ended, queryType: 'topN', errorCode: undefined });
  const text = queries.write('druid');
  const expected = {
    druid_query_count_total: 7,
    druid_query_success_count_total: 3,
    druid_query_failed_count_total: 2,
    druid_query_interrupted_count_total: 1,
    druid_query_timeout_count_total: 1,
    'druid_query_time_count{dataSource="t",type="sql"}': 6,
    'druid_query_time_bucket{dataSource="t",type="topN",le="0.025"}': 1,
    'druid_sqlquery_time_count{dataSource="t"}': 6,
  };
  for (const [name, value] of Object.entries(expected)) assert.ok(text.includes(`\n${name} ${value}\n`), `${name} ${value} in ${text}`);
});

metrics('the process tells its memory and its processor time under the usual names', () => {
  const text = processMetrics();
  for (const name of ['process_cpu_seconds_total', 'process_resident_memory_bytes', 'nodejs_heap_size_used_bytes'])
    assert.match(text, new RegExp(`^${name} [0-9.e+]+$`, 'm'));
});

metrics.run();
