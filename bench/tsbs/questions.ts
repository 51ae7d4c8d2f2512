import { type CpuTable, METRICS, START, TICKS_AN_HOUR } from './table.js';

/** A question with its window and hosts drawn. `orderedBy`: places of the columns that ORDER BY names. */
interface Question {
  readonly sql: string;
  readonly duckdb: string;
  readonly orderedBy: readonly number[];
}

export interface Kind {
  readonly id: string;
  /** Draws a question, as TSBS does for each request. */
  draw(table: CpuTable, below: (count: number) => number): Question;
}

const HOUR_MS = 3_600_000;

const literal = (ms: number): string => `TIMESTAMP '${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')}'`;

type Draw = (table: CpuTable, below: (count: number) => number) => { readonly from: number; readonly to: number; readonly where: string };

/** A condition of a window of so many hours (all there are, if fewer) that begins with any reading, and of so many hosts. */
function window(hours: number, hosts: number | null): Draw {
  return (table, below) => {
    const length = Math.min(hours, table.hours);
    const from = START + below((table.hours - length) * TICKS_AN_HOUR + 1) * (HOUR_MS / TICKS_AN_HOUR);
    const to = from + length * HOUR_MS;
    const time = `__time >= ${literal(from)} AND __time < ${literal(to)}`;
    if (hosts === null) return { from, to, where: time };
    const names = new Set<string>();
    while (names.size < Math.min(hosts, table.hosts)) names.add(`'host_${below(table.hosts)}'`);
    return { from, to, where: `hostname IN (${[...names].join(', ')}) AND ${time}` };
  };
}

interface Bucket {
  readonly sql: string;
  readonly duckdb: string;
}

const FIVE_MINUTES: Bucket = { sql: `TIME_FLOOR(__time, 'PT5M')`, duckdb: `time_bucket(INTERVAL '5 minutes', __time)` };
const MINUTE: Bucket = { sql: `TIME_FLOOR(__time, 'PT1M')`, duckdb: `date_trunc('minute', __time)` };
const HOUR: Bucket = { sql: `TIME_FLOOR(__time, 'PT1H')`, duckdb: `date_trunc('hour', __time)` };

const each = (aggregate: string, count: number): string =>
  METRICS.slice(0, count)
    .map((name) => `${aggregate}(${name})`)
    .join(', ');

/** The largest values of so many metrics for each stretch of time. */
function largest(id: string, metrics: number, hosts: number, hours: number, { sql, duckdb }: Bucket): Kind {
  return {
    id,
    draw(table, below) {
      const { where } = window(hours, hosts)(table, below);
      const text = (bucket: string): string =>
        `SELECT ${bucket} AS "at", ${each('MAX', metrics)} FROM cpu WHERE ${where} GROUP BY 1 ORDER BY 1`;
      return { sql: text(sql), duckdb: text(duckdb), orderedBy: [0] };
    },
  };
}

/** The means of so many metrics for each hour and host. */
function means(id: string, metrics: number): Kind {
  return {
    id,
    draw(table, below) {
      const { where } = window(12, null)(table, below);
      const text = (bucket: string): string =>
        `SELECT ${bucket} AS "at", hostname, ${each('AVG', metrics)} FROM cpu WHERE ${where} GROUP BY 1, 2 ORDER BY 1, 2`;
      return { sql: text(HOUR.sql), duckdb: text(HOUR.duckdb), orderedBy: [0, 1] };
    },
  };
}

/** All readings of a window in which a metric is above a threshold. */
function high(id: string, hosts: number | null): Kind {
  return {
    id,
    draw(table, below) {
      const sql = `SELECT * FROM cpu WHERE usage_user > 90.0 AND ${window(12, hosts)(table, below).where}`;
      return { sql, duckdb: sql, orderedBy: [] };
    },
  };
}

/** The last reading of every host, by aggregates and by a window function. */
const LAST: readonly Kind[] = [
  {
    id: 'lastpoint-latest',
    draw() {
      const text = (value: (name: string) => string): string =>
        `SELECT hostname, MAX(__time), ${METRICS.map(value).join(', ')} FROM cpu GROUP BY 1`;
      return { sql: text((name) => `LATEST(${name})`), duckdb: text((name) => `arg_max(${name}, __time)`), orderedBy: [] };
    },
  },
  {
    id: 'lastpoint-row-number',
    draw() {
      const columns = ['__time', 'hostname', ...METRICS].join(', ');
      const sql = `SELECT ${columns} FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY hostname ORDER BY __time DESC) AS place FROM cpu) WHERE place = 1`;
      return { sql, duckdb: sql, orderedBy: [] };
    },
  },
];

export const KINDS: readonly Kind[] = [
  largest('single-groupby-1-1-1', 1, 1, 1, FIVE_MINUTES),
  largest('single-groupby-1-1-12', 1, 1, 12, FIVE_MINUTES),
  largest('single-groupby-1-8-1', 1, 8, 1, FIVE_MINUTES),
  largest('single-groupby-5-1-1', 5, 1, 1, FIVE_MINUTES),
  largest('single-groupby-5-1-12', 5, 1, 12, FIVE_MINUTES),
  largest('single-groupby-5-8-1', 5, 8, 1, FIVE_MINUTES),
  largest('cpu-max-all-1', METRICS.length, 1, 8, HOUR),
  largest('cpu-max-all-8', METRICS.length, 8, 8, HOUR),
  largest('cpu-max-all-32-24', METRICS.length, 32, 24, HOUR),
  means('double-groupby-1', 1),
  means('double-groupby-5', 5),
  means('double-groupby-all', METRICS.length),
  high('high-cpu-all', null),
  high('high-cpu-1', 1),
  ...LAST,
  {
    id: 'groupby-orderby-limit',
    draw(table, below) {
      const { to } = window(1, null)(table, below);
      const text = ({ sql, duckdb }: Bucket, of: 'sql' | 'duckdb'): string =>
        `SELECT ${of === 'sql' ? sql : duckdb} AS "at", MAX(usage_user) FROM cpu WHERE __time < ${literal(to)} GROUP BY 1 ORDER BY 1 DESC LIMIT 5`;
      return { sql: text(MINUTE, 'sql'), duckdb: text(MINUTE, 'duckdb'), orderedBy: [0] };
    },
  },
];
