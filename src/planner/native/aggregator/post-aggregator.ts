// Reads the `postAggregations` of a native query.

import { ServiceError } from '../../../base/errors.js';
import type { ObjectReader } from '../../../base/json-reader.js';
import { expressionType } from '../../../expression/expression-type.js';
import { parseExpression } from '../../../expression/parse.js';
import { call, double, type Expression, text } from '../../../model/expression.js';
import type { PostAggregator } from '../../../model/query.js';
import type { ColumnType } from '../../../model/schema.js';
import { stateType } from '../../../model/state-traits.js';
import type { ColumnTypes } from '../column/column-types.js';
import { UNSUPPORTED_POST_AGGREGATORS } from '../names.js';
import { readByType, refuse } from '../reader.js';
import type { Computed } from './family.js';
import { STATE_POST_AGGREGATORS } from './registry.js';
import type { States } from './states.js';

/** @param outputType  of the aggregators and keys; each post-aggregator may read those before it as well */
export function readPostAggregators(reader: ObjectReader, outputType: ColumnTypes, states: States): PostAggregator[] {
  const known = new Map<string, ColumnType>();
  const types: ColumnTypes = (name) => known.get(name) ?? outputType(name);
  return reader.list('postAggregations', (value, path) => {
    const { name, type, expression, state } = readPostAggregator(reader.reader(value, path), types, states);
    if (name === undefined) refuse(`${path}.name`, 'a string', name);
    known.set(name, type);
    if (state !== undefined) states.define(name, state);
    return { name, type, expression };
  });
}

const DEPTH_MAX = 300;

function readPostAggregator(reader: ObjectReader, types: ColumnTypes, states: States, depth = 0): Computed {
  if (depth > DEPTH_MAX)
    throw new ServiceError('query_invalid', `${reader.path}: post-aggregators are nested deeper than ${DEPTH_MAX} levels`);
  const nested = (value: unknown, path: string): Computed => readPostAggregator(reader.reader(value, path), types, states, depth + 1);
  const fields = (inner: ObjectReader, least: number): readonly Expression[] => {
    const list = inner.list('fields', (value, path) => asValue(nested(value, path), path));
    if (list.length < least) refuse(inner.at('fields'), `at least ${least} post-aggregators`, inner.raw('fields'));
    return list;
  };
  const extreme =
    (name: 'greatest' | 'least', type: 'LONG' | 'DOUBLE') =>
    (inner: ObjectReader): Computed => ({
      name: inner.optionalString('name'),
      type,
      expression: call(name, ...fields(inner, 1).map((field) => cast(field, type))),
    });
  return readByType<Computed>(
    reader,
    {
      arithmetic: (inner) => {
        const combine = ARITHMETIC[inner.choice('fn', ARITHMETIC_NAMES, undefined)];
        // `ordering` matters only to a topN or limit sorted by this column, and numbers always sort as numbers there.
        inner.choice('ordering', ['numericFirst'], 'numericFirst');
        const expression = fields(inner, 2)
          .map((field) => cast(field, 'DOUBLE'))
          .reduce(combine);
        return { name: inner.optionalString('name'), type: 'DOUBLE', expression };
      },
      fieldAccess: (inner) => {
        const state = states.find(inner.string('fieldName'));
        return state === undefined
          ? readFieldAccess(inner, types)
          : { name: inner.optionalString('name'), type: stateType(state.state), ...state };
      },
      finalizingFieldAccess: (inner) => readFieldAccess(inner, types),
      constant: (inner) => readConstant(inner),
      expression: (inner) => {
        inner.choice('ordering', ['numericFirst'], 'numericFirst');
        const expression = parseExpression(inner.string('expression'));
        const type = inner.has('outputType')
          ? inner.choice('outputType', ['STRING', 'LONG', 'FLOAT', 'DOUBLE'], undefined)
          : expressionType(expression, types);
        return { name: inner.optionalString('name'), type, expression };
      },
      ...Object.fromEntries(
        Object.entries(STATE_POST_AGGREGATORS).map(([type, read]) => [
          type,
          (inner: ObjectReader) => read(inner, { states, read: nested }),
        ]),
      ),
      doubleGreatest: extreme('greatest', 'DOUBLE'),
      doubleLeast: extreme('least', 'DOUBLE'),
      longGreatest: extreme('greatest', 'LONG'),
      longLeast: extreme('least', 'LONG'),
    },
    UNSUPPORTED_POST_AGGREGATORS,
    'post-aggregator',
  );
}

function asValue({ state, expression }: Computed, path: string): Expression {
  if (state === undefined) return expression;
  throw new ServiceError('query_invalid', `${path}: expected a number, found a state; a finalizingFieldAccess reads its value`);
}

function readFieldAccess(reader: ObjectReader, types: ColumnTypes): Computed {
  const field = reader.string('fieldName');
  const type = types(field);
  if (type === undefined)
    throw new ServiceError(
      'query_invalid',
      `${reader.at('fieldName')}: "${field}" is no aggregator, dimension or earlier post-aggregator of this query`,
    );
  return { name: reader.optionalString('name'), type, expression: { kind: 'column', name: field } };
}

function readConstant(reader: ObjectReader): Computed {
  const value = reader.raw('value');
  if (typeof value !== 'number' && typeof value !== 'bigint') refuse(reader.at('value'), 'a number', value);
  const isLong = typeof value === 'bigint' || Number.isSafeInteger(value);
  const type = isLong ? 'LONG' : 'DOUBLE';
  return { name: reader.optionalString('name'), type, expression: { kind: 'literal', type, value: isLong ? BigInt(value) : value } };
}

function cast(expression: Expression, type: ColumnType): Expression {
  if (expression.kind === 'literal' && expression.value !== null && type === 'DOUBLE')
    return { ...expression, type, value: Number(expression.value) };
  return call('cast', expression, text(type));
}

const ARITHMETIC_NAMES = ['+', '-', '*', '/', 'pow', 'quotient'] as const;

const ZERO: Expression = double(0);

/** All on doubles, null of null. `/` gives 0 when dividing by 0, `quotient` what IEEE division gives. */
const ARITHMETIC: Readonly<Record<(typeof ARITHMETIC_NAMES)[number], (a: Expression, b: Expression) => Expression>> = {
  '+': (a, b) => call('+', a, b),
  '-': (a, b) => call('-', a, b),
  '*': (a, b) => call('*', a, b),
  '/': (a, b) => call('case_searched', call('&&', call('notnull', a), call('==', b, ZERO)), ZERO, call('/', a, b)),
  pow: (a, b) => call('pow', a, b),
  quotient: (a, b) => call('/', a, b),
};
