import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../../src/base/errors.js';
import type { RunContext } from '../../../src/execution/block/context.js';
import { noCounts } from '../../../src/execution/block/row-counts.js';
import { answered } from '../../../src/execution/threads/stream-items.js';
import { KernelMemory } from '../../../src/kernels/memory.js';
import { instantiateKernels } from '../../../src/kernels/registry.js';
import type { Frame } from '../../../src/model/frame.js';
import type { RowPlan } from '../../../src/model/plan.js';
import type { Upload } from '../../../src/model/upload.js';

/* Rows that are to stay in kernel memory, up to some bytes: where they take more there, they come as frames if these may come, else they are refused. */

const memory = KernelMemory.create({ maximumBytes: 1 << 26 });
const test = suite('rows left in memory or sent');
const [FRAMES, ROWS] = [4, 1000];
/** Bytes of the numbers as frames have them. */
const BYTES = FRAMES * ROWS * 8;

/** @param step  between numbers: wide ones take as many bytes in kernel memory, narrow ones an eighth */
function framesOf(step: bigint): Frame[] {
  return Array.from({ length: FRAMES }, (_, frame) => {
    const values = BigInt64Array.from({ length: ROWS }, (_each, row) => BigInt((frame + row) % 200) * step);
    return { rowCount: ROWS, columns: [{ kind: 'long', name: 'x', values, nulls: null }] };
  });
}

/** The way on which the rows came, and their number. */
function sent(step: bigint, bytesMax: number, orFrames: boolean): readonly [way: 'memory' | 'frames', rows: number] {
  const context = { memory, kernels: instantiateKernels('simd', memory), check: () => undefined } as unknown as RunContext;
  const upload: Upload = {
    id: 'rows',
    columns: [{ name: 'x', from: 'x' }],
    keys: [],
    keysOnly: false,
    marked: false,
    rowsMax: null,
    bytesMax,
    orFrames,
    subject: 'a subquery',
    limit: 'the limit',
  };
  let rows = 0;
  for (const { frame, built } of answered(
    framesOf(step),
    { plan: { upload } as unknown as RowPlan, ending: 'final' },
    context,
    noCounts(),
  )) {
    if (built !== undefined) {
      for (const at of built.owned) memory.free(at);
      return ['memory', built.view.rowCount];
    }
    rows += frame?.rowCount ?? 0;
  }
  return ['frames', rows];
}

const WIDE = 2n ** 40n;
for (const [title, step, bytesMax, way] of [
  ['narrow ones whose frames take more stay in memory', 1n, BYTES * 0.95, 'memory'],
  ['wide ones come as frames', WIDE, BYTES * 0.75, 'frames'],
  ['those whose frames take more than twice as much come as frames', 1n, BYTES * 0.3, 'frames'],
  ['wide ones that fit stay in memory', WIDE, BYTES * 4, 'memory'],
] as const)
  test(title, () => {
    assert.equal(sent(step, bytesMax, true), [way, FRAMES * ROWS]);
    assert.is(memory.allocatedBytes, 0);
  });

test('what may not come as frames is refused by name', () => {
  try {
    sent(WIDE, BYTES * 0.75, false);
    assert.unreachable();
  } catch (error) {
    assert.ok(error instanceof ServiceError && error.code === 'resource_limit', String(error));
    assert.match(error.message, /^a subquery gives more than the 24000 bytes of the limit/);
  }
  assert.is(memory.allocatedBytes, 0);
});

test.run();
