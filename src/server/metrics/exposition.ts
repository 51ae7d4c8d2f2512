// The text form of metrics that Prometheus reads.

export type MetricType = 'counter' | 'gauge' | 'histogram';
export type Labels = Readonly<Record<string, string>>;

export interface Metric {
  readonly type: MetricType;
  /** Name without the namespace, in words of the interface joined by slashes: `query/time`. */
  readonly name: string;
  readonly help: string;
}

/** One value of a metric; `suffix` of the parts of a histogram. */
export interface Sample {
  readonly labels: Labels;
  readonly value: number;
  readonly suffix?: '_bucket' | '_sum' | '_count';
}

export const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** `query/segmentAndCache/time` in the namespace `druid` is `druid_query_segmentandcache_time`, as dashboards of the original know it. */
export function metricName(namespace: string, name: string): string {
  const words = name.toLowerCase().replaceAll(/[^a-z0-9_:]+/g, '_');
  return namespace === '' ? words : `${namespace}_${words}`;
}

/** All samples of a metric, with its help and type before them. Counters end in `_total`. */
export function writeMetric(namespace: string, { type, name, help }: Metric, samples: Iterable<Sample>): string {
  const base = metricName(namespace, name);
  const family = type === 'counter' && !base.endsWith('_total') ? `${base}_total` : base;
  const lines = [`# HELP ${family} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}`, `# TYPE ${family} ${type}`];
  for (const { labels, value, suffix = '' } of samples) lines.push(`${family}${suffix}${labelText(labels)} ${valueText(value)}`);
  return lines.length === 2 ? '' : `${lines.join('\n')}\n`;
}

function labelText(labels: Labels): string {
  const written = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return written.length === 0 ? '' : `{${written.join(',')}}`;
}

const escaped = (value: string): string => value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');

function valueText(value: number): string {
  return Number.isFinite(value) ? String(value) : Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}
