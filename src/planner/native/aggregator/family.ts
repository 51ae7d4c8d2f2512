// Interface of a family of aggregators: how its native names are read.

import { ServiceError } from '../../../base/errors.js';
import type { ObjectReader } from '../../../base/json-reader.js';
import { type AggregateState, stateColumn } from '../../../model/aggregate-state.js';
import type { Aggregator } from '../../../model/aggregator.js';
import { type Expression, long } from '../../../model/expression.js';
import { type ColumnType, isComplexType, JSON_TYPE } from '../../../model/schema.js';
import { stateTraits, stateType } from '../../../model/state-traits.js';
import type { VirtualColumns } from '../column/columns.js';
import { refuse } from '../reader.js';
import type { States } from './states.js';

/**
 * The native names of one family of states: how its aggregators and post-aggregators are read. A family is six places: its
 * settings in `model/aggregate-state.ts`, its traits in `model/state-traits.ts`, its kind of state as a file and a line of
 * `execution/aggregate-state/operations.ts`, and this, as a file here and a line of `families.ts`.
 */
export interface StateFamily {
  readonly aggregators: Readonly<Record<string, (reader: ObjectReader, columns: VirtualColumns) => Aggregator>>;
  readonly postAggregators: Readonly<Record<string, (reader: ObjectReader, scope: PostScope) => Computed>>;
  /** Aggregators that are documented for queries only, not as metrics. */
  readonly queryOnly?: readonly string[];
}

/** A post-aggregator's expression; the name is optional where it is a field of another. */
export interface Computed {
  readonly name: string | undefined;
  readonly type: ColumnType;
  readonly expression: Expression;
  /** Set when `expression` returns a state as a string: the aggregate it is a state of. */
  readonly state?: AggregateState;
}

/** Names that post-aggregators may read beside their own fields. */
export interface PostScope {
  readonly states: States;
  /** A post-aggregator that is a field of another. */
  read(value: unknown, path: string): Computed;
}

type Of<Type extends AggregateState['type']> = Extract<AggregateState, { type: Type }>;

/** A state of one of these kinds, as text. */
export interface StateField<Type extends AggregateState['type']> {
  readonly aggregateState: Of<Type>;
  readonly expression: Expression;
}

/** The field that gives a state: of an aggregator (`fieldAccess`), or what another post-aggregator makes. */
export function stateField<Type extends AggregateState['type']>(
  reader: ObjectReader,
  key: string,
  types: readonly Type[],
  scope: PostScope,
): StateField<Type> {
  return asState(scope.read(reader.raw(key), reader.at(key)), types, reader.at(key));
}

/** `fields`, at least `least` of them. */
export function stateFields<Type extends AggregateState['type']>(
  reader: ObjectReader,
  types: readonly Type[],
  scope: PostScope,
  least: number,
): StateField<Type>[] {
  const list = reader.list('fields', (value, path) => asState(scope.read(value, path), types, path));
  return list.length < least ? refuse(reader.at('fields'), `at least ${least} states`, list.length) : list;
}

function asState<Type extends AggregateState['type']>(
  { state, expression }: Computed,
  types: readonly Type[],
  path: string,
): StateField<Type> {
  if (state === undefined || !types.some((each) => each === state.type))
    throw new ServiceError(
      'query_invalid',
      `${path}: expected a state of kind ${types.join(' or ')}, found ${state === undefined ? 'a value' : `one of kind ${state.type}`}`,
    );
  return { aggregateState: state as Of<Type>, expression };
}

/**
 * An aggregator that keeps states. `shouldFinalize: false` puts out the state itself, as text.
 * @param type  of the finished value
 */
export function stateAggregator(
  reader: ObjectReader,
  aggregateState: AggregateState,
  columns: readonly string[],
  type: ColumnType,
): Aggregator {
  const output = stateTraits(aggregateState).finalizable && !reader.boolean('shouldFinalize', true) ? 'state' : 'value';
  return { kind: 'state', name: reader.string('name'), filter: null, aggregateState, columns, input: 'values', output, type };
}

/** The same aggregator over states that a column holds. */
function overStates(aggregator: Aggregator): Aggregator {
  return aggregator.kind === 'state' ? { ...aggregator, input: 'states' } : aggregator;
}

/**
 * The same aggregator, over states where its first column holds them.
 * @throws ServiceError for a column of other states
 */
export function overStored(aggregator: Aggregator, columns: VirtualColumns, reader: ObjectReader): Aggregator {
  if (aggregator.kind !== 'state') return aggregator;
  const [column = ''] = aggregator.columns;
  const [found, wanted] = [columns.typeOf(column), stateType(aggregator.aggregateState)];
  if (found === wanted) return overStates(aggregator);
  // The aggregator of that name in an inner query, with its state.
  if (columns.typeOf(stateColumn(column)) === wanted) return overStates({ ...aggregator, columns: [stateColumn(column)] });
  if (isComplexType(found) && found !== JSON_TYPE)
    throw new ServiceError('query_invalid', `${reader.at('fieldName')}: expected a column of values or of ${wanted}, found ${found}`);
  return aggregator;
}

/**
 * An aggregator that merges states, which a column holds as such or as their texts.
 * @throws ServiceError for a column of other states, or of numbers
 */
export function merging(aggregator: Aggregator, columns: VirtualColumns, reader: ObjectReader): Aggregator {
  if (aggregator.kind !== 'state') return aggregator;
  const [column = ''] = aggregator.columns;
  const [found, wanted] = [columns.typeOf(column), stateType(aggregator.aggregateState)];
  if (columns.typeOf(stateColumn(column)) === wanted) return overStates({ ...aggregator, columns: [stateColumn(column)] });
  if (found !== undefined && found !== 'STRING' && found !== wanted)
    throw new ServiceError(
      'query_invalid',
      `${reader.at('fieldName')}: expected a column of ${wanted} or of their strings, found ${found}`,
    );
  return overStates(aggregator);
}

/** A call of a function of `expression/functions/state` with these operands. */
export function computed(reader: ObjectReader, type: ColumnType, name: string, ...operands: readonly Expression[]): Computed {
  return { name: reader.optionalString('name'), type, expression: { kind: 'call', function: `:${name}`, arguments: operands } };
}

/** The same, where it gives a state. */
export function computedState(reader: ObjectReader, state: AggregateState, name: string, ...operands: readonly Expression[]): Computed {
  return { ...computed(reader, stateType(state), name, ...operands), state };
}

export function readNumber(reader: ObjectReader, key: string): number {
  const value = reader.raw(key);
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : refuse(reader.at(key), 'a number', value);
}

export function isPowerOfTwo(value: number): boolean {
  return Number.isInteger(Math.log2(value));
}

export function flag(value: boolean): Expression {
  return long(value ? 1 : 0);
}
