// SQL functions over sketches.

import type { SqlType } from '../../../../model/statement.js';
import { nativeType } from '../../parse/sql-type.js';
import { type Bound, call, integer, text } from '../../relation/bound.js';
import type { FunctionCall, SqlFunction } from '../function-call.js';

const HLL = 'COMPLEX<HLLSketch>';
const THETA = 'COMPLEX<thetaSketch>';
const TUPLE = 'COMPLEX<arrayOfDoublesSketch>';

function scalar(name: string, [minArguments, maxArguments]: readonly [number, number], bind: (bound: FunctionCall) => Bound): SqlFunction {
  return { name, minArguments, maxArguments, bind };
}

/** An argument that is a sketch of a kind, stored, aggregated, or made by another function. */
function sketch(bound: FunctionCall, index: number, kind: string): Bound {
  const argument = bound.any(index);
  if (argument.type !== 'NULL' && !argument.type.startsWith(`COMPLEX<${kind}`)) throw bound.mismatch(index, `a ${kind}`);
  return argument;
}

function allFrom(bound: FunctionCall, from: number, kind: string, to = bound.count): readonly Bound[] {
  return bound.arguments.slice(from, to).map((_, index) => sketch(bound, from + index, kind));
}

/** UNION, INTERSECT and NOT of sketches, of which the first argument may be the size. */
function thetaSet(name: string, operation: 'UNION' | 'INTERSECT' | 'NOT'): SqlFunction {
  return scalar(name, [1, Infinity], (bound) => {
    const first = bound.any(0);
    const sized = first.kind === 'literal' && typeof first.value === 'bigint';
    const size = sized ? bound.constantInteger(0, 16384) : 16384;
    return call(THETA, ':theta_set', text(operation), integer(size), ...allFrom(bound, sized ? 1 : 0, 'thetaSketch'));
  });
}

/** UNION, INTERSECT and NOT of sketches of keys with numbers, of which the last argument may be the size. */
function tupleSet(name: string, operation: 'UNION' | 'INTERSECT' | 'NOT'): SqlFunction {
  return scalar(name, [1, Infinity], (bound) => {
    const last = bound.any(bound.count - 1);
    const sized = last.kind === 'literal' && typeof last.value === 'bigint';
    const size = sized ? bound.constantInteger(bound.count - 1, 16384) : 16384;
    if (size < 16 || size > 1 << 26 || !Number.isInteger(Math.log2(size))) throw bound.mismatch(bound.count - 1, 'a power of 2 from 16 on');
    const sketches = allFrom(bound, 0, 'arrayOfDoublesSketch', sized ? bound.count - 1 : bound.count);
    return call(TUPLE, ':tuple_set', text(operation), integer(1), integer(size), ...sketches);
  });
}

/** Functions of a quantiles sketch and numbers. */
function ofQuantiles(name: string, native: string, type: SqlType, numbers: readonly [number, number]): SqlFunction {
  return scalar(name, [1 + numbers[0], 1 + numbers[1]], (bound) => {
    const others = bound.arguments.slice(1).map((_, index) => bound.number(index + 1));
    return call(type, native, sketch(bound, 0, 'quantilesDoublesSketch'), text('classic'), ...others);
  });
}

/** Functions of sketches, whatever row or group they come from. */
/** A decoded complex value; the expression language lists its types. */
function decodedComplex(bound: FunctionCall): Bound {
  const written = bound.constantText(0, '');
  const name = /^complex<(.+)>$/i.exec(written)?.[1] ?? written;
  return call(`COMPLEX<${name}>`, 'decode_base64_complex', text(name), bound.text(1));
}

export const SKETCH_FUNCTIONS: readonly SqlFunction[] = [
  scalar('HLL_SKETCH_ESTIMATE', [1, 2], (bound) => {
    const rounds = bound.count > 1 ? bound.any(1) : integer(0);
    const flag = rounds.kind === 'literal' && rounds.value === 1n;
    return call(
      'DOUBLE',
      'cast',
      call(flag ? 'BIGINT' : 'DOUBLE', ':hll_estimate', sketch(bound, 0, 'HLLSketch'), integer(flag ? 1 : 0)),
      text('DOUBLE'),
    );
  }),
  scalar('HLL_SKETCH_ESTIMATE_WITH_ERROR_BOUNDS', [1, 2], (bound) =>
    call('ARRAY<DOUBLE>', ':hll_bounds', sketch(bound, 0, 'HLLSketch'), integer(bound.constantInteger(1, 1))),
  ),
  scalar('HLL_SKETCH_TO_STRING', [1, 1], (bound) => call('VARCHAR', ':hll_summary', sketch(bound, 0, 'HLLSketch'))),
  scalar('HLL_SKETCH_UNION', [1, Infinity], (bound) => {
    const first = bound.any(0);
    if (first.kind !== 'literal') return call(HLL, ':hll_union', integer(12), integer(4), ...allFrom(bound, 0, 'HLLSketch'));
    const width = /^HLL_([468])$/.exec(bound.constantText(1, 'HLL_4').toUpperCase())?.[1];
    if (width === undefined) throw bound.mismatch(1, "'HLL_4', 'HLL_6' or 'HLL_8'");
    return call(HLL, ':hll_union', integer(bound.constantInteger(0, 12)), integer(Number(width)), ...allFrom(bound, 2, 'HLLSketch'));
  }),
  scalar('THETA_SKETCH_ESTIMATE', [1, 1], (bound) => call('DOUBLE', ':theta_estimate', sketch(bound, 0, 'thetaSketch'))),
  scalar('THETA_SKETCH_ESTIMATE_WITH_ERROR_BOUNDS', [2, 2], (bound) =>
    call('COMPLEX<json>', ':theta_bounds', sketch(bound, 0, 'thetaSketch'), integer(bound.constantInteger(1, 1))),
  ),
  thetaSet('THETA_SKETCH_UNION', 'UNION'),
  thetaSet('THETA_SKETCH_INTERSECT', 'INTERSECT'),
  thetaSet('THETA_SKETCH_NOT', 'NOT'),
  scalar('DS_TUPLE_DOUBLES_METRICS_SUM_ESTIMATE', [1, 1], (bound) =>
    call('ARRAY<DOUBLE>', ':tuple_sums', sketch(bound, 0, 'arrayOfDoublesSketch'), integer(1)),
  ),
  tupleSet('DS_TUPLE_DOUBLES_UNION', 'UNION'),
  tupleSet('DS_TUPLE_DOUBLES_INTERSECT', 'INTERSECT'),
  tupleSet('DS_TUPLE_DOUBLES_NOT', 'NOT'),
  scalar('DECODE_BASE64_COMPLEX', [2, 2], decodedComplex),
  scalar('COMPLEX_DECODE_BASE64', [2, 2], decodedComplex),
  scalar('BLOOM_FILTER_TEST', [2, 2], (bound) => {
    const value = bound.any(0);
    const tested = value.type !== 'NULL' && nativeType(value.type) === 'FLOAT' ? ':bloom_filter_test_float' : 'bloom_filter_test';
    return call('BOOLEAN', tested, value, text(bound.constantText(1, '')));
  }),
  ofQuantiles('DS_GET_QUANTILE', ':quantile', 'DOUBLE', [1, 1]),
  ofQuantiles('DS_GET_QUANTILES', ':quantiles', 'ARRAY<DOUBLE>', [1, Infinity]),
  ofQuantiles('DS_RANK', ':rank', 'DOUBLE', [1, 1]),
  ofQuantiles('DS_CDF', ':cdf', 'ARRAY<DOUBLE>', [1, Infinity]),
  ofQuantiles('DS_HISTOGRAM', ':histogram', 'ARRAY<DOUBLE>', [1, Infinity]),
  scalar('DS_QUANTILE_SUMMARY', [1, 1], (bound) =>
    call('VARCHAR', ':distribution_summary', sketch(bound, 0, 'quantilesDoublesSketch'), text('classic')),
  ),
];
