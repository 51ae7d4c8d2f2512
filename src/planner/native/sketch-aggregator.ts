import { ServiceError } from '../../base/errors.js';
import type { Aggregator } from '../../model/aggregator.js';
import type { Collector } from '../../model/collector.js';
import type { ColumnType } from '../../model/schema.js';
import type { VirtualColumns } from './columns.js';
import { readDimensionSpec } from './dimension.js';
import type { ObjectReader } from './reader.js';
import { refuse } from './reader.js';

/** Aggregators that keep a sketch of a raw column. Stored sketches are no column type yet, so merging them is refused. */
export const SKETCH_AGGREGATORS: Readonly<Record<string, (reader: ObjectReader, columns: VirtualColumns) => Aggregator>> = {
  cardinality: (reader, columns) => {
    const fields = reader.list('fields', (value, path) => readDimensionSpec(value, path, reader, columns).column);
    if (fields.length === 0) refuse(reader.at('fields'), 'at least one dimension', fields);
    const round = reader.boolean('round', false);
    return sketch(reader, { type: 'cardinality', byRow: reader.boolean('byRow', false), round }, fields, round ? 'LONG' : 'DOUBLE');
  },
  hyperUnique: (reader) => {
    // It says what rows are that are being ingested, and nothing to a query.
    reader.boolean('isInputHyperUnique', false);
    const round = reader.boolean('round', false);
    return sketch(reader, { type: 'cardinality', byRow: false, round }, [reader.string('fieldName')], round ? 'LONG' : 'DOUBLE');
  },
  HLLSketchBuild: (reader) => {
    const round = reader.boolean('round', false);
    const collector = { type: 'hll', lgK: readLgK(reader), target: readHllTarget(reader), round } as const;
    return sketch(reader, collector, [reader.string('fieldName')], round ? 'LONG' : 'DOUBLE');
  },
  thetaSketch: (reader) => {
    if (reader.boolean('isInputThetaSketch', false))
      throw new ServiceError('unsupported', `${reader.at('isInputThetaSketch')}: stored theta sketches are not supported`);
    return sketch(reader, { type: 'theta', size: readThetaSize(reader) }, [reader.string('fieldName')], 'DOUBLE');
  },
  quantilesDoublesSketch: (reader) => {
    const k = reader.optionalInteger('k', 2) ?? 128;
    if (k > 32768 || !isPowerOfTwo(k)) refuse(reader.at('k'), 'a power of 2 from 2 to 32768', k);
    acceptStreamLength(reader);
    return sketch(reader, { type: 'quantiles', k }, [reader.string('fieldName')], 'LONG');
  },
  KllDoublesSketch: (reader) => readKll(reader, 'DOUBLE'),
  KllFloatsSketch: (reader) => readKll(reader, 'FLOAT'),
};

function readKll(reader: ObjectReader, valueType: 'DOUBLE' | 'FLOAT'): Aggregator {
  const k = reader.optionalInteger('k', 8) ?? 200;
  if (k > 65535) refuse(reader.at('k'), 'an integer from 8 to 65535', k);
  acceptStreamLength(reader);
  return sketch(reader, { type: 'kll', k, valueType }, [reader.string('fieldName')], 'LONG');
}

/** How long a stream may get before a sketch moves in memory: here none ever has to. */
function acceptStreamLength(reader: ObjectReader): void {
  reader.optionalInteger('maxStreamLength', 1);
}

export function readLgK(reader: ObjectReader): number {
  const lgK = reader.optionalInteger('lgK', 4) ?? 12;
  return lgK > 21 ? refuse(reader.at('lgK'), 'an integer from 4 to 21', lgK) : lgK;
}

export function readHllTarget(reader: ObjectReader): 4 | 6 | 8 {
  const name = reader.choice('tgtHllType', ['HLL_4', 'HLL_6', 'HLL_8'], 'HLL_4');
  return name === 'HLL_4' ? 4 : name === 'HLL_6' ? 6 : 8;
}

const THETA_SIZE = 16384;
const THETA_SIZE_MAX = 1 << 26;

export function readThetaSize(reader: ObjectReader): number {
  const size = reader.optionalInteger('size', 16) ?? THETA_SIZE;
  return isPowerOfTwo(size) && size <= THETA_SIZE_MAX ? size : refuse(reader.at('size'), `a power of 2 from 16 to ${THETA_SIZE_MAX}`, size);
}

function isPowerOfTwo(value: number): boolean {
  return Number.isInteger(Math.log2(value));
}

/** `shouldFinalize: false` puts the sketch itself out, as base64. */
function sketch(reader: ObjectReader, collector: Collector, columns: readonly string[], type: ColumnType): Aggregator {
  const output = reader.boolean('shouldFinalize', true) ? 'value' : 'state';
  return { kind: 'collect', name: reader.string('name'), filter: null, collector, columns, input: 'values', output, type };
}
