import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ConstantResults, framesOfAll } from '../../src/cluster/broker/constant-results.js';
import type { QueryOptions } from '../../src/cluster/broker/contract.js';
import type { Frame } from '../../src/model/frame.js';
import { scanPlan } from './fakes.js';

const test = suite('results of constant statements');

const options: QueryOptions = { queryId: 'q', deadlineMs: Infinity, priority: 0, kernels: null, signal: new AbortController().signal };
const caching = { useCache: true, populateCache: true, useResultLevelCache: true, populateResultLevelCache: true };
const frameOf = (rowCount: number): Frame => ({
  rowCount,
  columns: [{ kind: 'long', name: 'one', values: new BigInt64Array(rowCount).fill(1n), nulls: null }],
});

async function rowsOf(frames: AsyncIterable<Frame>): Promise<number> {
  let rows = 0;
  for await (const frame of frames) rows += frame.rowCount;
  return rows;
}

test('a result that was read to its end is found again, by this very plan', async () => {
  const results = new ConstantResults();
  const plan = scanPlan('');
  assert.is(results.find(plan, options), undefined);
  assert.is(await rowsOf(results.keep(plan, options, framesOfAll([frameOf(1), frameOf(2)]))), 3);
  assert.equal(
    results.find(plan, options)?.map((frame) => frame.rowCount),
    [1, 2],
  );
  assert.is(results.find(scanPlan(''), options), undefined);
});

test('one that was left early, or has many rows, is not kept', async () => {
  const results = new ConstantResults();
  const [left, large] = [scanPlan(''), scanPlan('')];
  for await (const frame of results.keep(left, options, framesOfAll([frameOf(1), frameOf(2)]))) if (frame.rowCount === 1) break;
  assert.is(await rowsOf(results.keep(large, options, framesOfAll([frameOf(60), frameOf(60)]))), 120);
  assert.equal([results.find(left, options), results.find(large, options)], [undefined, undefined]);
});

test('the context may ask for it to be run, and with which kernels', async () => {
  const results = new ConstantResults();
  const plan = scanPlan('');
  await rowsOf(results.keep(plan, { ...options, caching: { ...caching, populateResultLevelCache: false } }, framesOfAll([frameOf(1)])));
  await rowsOf(results.keep(plan, { ...options, kernels: 'scalar' }, framesOfAll([frameOf(1)])));
  assert.is(results.find(plan, options), undefined);
  await rowsOf(results.keep(plan, options, framesOfAll([frameOf(1)])));
  assert.is(results.find(plan, { ...options, caching: { ...caching, useResultLevelCache: false } }), undefined);
  assert.is(results.find(plan, { ...options, kernels: 'no such set' }), undefined);
  assert.is(results.find(plan, options)?.length, 1);
});

test.run();
