// Native names of theta sketch aggregators.

import type { ObjectReader } from '../../../base/json-reader.js';
import { long, text } from '../../../model/expression.js';
import { JSON_TYPE } from '../../../model/schema.js';
import { stateType } from '../../../model/state-traits.js';
import { decodeTheta } from '../../../sketch/base64-codec.js';
import { refuse } from '../reader.js';
import {
  computed,
  computedState,
  isPowerOfTwo,
  merging,
  overStored,
  type StateFamily,
  stateAggregator,
  stateField,
  stateFields,
} from './family.js';

const SIZE = 16384;
const SIZE_MAX = 1 << 26;

export const THETA: StateFamily = {
  aggregators: {
    thetaSketch: (reader, columns) => {
      const isInput = reader.boolean('isInputThetaSketch', false);
      const aggregator = stateAggregator(reader, { type: 'theta', size: readSize(reader) }, [reader.string('fieldName')], 'DOUBLE');
      return isInput ? merging(aggregator, columns, reader) : overStored(aggregator, columns, reader);
    },
  },
  postAggregators: {
    thetaSketchEstimate: (reader, scope) => {
      const { expression } = stateField(reader, 'field', ['theta'], scope);
      const deviations = reader.optionalInteger('errorBoundsStdDev', 1);
      if (deviations === undefined) return computed(reader, 'DOUBLE', 'theta_estimate', expression);
      if (deviations > 3) refuse(reader.at('errorBoundsStdDev'), '1, 2 or 3', deviations);
      return computed(reader, JSON_TYPE, 'theta_bounds', expression, long(deviations));
    },
    thetaSketchToString: (reader, scope) =>
      computed(reader, 'STRING', 'theta_summary', stateField(reader, 'field', ['theta'], scope).expression),
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
      // Validate now, so that the error names the field.
      try {
        decodeTheta(value, SIZE_MAX);
      } catch {
        refuse(reader.at('value'), 'a compact theta sketch of seed 9001 as base64', value);
      }
      const state = { type: 'theta', size: SIZE_MAX } as const;
      return { name: reader.optionalString('name'), type: stateType(state), expression: text(value), state };
    },
  },
};

function readSize(reader: ObjectReader): number {
  const size = reader.optionalInteger('size', 16) ?? SIZE;
  return isPowerOfTwo(size) && size <= SIZE_MAX ? size : refuse(reader.at('size'), `a power of 2 from 16 to ${SIZE_MAX}`, size);
}
