import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { type FailedRun, watched } from '../../src/cluster/historical/watched-run.js';
import type { RunPlanRequest } from '../../src/cluster/rpc/services.js';
import { scanPlan } from './fakes.js';

const REQUEST = { queryId: 'q7', plan: scanPlan('ds'), segmentIds: ['a', 'b'] } as unknown as RunPlanRequest;

async function* items(error: Error | undefined): AsyncGenerator<number> {
  yield 1;
  if (error !== undefined) throw error;
  yield 2;
}

const FAULT = new TypeError('x is undefined');

const runs = suite('runs of a Historical that are watched');

for (const [name, error, told] of [
  ['one that ends well', undefined, []],
  ['one that fails', new ServiceError('resource_limit', 'too many groups'), [{ code: 'resource_limit', message: 'too many groups' }]],
  ['one that fails by a fault of ours', FAULT, [{ code: 'internal', message: 'x is undefined', error: FAULT }]],
  ['one whose query was given up', new ServiceError('cancelled', 'the query was cancelled'), []],
] as const)
  runs(name, async () => {
    const failed: FailedRun[] = [];
    const got: number[] = [];
    const read = async () => {
      for await (const item of watched({ runFailed: (run) => failed.push(run) }, REQUEST, items(error))) got.push(item);
    };
    const thrown = await read().then(
      () => undefined,
      (found: unknown) => found,
    );
    assert.is(thrown, error);
    assert.equal(got, error === undefined ? [1, 2] : [1]);
    assert.equal(
      failed,
      told.map((facts) => ({ queryId: 'q7', segments: 2, ...facts })),
    );
  });

runs.run();
