import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../../../src/base/errors.js';
import type { ColumnType } from '../../../../src/model/schema.js';
import { planNative } from '../../../../src/planner/native/plan-native.js';
import { printPlan } from '../../../../src/planner/print-plan.js';

type Columns = Readonly<Record<string, ColumnType | undefined>>;

/** The lines of the plan that tell of aggregators and what is computed of them. */
function linesOf(aggregations: readonly unknown[], postAggregations: readonly unknown[] = [], types: Columns = {}): string[] {
  const body = {
    queryType: 'timeseries',
    dataSource: 'wiki',
    intervals: '2015-09-12/P1D',
    granularity: 'all',
    aggregations,
    postAggregations,
  };
  const columns = Object.entries(types).flatMap(([name, type]) =>
    type === undefined ? [] : [{ name, type, multiValue: false, hasNulls: true }],
  );
  const { plans } = planNative(body, false, { table: () => ({ columns, interval: { start: 0, end: Date.UTC(2100, 0, 1) } }) });
  return plans.flatMap((plan) => printPlan(plan).split('\n')).filter((line) => /^(aggregate|then compute) /.test(line));
}

function refusal(aggregations: readonly unknown[], postAggregations: readonly unknown[] = [], types: Columns = {}): string {
  try {
    linesOf(aggregations, postAggregations, types);
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
    line: 'x = hll {"lgK":12,"target":8,"round":false,"stringEncoding":"utf16le"} of user, state',
  },
  { aggregator: { type: 'thetaSketch', name: 'x', fieldName: 'user' }, line: 'x = theta {"size":16384} of user' },
  { aggregator: { type: 'quantilesDoublesSketch', name: 'x', fieldName: 'added', k: 256 }, line: 'x = quantiles {"k":256} of added' },
  { aggregator: { type: 'KllFloatsSketch', name: 'x', fieldName: 'added' }, line: 'x = kll {"k":200,"valueType":"FLOAT"} of added' },
];
for (const { aggregator, line } of accepted) aggregators(line, () => assert.equal(linesOf([aggregator]), [`aggregate ${line}`]));

aggregators('a state that a post-aggregator reads is returned in addition to its value', () => {
  assert.equal(
    linesOf(
      [{ type: 'variance', name: 'v', fieldName: 'added' }],
      [{ type: 'stddev', name: 's', fieldName: 'v', estimator: 'population' }],
    ),
    ['aggregate v = moments {"result":"sampleVariance"} of added, both', `then compute s DOUBLE = :stddev("$state of v", 'population')`],
  );
});

const stored: readonly { readonly aggregator: object; readonly type: ColumnType | undefined; readonly line: string }[] = [
  {
    aggregator: { type: 'HLLSketchMerge', fieldName: 'c' },
    type: 'COMPLEX<HLLSketch>',
    line: 'hll {"lgK":12,"target":4,"round":false,"stringEncoding":"utf16le"} of states c',
  },
  {
    aggregator: { type: 'HLLSketchMerge', fieldName: 'c' },
    type: 'STRING',
    line: 'hll {"lgK":12,"target":4,"round":false,"stringEncoding":"utf16le"} of states c',
  },
  {
    aggregator: { type: 'HLLSketchBuild', fieldName: 'c' },
    type: 'COMPLEX<HLLSketch>',
    line: 'hll {"lgK":12,"target":4,"round":false,"stringEncoding":"utf16le"} of states c',
  },
  { aggregator: { type: 'thetaSketch', fieldName: 'c' }, type: 'COMPLEX<thetaSketch>', line: 'theta {"size":16384} of states c' },
  {
    aggregator: { type: 'thetaSketch', fieldName: 'c', isInputThetaSketch: true },
    type: 'STRING',
    line: 'theta {"size":16384} of states c',
  },
  {
    aggregator: { type: 'quantilesDoublesSketch', fieldName: 'c' },
    type: 'COMPLEX<quantilesDoublesSketch>',
    line: 'quantiles {"k":128} of states c',
  },
  {
    aggregator: { type: 'KllFloatsSketch', fieldName: 'c' },
    type: 'COMPLEX<KllFloatsSketch>',
    line: 'kll {"k":200,"valueType":"FLOAT"} of states c',
  },
  {
    aggregator: { type: 'hyperUnique', fieldName: 'c' },
    type: 'COMPLEX<hyperUnique>',
    line: 'cardinality {"byRow":false,"round":false} of states c',
  },
  {
    aggregator: { type: 'cardinality', fields: ['c'] },
    type: 'COMPLEX<hyperUnique>',
    line: 'cardinality {"byRow":false,"round":false} of states c',
  },
  { aggregator: { type: 'varianceFold', fieldName: 'c' }, type: undefined, line: 'moments {"result":"sampleVariance"} of states c' },
  {
    aggregator: { type: 'variance', fieldName: 'c', inputType: 'variance' },
    type: 'COMPLEX<variance>',
    line: 'moments {"result":"sampleVariance"} of states c',
  },
  {
    aggregator: { type: 'stringLastFold', fieldName: 'c' },
    type: 'COMPLEX<serializablePairLongString>',
    line: 'last {"valueType":"STRING","maxStringBytes":1024} of states c, __time',
  },
  {
    aggregator: { type: 'longFirst', fieldName: 'c' },
    type: 'COMPLEX<serializablePairLongLong>',
    line: 'first {"valueType":"LONG","maxStringBytes":1024} of states c, __time',
  },
];
for (const { aggregator, type, line } of stored)
  aggregators(`${JSON.stringify(aggregator)} over ${type}`, () =>
    assert.equal(linesOf([{ name: 'x', ...aggregator }], [], { c: type }), [`aggregate x = ${line}`]),
  );

const refused: readonly { readonly name: string; readonly found: () => string; readonly message: string }[] = [
  {
    name: 'an estimator nobody knows',
    found: () => refusal([{ type: 'variance', name: 'v', fieldName: 'a', estimator: 'pop' }]),
    message: 'query_invalid aggregations[0].estimator: expected one of population, sample, found "pop"',
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
    name: 'sketches of another kind',
    found: () => refusal([{ type: 'thetaSketch', name: 't', fieldName: 'a' }], [], { a: 'COMPLEX<HLLSketch>' }),
    message: 'query_invalid aggregations[0].fieldName: expected a column of values or of COMPLEX<thetaSketch>, found COMPLEX<HLLSketch>',
  },
  {
    name: 'to count sketches as if they were values',
    found: () => refusal([{ type: 'cardinality', name: 't', fields: ['a', 'b'] }], [], { a: 'COMPLEX<hyperUnique>' }),
    message: 'query_invalid aggregations[0].fields: expected dimensions, or a single column of COMPLEX<hyperUnique>, found ["a","b"]',
  },
  {
    name: 'to merge numbers',
    found: () => refusal([{ type: 'HLLSketchMerge', name: 't', fieldName: 'a' }], [], { a: 'LONG' }),
    message: 'query_invalid aggregations[0].fieldName: expected a column of COMPLEX<HLLSketch> or of their strings, found LONG',
  },
  {
    name: 'four standard deviations',
    found: () =>
      refusal(
        [{ type: 'HLLSketchBuild', name: 'h', fieldName: 'a' }],
        [{ type: 'HLLSketchEstimateWithBounds', name: 'b', numStdDev: 4, field: { type: 'fieldAccess', fieldName: 'h' } }],
      ),
    message: 'query_invalid postAggregations[0].numStdDev: expected 1, 2 or 3, found 4',
  },
  {
    name: 'points that do not ascend',
    found: () =>
      refusal(
        [{ type: 'KllDoublesSketch', name: 'k', fieldName: 'a' }],
        [{ type: 'KllDoublesSketchToCDF', name: 'c', splitPoints: [1, 1], field: { type: 'fieldAccess', fieldName: 'k' } }],
      ),
    message: 'query_invalid postAggregations[0].splitPoints: expected ascending numbers, each once, found [1,1]',
  },
  {
    name: 'points and a number of bins',
    found: () =>
      refusal(
        [{ type: 'KllDoublesSketch', name: 'k', fieldName: 'a' }],
        [{ type: 'KllDoublesSketchToHistogram', name: 'c', splitPoints: [1], numBins: 2, field: { type: 'fieldAccess', fieldName: 'k' } }],
      ),
    message: 'query_invalid postAggregations[0].numBins: expected either splitPoints or numBins, found "both"',
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
