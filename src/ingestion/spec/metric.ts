import type { NumberType } from '../../model/schema.js';
import type { Fields } from './fields.js';

/** An aggregator of `metricsSpec`: what a row starts with, and how rows of a group join. */
export interface Metric {
  readonly name: string;
  /** null: counts rows. */
  readonly fieldName: string | null;
  readonly kind: 'count' | 'sum' | 'min' | 'max';
  readonly type: NumberType;
}

const NUMBER_METRICS = /^(long|double|float)(Sum|Min|Max)$/;
const ACCEPTED = ['count', 'longSum', 'longMin', 'longMax', 'doubleSum', 'doubleMin', 'doubleMax', 'floatSum', 'floatMin', 'floatMax'];
const UNSUPPORTED = [
  ...['long', 'double', 'float', 'string'].flatMap((type) => ['First', 'Last', 'Any'].map((kind) => type + kind)),
  ...['doubleMean', 'timeMin', 'timeMax', 'variance', 'filtered', 'cardinality', 'hyperUnique', 'javascript', 'expression', 'histogram'],
  ...[
    'HLLSketchBuild',
    'HLLSketchMerge',
    'thetaSketch',
    'arrayOfDoublesSketch',
    'quantilesDoublesSketch',
    'KllDoublesSketch',
    'KllFloatsSketch',
  ],
  ...['tDigestSketch', 'momentSketch', 'approxHistogram', 'approxHistogramFold', 'fixedBucketsHistogram', 'bloom', 'spectator'],
];

export function parseMetric(fields: Fields): Metric {
  const type = fields.type(ACCEPTED, UNSUPPORTED);
  if (type === 'count') {
    fields.accept(['name']);
    return { name: fields.string('name'), fieldName: null, kind: 'count', type: 'LONG' };
  }
  fields.accept(['name', 'fieldName', 'expression']);
  if (fields.has('expression')) throw fields.unsupported('expression', 'compute it by a transform and name that as fieldName');
  const [, number = '', kind = ''] = NUMBER_METRICS.exec(type) ?? [];
  return {
    name: fields.string('name'),
    fieldName: fields.string('fieldName'),
    kind: kind.toLowerCase() as Metric['kind'],
    type: number.toUpperCase() as Metric['type'],
  };
}
