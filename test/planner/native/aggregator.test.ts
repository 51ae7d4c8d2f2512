import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../../src/base/errors.js';
import { planNative } from '../../../src/planner/native/plan-native.js';
import { printPlan } from '../../../src/planner/print-plan.js';

const tables = { table: () => undefined };

/** The lines of the plan that tell of aggregators and what is computed of them. */
function linesOf(aggregations: readonly unknown[], postAggregations: readonly unknown[] = []): string[] {
  const body = {
    queryType: 'timeseries',
    dataSource: 'wiki',
    intervals: '2015-09-12/P1D',
    granularity: 'all',
    aggregations,
    postAggregations,
  };
  const { plans } = planNative(body, false, tables);
  return plans.flatMap((plan) => printPlan(plan).split('\n')).filter((line) => /^(aggregate|then compute) /.test(line));
}

function refusal(aggregations: readonly unknown[], postAggregations: readonly unknown[] = []): string {
  try {
    linesOf(aggregations, postAggregations);
  } catch (error) {
    if (error instanceof ServiceError) return `${error.code} ${error.message}`;
    throw error;
  }
  throw new Error('nothing was refused');
}

const aggregators = suite('native aggregators');

const accepted: readonly { readonly aggregator: object; readonly line: string }[] = [
  {
    aggregator: { type: 'longFirst', name: 'x', fieldName: 'added' },
    line: 'x = first {"valueType":"LONG","maxStringBytes":1024} of added, __time',
  },
  {
    aggregator: { type: 'stringLast', name: 'x', fieldName: 'page', timeColumn: 'seen', maxStringBytes: 8 },
    line: 'x = last {"valueType":"STRING","maxStringBytes":8} of page, seen',
  },
  { aggregator: { type: 'floatAny', name: 'x', fieldName: 'delta' }, line: 'x = min delta as FLOAT' },
  {
    aggregator: { type: 'stringAny', name: 'x', fieldName: 'page' },
    line: 'x = first {"valueType":"STRING","maxStringBytes":1024} of page',
  },
  { aggregator: { type: 'doubleMean', name: 'x', fieldName: 'added' }, line: 'x = moments {"result":"mean"} of added' },
  { aggregator: { type: 'variance', name: 'x', fieldName: 'added' }, line: 'x = moments {"result":"sampleVariance"} of added' },
  {
    aggregator: { type: 'variance', name: 'x', fieldName: 'added', estimator: 'population', inputType: 'long' },
    line: 'x = moments {"result":"populationVariance"} of added',
  },
  {
    aggregator: { type: 'hyperUnique', name: 'x', fieldName: 'user', round: true },
    line: 'x = cardinality {"byRow":false,"round":true} of user',
  },
  {
    aggregator: { type: 'cardinality', name: 'x', fields: ['a', { type: 'default', dimension: 'b' }], byRow: true },
    line: 'x = cardinality {"byRow":true,"round":false} of a, b',
  },
  {
    aggregator: { type: 'HLLSketchBuild', name: 'x', fieldName: 'user', tgtHllType: 'HLL_8', shouldFinalize: false },
    line: 'x = hll {"lgK":12,"target":8,"round":false} of user, state',
  },
  { aggregator: { type: 'thetaSketch', name: 'x', fieldName: 'user' }, line: 'x = theta {"size":16384} of user' },
  { aggregator: { type: 'quantilesDoublesSketch', name: 'x', fieldName: 'added', k: 256 }, line: 'x = quantiles {"k":256} of added' },
  { aggregator: { type: 'KllFloatsSketch', name: 'x', fieldName: 'added' }, line: 'x = kll {"k":200,"valueType":"FLOAT"} of added' },
];
for (const { aggregator, line } of accepted) aggregators(line, () => assert.equal(linesOf([aggregator]), [`aggregate ${line}`]));

aggregators('what a post-aggregator reads of a state is put out beside the value', () => {
  assert.equal(
    linesOf(
      [{ type: 'variance', name: 'v', fieldName: 'added' }],
      [{ type: 'stddev', name: 's', fieldName: 'v', estimator: 'population' }],
    ),
    ['aggregate v = moments {"result":"sampleVariance"} of added, both', `then compute s DOUBLE = :stddev("$state of v", 'population')`],
  );
});

const refused: readonly { readonly name: string; readonly found: () => string; readonly message: string }[] = [
  {
    name: 'an estimator nobody knows',
    found: () => refusal([{ type: 'variance', name: 'v', fieldName: 'a', estimator: 'pop' }]),
    message: 'query_invalid aggregations[0].estimator: expected one of population, sample, found "pop"',
  },
  {
    name: 'stored variances',
    found: () => refusal([{ type: 'variance', name: 'v', fieldName: 'a', inputType: 'variance' }]),
    message: 'unsupported aggregations[0].inputType: stored variances are not supported',
  },
  {
    name: 'the standard deviation of a count',
    found: () => refusal([{ type: 'count', name: 'rows' }], [{ type: 'stddev', name: 's', fieldName: 'rows' }]),
    message: 'query_invalid postAggregations[0].fieldName: expected the name of an aggregator of kind moments, found "rows"',
  },
  {
    name: 'a state as a number',
    found: () => {
      const field = { type: 'fieldAccess', name: 's', fieldName: 'v' };
      return refusal(
        [{ type: 'variance', name: 'v', fieldName: 'a' }],
        [{ type: 'arithmetic', name: 'x', fn: '+', fields: [field, field] }],
      );
    },
    message: 'query_invalid postAggregations[0].fields[0]: expected a number, found a state; a finalizingFieldAccess reads its value',
  },
  {
    name: 'a theta sketch of no power of 2',
    found: () => refusal([{ type: 'thetaSketch', name: 't', fieldName: 'a', size: 1000 }]),
    message: 'query_invalid aggregations[0].size: expected a power of 2 from 16 to 67108864, found 1000',
  },
  {
    name: 'stored sketches',
    found: () => refusal([{ type: 'thetaSketch', name: 't', fieldName: 'a', isInputThetaSketch: true }]),
    message: 'unsupported aggregations[0].isInputThetaSketch: stored theta sketches are not supported',
  },
  {
    name: 'to merge stored sketches',
    found: () => refusal([{ type: 'HLLSketchMerge', name: 't', fieldName: 'a' }]),
    message: 'unsupported aggregations[0].type: aggregator "HLLSketchMerge" is not supported',
  },
  {
    name: 'a constant that is no sketch',
    found: () => refusal([], [{ type: 'thetaSketchConstant', name: 'c', value: 'AAAA' }]),
    message: 'query_invalid postAggregations[0].value: expected a compact theta sketch of seed 9001 as base64, found "AAAA"',
  },
  {
    name: 'the quantile of a set',
    found: () =>
      refusal(
        [{ type: 'thetaSketch', name: 't', fieldName: 'a' }],
        [{ type: 'quantilesDoublesSketchToQuantile', name: 'q', fraction: 0.5, field: { type: 'fieldAccess', fieldName: 't' } }],
      ),
    message: 'query_invalid postAggregations[0].field: expected a state of kind quantiles, found one of kind theta',
  },
];
for (const { name, found, message } of refused) aggregators(`refuses ${name}`, () => assert.is(found(), message));

aggregators.run();
