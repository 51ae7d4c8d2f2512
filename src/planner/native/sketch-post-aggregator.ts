import { ServiceError } from '../../base/errors.js';
import type { Collector } from '../../model/collector.js';
import type { Expression } from '../../model/expression.js';
import type { ColumnType } from '../../model/schema.js';
import { decodeTheta } from '../../sketch/text.js';
import { UNSUPPORTED_POST_AGGREGATORS } from './names.js';
import type { ObjectReader } from './reader.js';
import { readByType, refuse } from './reader.js';
import { readHllTarget, readLgK, readThetaSize } from './sketch-aggregator.js';
import type { States } from './states.js';

type Type = Collector['type'];

/** What a post-aggregator over sketches computes. */
export interface SketchComputed {
  readonly name: string | undefined;
  readonly type: ColumnType;
  readonly expression: Expression;
}

/** Post-aggregators that finish a sketch, or make one of others (which is put out as base64). */
export const SKETCH_POST_AGGREGATORS: Readonly<Record<string, (reader: ObjectReader, states: States) => SketchComputed>> = {
  hyperUniqueCardinality(reader, states) {
    const { collector, expression } = states.read(reader.string('fieldName'), ['cardinality'], reader.at('fieldName'));
    return finished(reader, collector.round ? 'LONG' : 'DOUBLE', 'hll_estimate', expression, flag(collector.round));
  },
  HLLSketchEstimate(reader, states) {
    const round = reader.boolean('round', false);
    return finished(reader, round ? 'LONG' : 'DOUBLE', 'hll_estimate', readSketch(reader, 'field', 'hll', states), flag(round));
  },
  HLLSketchUnion: (reader, states) => unionOfHll(reader, states),
  thetaSketchEstimate: (reader, states) => finished(reader, 'DOUBLE', 'theta_estimate', readSketch(reader, 'field', 'theta', states)),
  thetaSketchSetOp: (reader, states) => thetaSetOp(reader, states),
  thetaSketchConstant: (reader) => thetaConstant(reader),
  quantilesDoublesSketchToQuantile: (reader, states) => toQuantile(reader, states, 'quantiles'),
  quantilesDoublesSketchToRank: (reader, states) => toRank(reader, states, 'quantiles'),
  KllDoublesSketchToQuantile: (reader, states) => toQuantile(reader, states, 'kll', 'DOUBLE'),
  KllDoublesSketchToRank: (reader, states) => toRank(reader, states, 'kll', 'DOUBLE'),
  KllFloatsSketchToQuantile: (reader, states) => toQuantile(reader, states, 'kll', 'FLOAT'),
  KllFloatsSketchToRank: (reader, states) => toRank(reader, states, 'kll', 'FLOAT'),
};

function toQuantile(reader: ObjectReader, states: States, family: 'quantiles' | 'kll', type?: 'DOUBLE' | 'FLOAT'): SketchComputed {
  const fraction = number(reader, 'fraction');
  if (fraction < 0 || fraction > 1) refuse(reader.at('fraction'), 'a number from 0 to 1', fraction);
  return finished(
    reader,
    'DOUBLE',
    `${family}_quantile`,
    readSketch(reader, 'field', family, states, type),
    double(fraction),
    ...kllType(type),
  );
}

function toRank(reader: ObjectReader, states: States, family: 'quantiles' | 'kll', type?: 'DOUBLE' | 'FLOAT'): SketchComputed {
  const value = number(reader, 'value');
  return finished(reader, 'DOUBLE', `${family}_rank`, readSketch(reader, 'field', family, states, type), double(value), ...kllType(type));
}

function unionOfHll(reader: ObjectReader, states: States): SketchComputed {
  const fields = readSketches(reader, 'hll', states, 1);
  return finished(reader, 'STRING', 'hll_union', long(readLgK(reader)), long(readHllTarget(reader)), ...fields);
}

function thetaSetOp(reader: ObjectReader, states: States): SketchComputed {
  const operation = reader.choice('func', ['UNION', 'INTERSECT', 'NOT'], undefined);
  const fields = readSketches(reader, 'theta', states, 2);
  return finished(reader, 'STRING', 'theta_set', text(operation), long(readThetaSize(reader)), ...fields);
}

function thetaConstant(reader: ObjectReader): SketchComputed {
  const value = reader.string('value');
  // What is no sketch fails here, with its place, rather than on a server.
  try {
    decodeTheta(value, CONSTANT_SIZE_MAX);
  } catch {
    refuse(reader.at('value'), 'a compact theta sketch of seed 9001 as base64', value);
  }
  return { name: reader.optionalString('name'), type: 'STRING', expression: text(value) };
}

const CONSTANT_SIZE_MAX = 1 << 26;

function readSketches(reader: ObjectReader, family: Type, states: States, least: number): Expression[] {
  const list = reader.list('fields', (value, path) => readSketchObject(reader.reader(value, path), family, states));
  return list.length < least ? refuse(reader.at('fields'), `at least ${least} sketches`, list.length) : list;
}

function readSketch(reader: ObjectReader, key: string, family: Type, states: States, type?: 'DOUBLE' | 'FLOAT'): Expression {
  return readSketchObject(reader.object(key), family, states, type);
}

/** A field that gives a sketch of one family: the state of an aggregator, or another post-aggregator. */
function readSketchObject(reader: ObjectReader, family: Type, states: States, type?: 'DOUBLE' | 'FLOAT', depth = 0): Expression {
  if (depth > 100) throw new ServiceError('query_invalid', `${reader.path}: sketches are nested deeper than 100 levels`);
  return readByType<Expression>(
    reader,
    {
      fieldAccess: (inner) => {
        inner.optionalString('name');
        const name = inner.string('fieldName');
        const { collector, expression } = states.read(name, [family], inner.at('fieldName'));
        if (type !== undefined && collector.type === 'kll' && collector.valueType !== type)
          throw new ServiceError('query_invalid', `${inner.at('fieldName')}: "${name}" is a KLL sketch of another type of numbers`);
        return expression;
      },
      ...(family === 'hll' ? { HLLSketchUnion: (inner: ObjectReader) => unionOfHll(inner, states).expression } : {}),
      ...(family === 'theta'
        ? {
            thetaSketchSetOp: (inner: ObjectReader) => thetaSetOp(inner, states).expression,
            thetaSketchConstant: (inner: ObjectReader) => thetaConstant(inner).expression,
          }
        : {}),
    },
    UNSUPPORTED_POST_AGGREGATORS,
    'post-aggregator that gives a sketch',
  );
}

function finished(reader: ObjectReader, type: ColumnType, name: string, ...operands: readonly Expression[]): SketchComputed {
  return { name: reader.optionalString('name'), type, expression: { kind: 'call', function: `:${name}`, arguments: operands } };
}

function number(reader: ObjectReader, key: string): number {
  const value = reader.raw(key);
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : refuse(reader.at(key), 'a number', value);
}

function kllType(type: 'DOUBLE' | 'FLOAT' | undefined): Expression[] {
  return type === undefined ? [] : [text(type)];
}

function text(value: string): Expression {
  return { kind: 'literal', type: 'STRING', value };
}

function double(value: number): Expression {
  return { kind: 'literal', type: 'DOUBLE', value };
}

function long(value: number): Expression {
  return { kind: 'literal', type: 'LONG', value: BigInt(value) };
}

function flag(value: boolean): Expression {
  return long(value ? 1 : 0);
}
