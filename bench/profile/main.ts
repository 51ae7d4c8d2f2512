import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { ETERNITY } from '../../src/base/instant.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import type { Filter } from '../../src/model/filter.js';
import type { GroupPlan } from '../../src/model/plan.js';
import { newProfile } from '../../src/model/profile.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import { median } from '../harness.js';
import { makeTables, sliceRows } from '../joins/tables.js';

/**
 * Cost of the query profile: the number of clock readings that time the stages, times the cost of one reading; and, for
 * comparison, processor time with that clock against processor time with a clock that stands still, which is less precise.
 */
const { values } = parseArgs({
  options: { rows: { type: 'string', default: '2000000' }, rounds: { type: 'string', default: '21' }, json: { type: 'string' } },
});
const SEGMENTS = 31;
/** Length of a sample in processor time. */
const SAMPLE_MS = 100;

const memory = KernelMemory.create({ maximumBytes: 2 ** 31 });
const engine = createEngine({ memory, kernels: 'simd', threads: 0 });
const { fact } = makeTables(Number(values.rows));
const views = Array.from({ length: SEGMENTS }, (_, part) => {
  const [start, end] = [0, 1].map((more) => Math.floor((fact.rowCount * (part + more)) / SEGMENTS));
  return { ...uploadFrame(sliceRows(fact, start ?? 0, end ?? 0), memory).view, id: `fact_${part}` };
});

const few: Filter = {
  kind: 'range',
  column: 'amount',
  type: 'LONG',
  ordering: 'numeric',
  lower: 100n,
  upper: 200n,
  lowerStrict: false,
  upperStrict: false,
};
const plan = (filter: Filter | null, key: string | null): GroupPlan => ({
  operator: 'group',
  dataSource: 'fact',
  intervals: [ETERNITY],
  filter,
  virtualColumns: [],
  keys: key === null ? [] : [{ kind: 'column', name: key, column: key, type: null }],
  aggregators: [{ name: 'sum', kind: 'sum', column: 'amount', type: 'LONG', filter: null }],
  post: [],
  emptyGroup: false,
});
const cases: readonly { readonly name: string; readonly plan: GroupPlan }[] = [
  { name: 'a sum', plan: plan(null, null) },
  { name: 'a sum of a tenth', plan: plan(few, null) },
  { name: '10,000 groups', plan: plan(null, 'code') },
  { name: '10,000 groups of a tenth', plan: plan(few, 'code') },
];

const clock = performance.now.bind(performance);
const readNs = median(Array.from({ length: 21 }, nanosecondsOfARead));
const figures: { name: string; reads: number; cost: number; difference: number }[] = [];
for (const each of cases) {
  const timed: number[] = [];
  const untimed: number[] = [];
  let reads = 0;
  for (let round = -2; round < Number(values.rounds); round++) {
    for (const stands of round % 2 === 0 ? [true, false] : [false, true]) {
      let calls = 0;
      if (stands) performance.now = () => calls++ * 0;
      const { microseconds, runs } = await cpuOf(each.plan);
      performance.now = clock;
      if (stands) reads = calls / runs;
      if (round >= 0) (stands ? untimed : timed).push(microseconds / runs);
    }
  }
  const cost = (reads * readNs) / 1000 / median(untimed);
  const difference = median(timed.map((time, round) => time / (untimed[round] ?? NaN))) - 1;
  figures.push({ name: each.name, reads, cost, difference });
  console.log(
    `${each.name.padEnd(28)} ${(median(timed) / 1000).toFixed(2).padStart(8)} ms   ${Math.round(reads)} readings of ${readNs.toFixed(0)} ns: ${(cost * 100).toFixed(2)} %   difference ${(difference * 100).toFixed(2)} %`,
  );
}
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(figures, null, 2)}\n`);
await engine.close();

function nanosecondsOfARead(): number {
  const reads = 100_000;
  const begin = process.cpuUsage();
  for (let read = 0; read < reads; read++) clock();
  const { user, system } = process.cpuUsage(begin);
  return ((user + system) * 1000) / reads;
}

/** Processor time of as many runs as fill a sample. */
async function cpuOf(asked: GroupPlan): Promise<{ microseconds: number; runs: number }> {
  const begin = process.cpuUsage();
  let runs = 0;
  let microseconds = 0;
  for (; microseconds < SAMPLE_MS * 1000; runs++) {
    const options = { ending: 'final', deadlineMs: Date.now() + 600_000, kernels: null, batchRows: null, profile: newProfile() } as const;
    for await (const frame of engine.runViews(asked, views, options, new AbortController().signal)) {
      if (frame.rowCount === 0) throw new Error('a group has rows');
    }
    const { user, system } = process.cpuUsage(begin);
    microseconds = user + system;
  }
  return { microseconds, runs };
}
