// Reads filters by a set sent with the query: Bloom filters and areas.

import type { ObjectReader } from '../../../base/json-reader.js';
import type { SpatialBound } from '../../../expression/spatial-bound.js';
import { call, type Expression, text } from '../../../model/expression.js';
import type { Filter } from '../../../model/filter.js';
import { fromBase64 } from '../../../sketch/base64.js';
import { Bloom } from '../../../sketch/bloom.js';
import type { ColumnTypes } from '../column/column-types.js';
import { readByType, refuse } from '../reader.js';

/** Filters by a set that comes with the query. Each distinct value of a dictionary is looked up once. */

/** @param column  what `dimension` and `extractionFn` stand for */
export function readBloomFilter(reader: ObjectReader, column: string, types: ColumnTypes): Filter {
  const filter = reader.string('bloomKFilter');
  // Validate now, so that the error names the field.
  try {
    Bloom.decode(fromBase64(filter));
  } catch {
    refuse(reader.at('bloomKFilter'), 'a Bloom filter (BloomKFilter) as base64', filter);
  }
  return test(types(column) === 'FLOAT' ? ':bloom_filter_test_float' : 'bloom_filter_test', column, filter);
}

export function readSpatialFilter(reader: ObjectReader): Filter {
  reader.raw('filterTuning'); // says how, not what
  const column = reader.string('dimension');
  const bound = readByType<SpatialBound>(reader.object('bound'), BOUNDS, [], 'bound');
  return test(':spatial_test', column, JSON.stringify(bound));
}

const BOUNDS: Readonly<Record<string, (reader: ObjectReader) => SpatialBound>> = {
  rectangular: (reader) => {
    const lower = readNumbers(reader, 'minCoords', 1);
    const upper = readNumbers(reader, 'maxCoords', 1);
    if (lower.length !== upper.length) refuse(reader.at('maxCoords'), `${lower.length} numbers, as minCoords has`, upper);
    return { type: 'rectangular', lower, upper };
  },
  radius: (reader) => {
    const center = readNumbers(reader, 'coords', 2);
    const radius = reader.raw('radius');
    if (typeof radius !== 'number' || !(radius >= 0)) return refuse(reader.at('radius'), 'a number of at least 0', radius);
    const unit = reader.choice('radiusUnit', ['euclidean', 'meters', 'miles', 'kilometers'], 'euclidean');
    return { type: 'radius', center, radius: radius * METERS[unit], meters: unit !== 'euclidean' };
  },
  polygon: (reader) => {
    const x = readNumbers(reader, 'abscissa', 3);
    const y = readNumbers(reader, 'ordinate', 3);
    if (x.length !== y.length) refuse(reader.at('ordinate'), `${x.length} numbers, as abscissa has`, y);
    return { type: 'polygon', x, y };
  },
};

const METERS = { euclidean: 1, meters: 1, miles: 1609.344, kilometers: 1000 } as const;

function readNumbers(reader: ObjectReader, key: string, least: number): number[] {
  const numbers = reader.list(key, (value, path) => (typeof value === 'number' ? value : refuse(path, 'a number', value)));
  return numbers.length < least ? refuse(reader.at(key), `at least ${least} numbers`, reader.raw(key)) : numbers;
}

function test(name: string, column: string, constant: string): Filter {
  const operands: Expression[] = [{ kind: 'column', name: column }, text(constant)];
  return { kind: 'expression', expression: call(name, ...operands) };
}
