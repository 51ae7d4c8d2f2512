import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { PlanCache } from '../../src/planner/sql/plan-cache.js';
import { planSql, type SqlRequest } from '../../src/planner/sql/plan-sql.js';
import { PlanWatch } from '../../src/planner/sql/plan-watch.js';
import { median } from '../harness.js';
import { benchSchema } from './schema.js';
import { STATEMENTS } from './statements.js';

/**
 * Benchmark of planning: statements as dashboards send them over a datasource of 200 columns and 1,000 segments, planned
 * without and with the plan cache, in turn. Milliseconds of processor time, which on a quiet machine is time by the clock.
 *   --rounds N (200) --only a,b --json FILE
 */
interface Figure {
  readonly name: string;
  /** The very first time, with what is loaded and compiled for it. */
  readonly firstMs: number;
  readonly plannedMs: Spread;
  /** Time for a plan that depends on the clock, with its syntax tree from the cache. */
  readonly cachedMs: Spread;
  /** Slowest stages of a plan made without the cache. */
  readonly stages: string;
}

interface Spread {
  readonly median: number;
  readonly p99: number;
}

const PLANNED_GOAL_MS = 10;
const CACHED_GOAL_MS = 2;
const CACHE_BYTES = 1 << 25;
const NOW = Date.UTC(2026, 10, 2);

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '200' }, only: { type: 'string' }, json: { type: 'string' } },
});
const schema = benchSchema();
const cache = new PlanCache(CACHE_BYTES);
const chosen = STATEMENTS.filter(({ name }) => values.only === undefined || values.only.split(',').includes(name));
if (chosen.length === 0) throw new Error(`--only: expected some of ${STATEMENTS.map(({ name }) => name).join(', ')}`);
const statements = chosen.map(({ name, sql }) => {
  const request: SqlRequest = { query: sql, context: { sqlQueryId: 'bench' }, parameters: [] };
  const firstMs = timed(() => planSql(request, schema, NOW));
  return { name, request, firstMs, watch: new PlanWatch(), planned: [] as number[], cached: [] as number[] };
});
// Half as many again come first, and do not count.
const rounds = Number(values.rounds);
for (let round = -Math.ceil(rounds / 2); round < rounds; round++) {
  for (const { request, watch, planned, cached } of round % 2 === 0 ? statements : statements.toReversed()) {
    const plannedMs = timed(() => planSql(round < 0 ? request : { ...request, watch }, schema, NOW));
    const cachedMs = timed(() => cache.plan(request, schema, NOW));
    if (round < 0) continue;
    planned.push(plannedMs);
    cached.push(cachedMs);
  }
}
const figures = statements.map(
  ({ name, firstMs, watch, planned, cached }): Figure => ({
    name,
    firstMs,
    plannedMs: spreadOf(planned),
    cachedMs: spreadOf(cached),
    stages: longest(watch),
  }),
);
const worst = (spreads: readonly Spread[]): number => Math.max(...spreads.map((spread) => spread.median));
const goals = [
  { name: 'slowest median, planned anew', found: worst(figures.map(({ plannedMs }) => plannedMs)), wanted: PLANNED_GOAL_MS },
  { name: 'slowest median, from the plan cache', found: worst(figures.map(({ cachedMs }) => cachedMs)), wanted: CACHED_GOAL_MS },
].map((goal) => ({ ...goal, isMet: goal.found < goal.wanted }));
print();
if (goals.some(({ isMet }) => !isMet)) process.exitCode = 1;
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ figures, goals }, null, 2)}\n`);

function timed(work: () => unknown): number {
  const begin = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(begin);
  return (user + system) / 1000;
}

function spreadOf(times: readonly number[]): Spread {
  const sorted = [...times].sort((a, b) => a - b);
  return { median: median(times), p99: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN };
}

/** Stages that took longest by the clock, with their share. */
function longest(watch: PlanWatch): string {
  const sum = watch.stages.reduce((total, { milliseconds }) => total + milliseconds, 0);
  const stages = watch.stages.toSorted((a, b) => b.milliseconds - a.milliseconds).slice(0, 4);
  return stages.map(({ stage, milliseconds }) => `${stage} ${Math.round((milliseconds / sum) * 100)} %`).join(', ');
}

function print(): void {
  const cell = (spread: Spread): string => `${spread.median.toFixed(3).padStart(8)} ${spread.p99.toFixed(3).padStart(8)}`;
  console.log(`${'milliseconds of processor time'.padEnd(40)}   anew: median p99   cached: median p99    first   where the time goes`);
  for (const { name, firstMs, plannedMs, cachedMs, stages } of figures)
    console.log(`${name.padEnd(40)} ${cell(plannedMs)}   ${cell(cachedMs)}   ${firstMs.toFixed(1).padStart(6)}   ${stages}`);
  for (const { name, found, wanted, isMet } of goals)
    console.log(`${isMet ? 'met   ' : 'MISSED'} ${name}: ${found.toFixed(2)} ms, wanted below ${wanted}`);
}
