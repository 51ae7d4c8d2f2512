// Functions that test membership in a set sent with the query.

import { ServiceError } from '../../base/errors.js';
import { parseJsonWithDoubles } from '../../base/json.js';
import { fromBase64 } from '../../sketch/base64.js';
import { Bloom, hash64OfDouble, hash64OfFloat, hash64OfLong, hash64OfText, NULL_HASH } from '../../sketch/bloom.js';
import type { Constant, ExpressionFunction } from '../function.js';
import { contains, parseCoordinates, type SpatialBound } from '../spatial-bound.js';
import { fromTruth, isArrayValue, toDouble, toText, type Value } from '../value.js';

/** Tests whether a value is in a set that comes with the query. Names with a colon are for filters: no expression has them. */
export const MEMBERSHIP_FUNCTIONS: readonly ExpressionFunction[] = [
  bloomFilterTest('bloom_filter_test', hash64OfDouble),
  /** The same over a FLOAT column, whose values hash as FLOATs. */
  bloomFilterTest(':bloom_filter_test_float', hash64OfFloat),
  {
    /** (coordinates, an area as JSON): unknown of null, false of a text that is no coordinates */
    name: ':spatial_test',
    minArguments: 2,
    maxArguments: 2,
    type: () => 'LONG',
    bind(constants) {
      const bound = parseJsonWithDoubles(String(constants[1]?.value)) as SpatialBound;
      return ([value = null]) => {
        const text = toText(value);
        if (text === null) return null;
        const point = parseCoordinates(text);
        return fromTruth(point !== undefined && contains(bound, point));
      };
    },
  },
  {
    /**
     * (the dimension itself [, its parts ...]) → coordinates as they are stored. The dimension wins where it has a value:
     * a list of coordinates or a text of them. Null where one of the parts is missing or no number.
     */
    name: ':spatial_coordinates',
    minArguments: 1,
    maxArguments: Infinity,
    type: () => 'STRING',
    bind: () => coordinatesOf,
  },
];

function coordinatesOf([given = null, ...parts]: readonly Value[]): string | null {
  // A string comes as a list of one where other rows have lists.
  const own = isArrayValue(given) && given.length < 2 ? (given[0] ?? null) : given;
  const text = own === null || own === '' ? joined(parts) : isArrayValue(own) ? joined(own) : toText(own);
  return text === null || parseCoordinates(text) === undefined ? null : text;
}

function joined(parts: readonly Value[]): string | null {
  const texts = parts.map(toText);
  return texts.length === 0 || texts.some((text) => text === null || toDouble(text) === null) ? null : texts.join(',');
}

/** (value, a Bloom filter as base64): never null, as null is in a filter or is not. */
function bloomFilterTest(name: string, hashDouble: typeof hash64OfDouble): ExpressionFunction {
  return {
    name,
    minArguments: 2,
    maxArguments: 2,
    type: () => 'LONG',
    bind(constants) {
      const filter = readFilter(constants[1]);
      return ([value = null]) => fromTruth(filter.has(hashOf(value, hashDouble)));
    },
  };
}

function readFilter(constant: Constant | undefined): Bloom {
  if (typeof constant?.value !== 'string')
    throw new ServiceError('query_invalid', 'bloom_filter_test(): the second argument is a constant, a Bloom filter as base64');
  return Bloom.decode(fromBase64(constant.value));
}

function hashOf(value: Value, hashDouble: typeof hash64OfDouble) {
  if (typeof value === 'bigint') return hash64OfLong(value);
  if (typeof value === 'number') return hashDouble(value);
  const text = toText(value);
  return text === null ? NULL_HASH : hash64OfText(text);
}
