import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { ETERNITY } from '../../src/base/instant.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { parseExpression } from '../../src/expression/parse.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { cellAt, type Frame, type FrameColumn } from '../../src/model/frame.js';
import type { GroupPlan } from '../../src/model/plan.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import { median } from '../harness.js';
import { CASES, type Case, type Columns } from './cases.js';

/*
 * npm run bench -- expressions: sums of expressions over a segment in memory, on one thread, beside loops of plain
 * TypeScript over arrays and typed arrays. Answers are compared first.
 */
const { values: flags } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '5' },
    only: { type: 'string', default: '' },
    json: { type: 'string' },
  },
});
const rows = Number(flags.rows);
const rounds = Number(flags.rounds);
const cases = CASES.filter(({ name }) => new RegExp(flags.only).test(name));

function columnsOf(count: number): Columns {
  let seed = 42;
  const next = (below: number): number => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
  const texts = (name: string, values: number): string[] => {
    const all = Array.from({ length: values }, (_, value) => `${name} ${value}`);
    return Array.from({ length: count }, () => all[next(values)] ?? '');
  };
  const tags = Array.from({ length: 20 }, (_, value) => `tag ${value}`);
  return {
    channel: texts('channel', 10),
    country: texts('country', 250),
    city: texts('city', 5000),
    user: texts('user', 100_000),
    holes: Float64Array.from({ length: count }, () => (next(4) === 0 ? Number.NaN : next(100_000))),
    small: Uint8Array.from({ length: count }, () => next(256)),
    delta: Int32Array.from({ length: count }, () => next(2_000_000) - 1_000_000),
    score: Float64Array.from({ length: count }, () => next(1 << 30) / 1024),
    tags: Array.from({ length: count }, () => Array.from({ length: 1 + next(3) }, () => tags[next(20)] ?? '')),
  };
}

function frameOf(columns: Columns): Frame {
  const long = (name: string, values: Iterable<number>): FrameColumn => {
    const numbers = [...values];
    const isNull = numbers.some(Number.isNaN);
    const nulls = new Uint32Array(Math.ceil(numbers.length / 64) * 2);
    numbers.forEach((value, row) => {
      if (Number.isNaN(value)) nulls[row >>> 5] = (nulls[row >>> 5] ?? 0) | (1 << (row & 31));
    });
    return {
      kind: 'long',
      name,
      values: BigInt64Array.from(numbers, (value) => BigInt(Number.isNaN(value) ? 0 : value)),
      nulls: isNull ? nulls : null,
    };
  };
  const coded = (values: Iterable<string>): { readonly ids: Uint32Array; readonly dictionary: string[] } => {
    const idOf = new Map<string, number>();
    const ids = Uint32Array.from(values, (value) => {
      const id = idOf.get(value) ?? idOf.size;
      idOf.set(value, id);
      return id;
    });
    return { ids, dictionary: [...idOf.keys()] };
  };
  const { tags } = columns;
  const offsets = new Uint32Array(tags.length + 1);
  tags.forEach((list, row) => {
    offsets[row + 1] = (offsets[row] ?? 0) + list.length;
  });
  return {
    rowCount: rows,
    columns: [
      long(
        '__time',
        Array.from({ length: rows }, (_, row) => row),
      ),
      ...(['channel', 'country', 'city', 'user'] as const).map((name): FrameColumn => ({ kind: 'string', name, ...coded(columns[name]) })),
      ...(['holes', 'small', 'delta'] as const).map((name) => long(name, columns[name])),
      { kind: 'double', name: 'score', type: 'DOUBLE', values: columns.score, nulls: null },
      { kind: 'multi', name: 'tags', offsets, ...coded(tags.flat()) },
    ],
  };
}

function planOf({ expression, type }: Case): GroupPlan {
  return {
    operator: 'group',
    dataSource: 'bench',
    intervals: [ETERNITY],
    filter: null,
    virtualColumns: [{ name: 'v', expression: parseExpression(expression), outputType: type }],
    keys: [],
    aggregators: [{ kind: 'sum', name: 'sum', filter: null, column: 'v', type }],
    emptyGroup: true,
    post: [],
  };
}

const memory = KernelMemory.create({ maximumBytes: 1 << 30 });
const engine = createEngine({ memory, kernels: 'simd', threads: 0 });
const columns = columnsOf(rows);
const placed = uploadFrame(frameOf(columns), memory);

async function engineSum(each: Case): Promise<number> {
  const options = { ending: 'final', deadlineMs: Date.now() + 600_000, kernels: null, batchRows: null } as const;
  let sum = Number.NaN;
  for await (const frame of engine.runViews(planOf(each), [placed.view], options, new AbortController().signal)) {
    const [column] = frame.columns;
    if (column !== undefined && frame.rowCount > 0) sum = Number(cellAt(column, 0));
  }
  return sum;
}

function loopSum({ loop }: Case): number {
  let sum = 0;
  for (let row = 0; row < rows; row++) sum += loop(columns, row);
  return sum;
}

/** Processor time since `begin`; other processes on the machine do not count. */
function nanosecondsARow(begin: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(begin);
  return ((user + system) * 1000) / rows;
}

console.log(`${rows} rows, nanoseconds a row\n\n${'expression'.padEnd(64)}  engine    loop   ratio`);
const figures: Record<string, { readonly engine: number; readonly loop: number }> = {};
for (const each of cases) {
  const times: { readonly engine: number; readonly loop: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    const started = process.cpuUsage();
    const found = await engineSum(each);
    const engineTime = nanosecondsARow(started);
    const loopStarted = process.cpuUsage();
    const expected = loopSum(each);
    times.push({ engine: engineTime, loop: nanosecondsARow(loopStarted) });
    if (Math.abs(found - expected) > Math.abs(expected) * 1e-9) throw new Error(`${each.expression}: ${found}, a loop says ${expected}`);
  }
  const [ours, theirs] = [median(times.map((time) => time.engine)), median(times.map((time) => time.loop))];
  figures[each.name] = { engine: ours, loop: theirs };
  const shown = `${each.name}: ${each.expression}`.slice(0, 64).padEnd(64);
  console.log(`${shown}  ${ours.toFixed(1).padStart(6)}  ${theirs.toFixed(1).padStart(6)}  ${(ours / theirs).toFixed(2).padStart(6)}`);
}
placed.release();
if (flags.json !== undefined) writeFileSync(flags.json, JSON.stringify({ rows, nanosecondsARow: figures }, null, 2));
