import type { AggregateState } from './aggregate-state.js';
import type { ComplexType } from './schema.js';

/** The type of columns that hold the states of a aggregateState: texts that its kind of state encodes (decision 11). */
export function stateType(aggregateState: AggregateState): ComplexType {
  switch (aggregateState.type) {
    case 'first':
    case 'last':
      return `COMPLEX<serializablePairLong${PAIRED[aggregateState.valueType] ?? 'String'}>`;
    case 'min':
    case 'max':
      return 'COMPLEX<extreme>';
    case 'moments':
      return aggregateState.result === 'mean' ? 'COMPLEX<doubleMean>' : 'COMPLEX<variance>';
    case 'exactSum':
      return 'COMPLEX<exactSum>';
    case 'hll':
      return 'COMPLEX<HLLSketch>';
    case 'cardinality':
      return 'COMPLEX<hyperUnique>';
    case 'theta':
      return 'COMPLEX<thetaSketch>';
    case 'quantiles':
      return 'COMPLEX<quantilesDoublesSketch>';
    case 'kll':
      return aggregateState.valueType === 'FLOAT' ? 'COMPLEX<KllFloatsSketch>' : 'COMPLEX<KllDoublesSketch>';
    case 'tuple':
      return 'COMPLEX<arrayOfDoublesSketch>';
    case 'histogram':
      return 'COMPLEX<approximateHistogram>';
    case 'fixedHistogram':
      return 'COMPLEX<fixedBucketsHistogram>';
    case 'bloom':
      return 'COMPLEX<bloom>';
    case 'list':
      return 'COMPLEX<list>';
    case 'expression':
      return 'COMPLEX<expression>';
  }
}

const PAIRED: Readonly<Record<string, string>> = { LONG: 'Long', DOUBLE: 'Double', FLOAT: 'Float' };

const STATE_TYPES: ReadonlySet<unknown> = new Set([
  ...['String', 'Long', 'Double', 'Float'].map((type) => `COMPLEX<serializablePairLong${type}>`),
  ...[
    'doubleMean',
    'variance',
    'HLLSketch',
    'hyperUnique',
    'thetaSketch',
    'quantilesDoublesSketch',
    'KllFloatsSketch',
    'KllDoublesSketch',
  ].map((name) => `COMPLEX<${name}>`),
  ...['arrayOfDoublesSketch', 'approximateHistogram', 'fixedBucketsHistogram', 'bloom'].map((name) => `COMPLEX<${name}>`),
]);

/** Whether a text is the type of some states, as `stateType` spells it. */
export function isStateType(type: unknown): type is ComplexType {
  return STATE_TYPES.has(type);
}
