#!/usr/bin/env node
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { prepare } from './prepare.mjs';
import { ROOT } from './stamp.mjs';

const HELP = `npm run bench [-- kernels|queries|joins|tpch|sketches|expressions|functions|pageviews|workloads|public|segments|compaction|large-join|loading|tsbs|dashboards|restart|threads|memory|profile|planning|fresh|security|catalogue|scatter|http ...] [flags]    builds what is stale, then measures

  kernels   every kernel of each set: rows and bytes per second, against the machine's read bandwidth
  queries   25 questions over HTTP against DuckDB in the same process; answers must agree
  joins     joins and a nested query in this process against DuckDB; answers must agree
  tpch      the 22 queries of TPC-H and the 13 of SSB over HTTP against DuckDB; answers must agree
  sketches  estimates of distinct values and quantiles over HTTP, against DuckDB's
  expressions  sums of expressions over a segment in memory, against loops of plain TypeScript
  functions every function, cast and aggregate over a column of each type, per row, against DuckDB; answers must agree
  pageviews questions over a table of a hundred columns with long strings, against DuckDB, against its goals; answers must agree
  workloads questions of four trades (advertising, devices, exchanges, logs) over tables of their own, against DuckDB, against goals; answers must agree
  public    questions of the kinds that public benches ask (flights, events, groups and joins, taxi rides, JSON documents, retail), against DuckDB, against goals; answers must agree
  segments  simple questions over many small segments, against DuckDB over the same rows; answers must agree
  tsbs      the 17 questions of TSBS devops over HTTP against DuckDB, against their goals; answers must agree
  dashboards  300 panels of mixed weight from 8 and 64 clients over HTTP, against DuckDB: requests per second, p50, p99; answers must agree
  publish   what making, publishing and loading a small segment takes, the first and the last of many
  compaction  many small segments compacted while questions are asked: segments, bytes, times before and after; answers must stay
  large-join  two files of as many rows joined into a new table by tasks: time, memory of their processes, disk; sums must be right (Linux)
  loading   files of CSV, NDJSON and Parquet, narrow and wide, into segments and by DuckDB into a file, against its goals; sums must agree (Linux)
  lookups   a lookup of many entries: time to load, memory of an entry, memory over polls, and queries with it beside plain ones (Linux)
  streams   from the acknowledgement of a message of Kafka to its row in an answer, and rows per second of processor time beside those of a file, and of Druid's own task (Linux, needs Kafka)
  catalogue a Coordinator and a Broker over very many records of segments, with simulated Historicals, against their goals (Linux)
  scatter   the same questions over 1, 2 and 4 Historicals: work of the Broker, bytes between them, beside the same rows as JSON (Linux)
  restart   from the start of a process to its first answer, against reading its segment files
  threads   two processing threads against one, in turn
  memory    how much the process grows for questions with very many groups (Linux)
  profile   what timing the stages of a query costs
  planning  what planning a dashboard's statements takes, anew and from the plan cache, against its goals
  fresh     statements whose text is new each time against a bare echo, of known and of unknown shapes; answers must be DuckDB's
  loop      the longest that anything runs in one piece on the event loop, for large requests of many kinds, against its goal
  security  what users and rights cost SELECT 1, and wrong passwords: times of known and unknown users, others who work meanwhile, against its goals (Linux)
  http      requests per second against bare servers, against its goals (also: npm run bench:http)
            without a name: kernels and queries

  --json FILE         every figure of all of them, in one file
  --kernels a,b       kernels, queries, sketches: the sets to compare (simd, scalar, reference, or the path of one)
  --only WHAT         kernels, expressions, functions, tsbs, workloads, public: names matching a pattern; loop: a word of the case; security: overhead or logins; loading: parts of names, such as csv-5; queries, pageviews, joins, tpch, sketches, memory, planning: these ids, a,b; dashboards: engines (dolmen,duckdb); scatter: numbers of Historicals (1,2,4)
  --smoke             kernels: small and quick, answers only
  --digits N          tsbs: behind the point of a metric (4)
  --packed            tsbs: answers packed by gzip, as fetch asks for them
  --data FOLDER       tsbs, pageviews, workloads, public: keep their tables there, and find them again; restart, threads, memory: the data folder of a stopped server with the table wiki, instead of new data
  --shapes N          pageviews: as many random statements instead of the questions; --seed S: others (1); --wide: of more kinds
  --segments N        segments (10000), publish (26304): of 20 rows each; catalogue (500000)
  --datasources N     catalogue (5000)
  --starts            catalogue: both starts alone
  --known N           publish: segments known by their metadata alone, to which one is added (100000)
  --rows N            queries, joins, sketches, expressions, functions, pageviews, workloads, public (each table), lookups, scatter, restart, threads, memory, profile: rows of the table (1000000); tsbs (8640000); fresh (10000); dashboards, streams (500000); loading, of 5 columns (500000); large-join, of each file (2000000)
  --entries N         lookups: of the lookup (1000000); --forms WORDS: statements of other kinds, names matching a pattern (. for all)
  --polls N           lookups: that find another file (10000)
  --scale N           tpch: of its tables, 1 is 6,000,000 lines of orders (0.01)
  --threads N         queries, joins, tpch, sketches: threads of DuckDB and of Dolmen (1); pageviews, workloads, public, dashboards (2); loading: numbers of threads (1,2)
  --rounds N          queries, joins, sketches, tsbs (7), expressions, functions, pageviews, workloads, public, http, security (5), segments, scatter (9), threads (4), dashboards (3), tpch, loading, streams (1), planning (200)
  --seconds N         http, security (2), fresh (3), dashboards (8): of load a round; streams: of messages at an even rate (20), 0 for none
  --rate N            streams: messages sent per second (10000)
  --shapes a,b        streams: of rows (narrow): narrow, wide, 'long strings', nested, rollup, csv, kafka
  --druid             streams: Druid's own Kafka task over the same messages, in turn; answers must agree (needs Java 17 and jars of Druid 33.0.0, fetched by Maven with bench/streams/druid/fetch.sh)
  --connections N     http, fresh, security (32); dashboards: numbers of clients (8,64)
  --client NAME       http: sockets, or autocannon (sockets)
`;

/** Flags that each benchmark understands. */
const BENCHMARKS = {
  kernels: ['kernels', 'only', 'smoke'],
  queries: ['kernels', 'only', 'rows', 'threads', 'rounds'],
  joins: ['only', 'rows', 'threads', 'rounds'],
  tpch: ['only', 'scale', 'threads', 'rounds'],
  sketches: ['kernels', 'only', 'rows', 'threads', 'rounds'],
  expressions: ['only', 'rows', 'rounds'],
  functions: ['only', 'rows', 'rounds'],
  pageviews: ['only', 'rows', 'threads', 'rounds', 'data', 'shapes', 'seed', 'wide'],
  workloads: ['only', 'rows', 'threads', 'rounds', 'data'],
  public: ['only', 'rows', 'threads', 'rounds', 'data'],
  segments: ['segments', 'rounds'],
  tsbs: ['only', 'rows', 'rounds', 'digits', 'data', 'packed'],
  dashboards: ['only', 'rows', 'threads', 'rounds', 'seconds', 'connections'],
  publish: ['segments', 'known'],
  compaction: ['segments', 'rows', 'rounds'],
  catalogue: ['segments', 'datasources', 'rounds', 'starts'],
  'large-join': ['rows'],
  loading: ['only', 'rows', 'threads', 'rounds'],
  streams: ['rate', 'seconds', 'rows', 'rounds', 'shapes', 'druid'],
  lookups: ['only', 'rows', 'entries', 'polls', 'threads', 'rounds'],
  scatter: ['only', 'rows', 'rounds'],
  restart: ['rows', 'threads', 'rounds', 'data'],
  threads: ['only', 'rows', 'rounds', 'data'],
  memory: ['only', 'rows', 'data'],
  profile: ['rows', 'rounds'],
  planning: ['rounds', 'only'],
  loop: ['only'],
  fresh: ['rows', 'rounds', 'seconds', 'connections'],
  security: ['only', 'rounds', 'seconds', 'connections'],
  http: ['rounds', 'seconds', 'connections', 'client'],
};
const text = { type: 'string' };
const options = {
  help: { type: 'boolean', short: 'h' },
  smoke: { type: 'boolean' },
  packed: { type: 'boolean' },
  wide: { type: 'boolean' },
  druid: { type: 'boolean' },
  starts: { type: 'boolean' },
  ...Object.fromEntries(
    [
      'json',
      'kernels',
      'only',
      'rows',
      'entries',
      'polls',
      'scale',
      'threads',
      'rounds',
      'seconds',
      'rate',
      'connections',
      'client',
      'data',
      'segments',
      'datasources',
      'known',
      'digits',
      'shapes',
      'seed',
    ].map((name) => [name, text]),
  ),
};

function refuse(message) {
  process.stderr.write(`${message}\n\n${HELP}`);
  process.exit(2);
}

let line;
try {
  line = parseArgs({ options, allowPositionals: true });
} catch (error) {
  refuse(error.message);
}
const { help, json, ...flags } = line.values;
if (help) {
  process.stdout.write(HELP);
  process.exit(0);
}
const chosen = line.positionals.length > 0 ? line.positionals : ['kernels', 'queries'];
const stranger = chosen.find((name) => !Object.hasOwn(BENCHMARKS, name));
if (stranger !== undefined) refuse(`unknown benchmark '${stranger}'`);
const useless = Object.keys(flags).find((flag) => !chosen.some((name) => BENCHMARKS[name].includes(flag)));
if (useless !== undefined) refuse(`--${useless} means nothing to ${chosen.join(' and ')}`);

await prepare();
const folder = mkdtempSync(join(tmpdir(), 'dolmen-bench-'));
const figures = {};
for (const name of chosen) {
  const file = join(folder, `${name}.json`);
  const known = Object.entries(flags).filter(([flag]) => BENCHMARKS[name].includes(flag));
  const words = known.flatMap(([flag, value]) => (value === true ? [`--${flag}`] : [`--${flag}`, value]));
  const child = spawn(process.execPath, [join(ROOT, 'dist', 'bench', name, 'main.js'), ...words, '--json', file], { stdio: 'inherit' });
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) process.exitCode = 1;
  if (existsSync(file)) figures[name] = JSON.parse(readFileSync(file, 'utf8'));
}
rmSync(folder, { recursive: true });
if (json !== undefined) writeFileSync(json, `${JSON.stringify({ node: process.version, ...figures }, null, 2)}\n`);
