// Lowers the part of a relational tree that one plan has no room for to row sources (decision 17).

import type { Expression } from '../../../model/expression.js';
import type { JoinSource, RowSource, RowsPlan } from '../../../model/row-source.js';
import type { ColumnSchema } from '../../../model/schema.js';
import { nativeType } from '../parse/sql-type.js';
import { and, type Bound, call, toExpression } from '../relation/bound.js';
import { estimate } from '../relation/estimate.js';
import { joinParts } from '../relation/join-condition.js';
import { columnsOf, type JoinRelation, type Relation, type RelationColumn, type UnnestRelation } from '../relation/relation.js';
import { toFilter } from './lower-filter.js';

/** The plan of a relation, and what it reads. */
export interface Lowered {
  readonly plan: RowsPlan;
  readonly source: RowSource;
}

type Lower = (relation: Relation) => Lowered;

/**
 * The source that the plan over a relation reads.
 * @param lower  makes the plans of relations inside that have no form of their own
 */
export function lowerLeaf(relation: Relation, lower: Lower): RowSource {
  return relation.kind === 'source' ? relation.source : lowerSource(relation, lower);
}

/** A relation as rows that a plan can read; what has no form of its own is the result of a plan. */
function lowerSource(relation: Relation, lower: Lower): RowSource {
  switch (relation.kind) {
    case 'source':
      return relation.source;
    case 'join':
      return lowerJoin(relation, lower);
    case 'union':
      return { kind: 'union', sources: relation.inputs.map((each) => lowerSource(each, lower)) };
    case 'unnest':
      return lowerUnnest(relation, lower);
    case 'filter':
      if (relation.input.kind !== 'source' && relation.input.kind !== 'join' && relation.input.kind !== 'unnest') break;
      return { kind: 'filtered', source: lowerSource(relation.input, lower), filter: toFilter(relation.condition) };
    default:
      break;
  }
  const { plan, source } = lower(relation);
  return { kind: 'query', plan, source };
}

function lowerJoin(join: JoinRelation, lower: Lower): JoinSource {
  const { keys, residual } = joinParts(join.condition, join.prefix, join.type);
  return {
    kind: 'join',
    left: lowerSource(join.left, lower),
    right: lowerSource(join.right, lower),
    prefix: join.prefix,
    type: join.type,
    keys: keys.map(({ left, right, domain, ...nulls }) => {
      const type = nativeType(domain);
      return type === 'FLOAT'
        ? { left: asFloat(left), right: asFloat(right), type: 'DOUBLE', ...nulls }
        : { left: toExpression(left), right: toExpression(right), type, ...nulls };
    }),
    condition: residual.length === 0 ? null : toExpression(and(residual)),
    ...(join.mark === undefined ? {} : { mark: join.mark }),
    ...(estimate(join.left) === undefined || estimate(join.right) === undefined ? {} : { sidesChosen: true }),
    leftColumns: columnsOf(join.left).map(schemaOf),
    rightColumns: columnsOf(join.right).map(schemaOf),
  };
}

/** Computed in doubles, a FLOAT meets the floats of columns as it would be kept in one. */
function asFloat(key: Bound): Expression {
  const expression = toExpression(key);
  return key.kind === 'column' ? expression : { kind: 'call', function: ':float', arguments: [expression] };
}

function schemaOf({ name, type, schema }: RelationColumn): ColumnSchema {
  return schema ?? { name, type: nativeType(type), multiValue: false, hasNulls: true };
}

function lowerUnnest({ input, array, name, type }: UnnestRelation, lower: Lower): RowSource {
  const multiValue = multiValueColumn(array);
  const elements = multiValue === undefined ? array : call(array.type, 'mv_harmonize_nulls', multiValue);
  const column = { name, expression: toExpression(elements), outputType: nativeType(array.type === 'NULL' ? type : array.type) };
  return { kind: 'unnest', source: lowerSource(input, lower), column };
}

/** A multi-value row without values is unnested as one null. */
function multiValueColumn(array: Bound): Bound | undefined {
  if (array.kind !== 'call' || array.function !== 'mv_to_array') return undefined;
  const [operand] = array.arguments;
  return operand?.kind === 'column' ? operand : undefined;
}
