import { csvIngestion, writeCsv } from '../data/csv.js';
import { randomSource } from '../data/random.js';

/**
 * The table of TSBS's use case "devops, cpu-only" as its public description has it: hosts with ten tags report ten metrics every ten
 * seconds, each a random walk between 0 and 100. The rows are our own: the same (hosts, hours, digits, seed) gives the same bytes.
 */
export interface CpuTable {
  readonly hosts: number;
  readonly hours: number;
  /** Digits behind the point of a metric. */
  readonly digits: number;
}

export const METRICS = ['user', 'system', 'idle', 'nice', 'iowait', 'irq', 'softirq', 'steal', 'guest', 'guest_nice'].map(
  (name) => `usage_${name}`,
);
const TAGS = ['hostname', 'region', 'datacenter', 'rack', 'os', 'arch', 'team', 'service', 'service_version', 'service_environment'];

export const START = Date.UTC(2016, 0, 1);
const TICK_MS = 10_000;
export const TICKS_AN_HOUR = 3_600_000 / TICK_MS;

const REGIONS = ['ap-northeast-1', 'ap-southeast-1', 'eu-central-1', 'eu-west-1', 'sa-east-1', 'us-east-1', 'us-west-1', 'us-west-2'];
const SYSTEMS = ['Ubuntu15.10', 'Ubuntu16.10', 'Ubuntu16.04LTS'];
const TEAMS = ['CHI', 'LON', 'NYC', 'SF'];
const ENVIRONMENTS = ['production', 'staging', 'test'];

/** @returns the number of rows */
export function writeCpuCsv(file: string, table: CpuTable, seed: number): number {
  return writeCsv(file, ['__time', ...TAGS, ...METRICS], cpuRows(table, seed));
}

function* cpuRows({ hosts, hours, digits }: CpuTable, seed: number): Generator<string> {
  const random = randomSource(seed);
  const below = (count: number): number => Math.floor(random() * count);
  const pick = (list: readonly string[]): string => list[below(list.length)] ?? '';
  const tags = Array.from({ length: hosts }, (_, host) => {
    const region = pick(REGIONS);
    const [rack, service] = [below(100), below(20)];
    return [
      `host_${host}`,
      region,
      `${region}${pick(['a', 'b', 'c'])}`,
      rack,
      pick(SYSTEMS),
      pick(['x64', 'x86']),
      pick(TEAMS),
      service,
      below(2),
      pick(ENVIRONMENTS),
    ].join(',');
  });
  const walks = Float64Array.from({ length: hosts * METRICS.length }, () => random() * 100);
  for (let tick = 0; tick < hours * TICKS_AN_HOUR; tick++) {
    const time = new Date(START + tick * TICK_MS).toISOString();
    for (let host = 0; host < hosts; host++) {
      let line = `${time},${tags[host]}`;
      for (let at = host * METRICS.length; at < (host + 1) * METRICS.length; at++) {
        // Steps of a mean of nought and a variance of one.
        const step = (random() + random() + random() + random() - 2) * Math.sqrt(3);
        const next = Math.min(100, Math.max(0, (walks[at] ?? 0) + step));
        walks[at] = next;
        line += `,${next.toFixed(digits)}`;
      }
      yield line;
    }
  }
}

/** The task that loads `cpu.csv` of a folder into the datasource `cpu`, a segment an hour. */
export function cpuIngestion(folder: string): unknown {
  return csvIngestion({
    folder,
    file: 'cpu.csv',
    dataSource: 'cpu',
    dimensions: [...TAGS, ...METRICS.map((name) => ({ type: 'double', name }))],
    segmentGranularity: 'hour',
    partitionsSpec: { type: 'dynamic' },
  });
}

export function cpuInDuckdb(csv: string): string {
  const types = [
    `'__time': 'TIMESTAMP'`,
    ...TAGS.map((name) => `'${name}': 'VARCHAR'`),
    ...METRICS.map((name) => `'${name}': 'DOUBLE'`),
  ].join(', ');
  return `CREATE TABLE cpu AS SELECT * FROM read_csv('${csv}', header = true, columns = {${types}})`;
}
