import { ServiceError } from '../../../base/errors.js';
import { decodeTheta } from '../../../sketch/text.js';
import type { ObjectReader } from '../reader.js';
import { refuse } from '../reader.js';
import type { StateFamily } from './family.js';
import { collect, computed, computedState, isPowerOfTwo, long, stateField, stateFields, text } from './family.js';

const SIZE = 16384;
const SIZE_MAX = 1 << 26;

export const THETA: StateFamily = {
  aggregators: {
    thetaSketch: (reader) => {
      if (reader.boolean('isInputThetaSketch', false))
        throw new ServiceError('unsupported', `${reader.at('isInputThetaSketch')}: stored theta sketches are not supported`);
      return collect(reader, { type: 'theta', size: readSize(reader) }, [reader.string('fieldName')], 'DOUBLE');
    },
  },
  postAggregators: {
    thetaSketchEstimate: (reader, scope) =>
      computed(reader, 'DOUBLE', 'theta_estimate', stateField(reader, 'field', ['theta'], scope).expression),
    thetaSketchSetOp: (reader, scope) => {
      const operation = reader.choice('func', ['UNION', 'INTERSECT', 'NOT'], undefined);
      const fields = stateFields(reader, ['theta'], scope, 2);
      const size = readSize(reader);
      return computedState(
        reader,
        { type: 'theta', size },
        'theta_set',
        text(operation),
        long(size),
        ...fields.map(({ expression }) => expression),
      );
    },
    thetaSketchConstant: (reader) => {
      const value = reader.string('value');
      // What is no sketch fails here, with its place, rather than on a server.
      try {
        decodeTheta(value, SIZE_MAX);
      } catch {
        refuse(reader.at('value'), 'a compact theta sketch of seed 9001 as base64', value);
      }
      return { name: reader.optionalString('name'), type: 'STRING', expression: text(value), state: { type: 'theta', size: SIZE_MAX } };
    },
  },
};

function readSize(reader: ObjectReader): number {
  const size = reader.optionalInteger('size', 16) ?? SIZE;
  return isPowerOfTwo(size) && size <= SIZE_MAX ? size : refuse(reader.at('size'), `a power of 2 from 16 to ${SIZE_MAX}`, size);
}
