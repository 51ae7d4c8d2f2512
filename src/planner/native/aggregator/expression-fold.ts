// Native name of the `expression` aggregator.

import type { ObjectReader } from '../../../base/json-reader.js';
import { own } from '../../../base/names.js';
import { foldConstant } from '../../../expression/evaluate.js';
import { expressionType } from '../../../expression/expression-type.js';
import { parseExpression } from '../../../expression/parse.js';
import type { Aggregator } from '../../../model/aggregator.js';
import { columnsOfExpression } from '../../../model/columns-read.js';
import type { Expression } from '../../../model/expression.js';
import { renameExpression } from '../../../model/rewrite/plan-names.js';
import { type ColumnType, widestType } from '../../../model/schema.js';
import type { VirtualColumns } from '../column/columns.js';
import { refuse } from '../reader.js';
import { type StateFamily, stateAggregator } from './family.js';

/** An aggregator whose steps are expressions of the query. */
export const EXPRESSION_FOLD: StateFamily = {
  queryOnly: ['expression'],
  aggregators: { expression: readFold },
  postAggregators: {},
};

const ACCUMULATOR = '__acc';
const MAX_BYTES = 8192;
const LEAST_BYTES = 10;

function readFold(reader: ObjectReader, columns: VirtualColumns): Aggregator {
  const name = reader.string('name');
  const fields = reader.strings('fields');
  const accumulator = reader.optionalString('accumulatorIdentifier') ?? ACCUMULATOR;
  const fold = readExpression(reader, 'fold', [...fields, accumulator]);
  const compare = reader.has('compare') ? readExpression(reader, 'compare', ['o1', 'o2']) : null;
  const initial = readConstant(reader, 'initialValue');
  const initialCombine = reader.has('initialCombineValue') ? readConstant(reader, 'initialCombineValue') : initial;
  const combine = reader.has('combine')
    ? readExpression(reader, 'combine', [name, accumulator])
    : combineLikeFold(reader, fold, fields, name);
  const finalize = reader.has('finalize') ? readExpression(reader, 'finalize', ['o']) : null;
  // The accumulator begins with the type of its initial value, if that has one, and has the type that folding makes of it.
  const untyped = foldConstant(initial) === null ? undefined : typeOf(initial);
  const folded = (given: ColumnType | undefined): ColumnType =>
    expressionType(fold, (column) => (column === accumulator ? given : columns.typeOf(column)));
  const first = folded(untyped);
  const type = untyped === undefined ? folded(first) : widestType([untyped, first]);
  const resultType = finalize === null ? type : expressionType(finalize, () => type);
  const foldsNulls = reader.boolean('shouldAggregateNullInputs', true);
  return stateAggregator(
    reader,
    {
      type: 'expression',
      name,
      fields,
      accumulator,
      fold,
      combine,
      finalize,
      compare,
      initial,
      initialCombine,
      valueType: type,
      resultType,
      isNullUnlessAggregated: reader.boolean('isNullUnlessAggregated', true),
      foldsNulls,
      combinesNulls: reader.boolean('shouldCombineAggregateNullInputs', foldsNulls),
      maxBytes: readBytes(reader),
    },
    fields,
    resultType,
  );
}

/** A fold of one field combines as well: the other result takes the place of the field. */
function combineLikeFold(reader: ObjectReader, fold: Expression, fields: readonly string[], name: string): Expression {
  const [field, ...others] = fields;
  if (field === undefined || others.length > 0)
    return refuse(reader.at('combine'), 'an expression, as there is not just one field', undefined);
  return renameExpression(fold, (column) => (column === field ? name : column));
}

/** @param known  the columns it may name */
function readExpression(reader: ObjectReader, key: string, known: readonly string[]): Expression {
  const expression = parseExpression(reader.string(key));
  for (const column of columnsOfExpression(expression))
    if (!known.includes(column)) refuse(reader.at(key), `an expression over ${known.join(', ')}`, column);
  return expression;
}

/** An expression without columns, as a literal. */
function readConstant(reader: ObjectReader, key: string): Expression {
  const expression = parseExpression(reader.string(key));
  if (foldConstant(expression) === undefined) refuse(reader.at(key), 'a constant', reader.raw(key));
  return expression;
}

function typeOf(expression: Expression): ColumnType {
  return expressionType(expression, () => undefined);
}

const UNITS: Readonly<Record<string, number>> = { '': 1, K: 1e3, M: 1e6, G: 1e9, Ki: 1024, Mi: 1024 ** 2, Gi: 1024 ** 3 };

/** A number of bytes, or a text such as `8KiB`. */
function readBytes(reader: ObjectReader): number {
  const value = reader.raw('maxSizeBytes') ?? MAX_BYTES;
  const [, digits, unit = ''] = /^(\d{1,15})(?:([KMG]i?)B?)?$/.exec(String(value)) ?? [];
  const bytes = digits === undefined ? Number.NaN : Number(digits) * (own(UNITS, unit) ?? 1);
  return bytes >= LEAST_BYTES ? bytes : refuse(reader.at('maxSizeBytes'), `at least ${LEAST_BYTES} bytes, as a number or as 8KiB`, value);
}
