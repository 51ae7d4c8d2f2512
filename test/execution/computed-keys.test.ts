import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../src/base/instant.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { parseExpression } from '../../src/expression/parse.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import type { GroupPlan } from '../../src/model/plan.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import { frameOf, type Plain, rowsOf } from '../cluster/plain-rows.js';

/*
 * Strings that are computed as keys and counted: tens of thousands, which several segments have. The first table of strings moves to the
 * thread whole, the memory of those of later segments and other threads is taken over, or the new ones are copied.
 */

const memory = KernelMemory.create({ maximumBytes: 1 << 30 });
const spillDirectory = mkdtempSync(path.join(tmpdir(), 'dolmen-computed-keys-'));
const SEGMENT_ROWS = 50_000;
/** Segment s has the numbers from s * SHIFT on; the last has few that no other has. */
const STARTS = [0, 30_000, 31_000];
const START = Date.UTC(2025, 0, 1);
const DAY = 86_400_000;

interface Row {
  readonly __time: bigint;
  readonly a: string;
  readonly b: string;
  readonly n: bigint;
}
const SEGMENTS = STARTS.map((first) =>
  Array.from({ length: SEGMENT_ROWS }, (_, row): Row => {
    const number = first + row;
    return { __time: BigInt(START + row * 5000), a: `page ${number} of a long title, ä`, b: `kind ${number % 3}`, n: BigInt(number % 7) };
  }),
);
const ROWS = SEGMENTS.flat();

const keys = suite('computed strings as keys');
const placed = SEGMENTS.map((rows) =>
  uploadFrame(frameOf(rows as unknown as Plain[], { __time: 'LONG', a: 'STRING', b: 'STRING', n: 'LONG' }), memory),
);
const views = placed.map(({ view }, part) => ({ ...view, id: `segment_${part}` }));
const MORE = { memory, kernels: 'simd', morselRows: 16_384 } as const;
const engines = [
  createEngine({ ...MORE, threads: 0 }),
  createEngine({ ...MORE, threads: 2, rowsRunInline: 0 }),
  createEngine({ ...MORE, threads: 0, groupBytesMax: 1 << 21, spillDirectory }),
  createEngine({ ...MORE, threads: 2, rowsRunInline: 0, groupBytesMax: 1 << 23, spillDirectory }),
];
keys.after(async () => {
  for (const { release } of placed) release();
  assert.is(memory.allocatedBytes, 0, 'memory is given back');
  for (const engine of engines) await engine.close();
  assert.equal(existsSync(spillDirectory) ? readdirSync(spillDirectory) : [], [], 'files are removed');
  rmSync(spillDirectory, { recursive: true, force: true });
});

const key = (name: string): GroupPlan['keys'][number] => ({ kind: 'column', name, column: name, type: null });
const distinct = { kind: 'distinct', name: 'distinct', column: 'v', filter: null } as const;
const FORMS: readonly [name: string, keys: readonly string[], countsDistinct: boolean][] = [
  ['alone', ['v'], false],
  ['and counted as well', ['v'], true],
  ['beside another key', ['v', 'b'], false],
  ['counted by another key', ['b'], true],
  ['counted', [], true],
];
const TEXTS: readonly [name: string, expression: string, textOf: (row: Row) => string | null][] = [
  ['of two columns', `concat("a", ':', "b")`, ({ a, b }) => `${a}:${b}`],
  ['of some rows', `if("n" == 5, null, upper("a"))`, ({ a, n }) => (n === 5n ? null : a.toUpperCase())],
  ['of few values', `concat("b", '-', "n")`, ({ b, n }) => `${b}-${n}`],
  ['with a day', `concat("b", timestamp_format("__time", 'yyyy-MM-dd'))`, ({ b, __time }) => b + dayOf(__time)],
  ['of numbers', `cast("n" * 100000 + "__time" % 1000000, 'STRING')`, ({ n, __time }) => String(n * 100_000n + (__time % 1_000_000n))],
];

function dayOf(time: bigint): string {
  return new Date(Math.floor(Number(time) / DAY) * DAY).toISOString().slice(0, 10);
}

for (const [what, expression, textOf] of TEXTS)
  for (const [form, names, countsDistinct] of FORMS)
    keys(`${what}, ${form}`, async () => {
      const plan: GroupPlan = {
        operator: 'group',
        dataSource: 'rows',
        intervals: [ETERNITY],
        filter: null,
        virtualColumns: [{ name: 'v', expression: parseExpression(expression), outputType: 'STRING' }],
        keys: names.map(key),
        aggregators: [
          { kind: 'count', name: 'rows', filter: null },
          { kind: 'sum', name: 'sum', column: 'n', type: 'LONG', filter: null },
          ...(countsDistinct ? [distinct] : []),
        ],
        emptyGroup: true,
        post: [],
      };
      const groups = new Map<string, { rows: bigint; sum: bigint; texts: Set<string> }>();
      for (const row of ROWS) {
        const text = textOf(row);
        const name = names.map((each) => (each === 'v' ? text : row.b)).join('|');
        const group = groups.get(name) ?? { rows: 0n, sum: 0n, texts: new Set<string>() };
        groups.set(name, group);
        group.rows++;
        group.sum += row.n;
        if (text !== null) group.texts.add(text);
      }
      for (const engine of engines) {
        const options = { deadlineMs: Number.MAX_SAFE_INTEGER, kernels: null, batchRows: null, ending: 'final' } as const;
        const found = await rowsOf(engine.runViews(plan, views, options, new AbortController().signal));
        assert.is(found.length, groups.size);
        for (const row of found) {
          const expected = groups.get(names.map((name) => row[name]).join('|'));
          assert.is(row['rows'], expected?.rows);
          assert.is(row['sum'], expected?.sum);
          if (countsDistinct) assert.is(row['distinct'], BigInt(expected?.texts.size ?? -1));
        }
      }
    });

keys.run();
