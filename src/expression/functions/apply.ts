// Functions that take a lambda: map, filter, fold, any, all.

import { ServiceError } from '../../base/errors.js';
import { arrayOf, elementType, isArrayType } from '../../model/schema.js';
import { type ApplyFunction, type BoundLambda, commonType, type MaybeType } from '../function.js';
import { convert, fromTruth, isArrayValue, toTruth, type Value } from '../value.js';
import { arrayTypeOf, asArray, refuseLength } from './array-value.js';

/** Internal function: an expression for each value of multi-value columns (`multi-value.ts`). */
export const EACH_VALUE = 'each_value';

const elementOf = (type: MaybeType): MaybeType => {
  const array = arrayTypeOf(type);
  return array !== null && isArrayType(array) ? elementType(array) : null;
};

const arrayOfType = (type: MaybeType): MaybeType => (type === null ? null : arrayOf(type === 'FLOAT' ? 'DOUBLE' : type));

/** One array; undefined when it is null. */
function onlyArray(values: readonly Value[]): readonly Value[] | undefined {
  return asArray(values[0] ?? null) ?? undefined;
}

function runWith(lambda: BoundLambda, element: Value): Value {
  lambda.values[0] = element;
  return lambda.run();
}

/** A function of a lambda of one parameter and one array. */
function ofElements(
  name: string,
  result: (element: MaybeType, body: MaybeType) => MaybeType,
  run: (lambda: BoundLambda, array: readonly Value[] | undefined) => Value,
): ApplyFunction {
  return {
    name,
    minArguments: 2,
    maxArguments: 2,
    parameterCount: () => 1,
    types([array = null], bodyType) {
      const element = elementOf(array);
      return { parameters: [element], result: result(element, bodyType([element])) };
    },
    run: (lambda, values) => run(lambda, onlyArray(values)),
  };
}

/** map(lambda, array): what the lambda makes of each element. */
const map = ofElements(
  'map',
  (_, body) => arrayOfType(body),
  (lambda, array) => array?.map((element) => runWith(lambda, element)) ?? null,
);

/** filter(lambda, array): the elements for which it is true; null when there are none. */
const filter = ofElements('filter', arrayOfType, (lambda, array) => {
  const kept = array?.filter((element) => toTruth(runWith(lambda, element)) === true) ?? [];
  return kept.length === 0 ? null : kept;
});

/** any(lambda, array), all(lambda, array): 1 or 0; of a null array 0. */
const any = ofElements(
  'any',
  () => 'LONG',
  (lambda, array) => fromTruth(array?.some((element) => toTruth(runWith(lambda, element)) === true) ?? false),
);

const all = ofElements(
  'all',
  () => 'LONG',
  (lambda, array) => fromTruth(array?.every((element) => toTruth(runWith(lambda, element)) === true) ?? false),
);

/** Every combination of elements, the last array's changing fastest, written into the lambda's parameters. */
function forEachCombination(arrays: readonly (readonly Value[])[], lambda: BoundLambda, visit: () => void, depth = 0): void {
  const array = arrays[depth];
  if (array === undefined) return visit();
  for (const element of array) {
    lambda.values[depth] = element;
    forEachCombination(arrays, lambda, visit, depth + 1);
  }
}

function mapCombinations(name: string, lambda: BoundLambda, arrays: readonly (readonly Value[])[]): Value {
  const count = arrays.reduce((product, array) => product * array.length, 1);
  refuseLength(name, count);
  if (count === 0) return [];
  const results: Value[] = [];
  forEachCombination(arrays, lambda, () => results.push(lambda.run()));
  return results;
}

/** cartesian_map(lambda, array, ...): what the lambda makes of each combination of elements; null when an array is. */
const cartesianMap: ApplyFunction = {
  name: 'cartesian_map',
  minArguments: 2,
  maxArguments: Infinity,
  parameterCount: (count) => count - 1,
  types(argumentTypes, bodyType) {
    const parameters = argumentTypes.map(elementOf);
    return { parameters, result: arrayOfType(bodyType(parameters)) };
  },
  run(lambda, values) {
    const arrays = values.map(asArray);
    return arrays.includes(null) ? null : mapCombinations('cartesian_map', lambda, arrays.filter(isArrayValue));
  },
};

/** Like `cartesian_map`, but a null or empty array takes part with one null. */
const eachValue: ApplyFunction = {
  ...cartesianMap,
  name: EACH_VALUE,
  run(lambda, values) {
    const arrays = values.map((value) => {
      const array = asArray(value);
      return array === null || array.length === 0 ? [null] : array;
    });
    return mapCombinations(EACH_VALUE, lambda, arrays);
  },
};

const ROUNDS_MAX = 4;

/** The accumulator has the type of its start, or the wider one that the lambda makes of it. */
function foldTypes(
  name: string,
  elements: readonly MaybeType[],
  start: MaybeType,
  bodyType: (parameters: readonly MaybeType[]) => MaybeType,
) {
  let accumulator = start;
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const parameters = [...elements, accumulator];
    const wider = commonType([accumulator, bodyType(parameters)]);
    if (wider === accumulator) return { parameters, result: accumulator };
    accumulator = wider;
  }
  throw new ServiceError('query_invalid', `${name}: what the lambda gives has another type than the accumulator it takes, each time again`);
}

/** cartesian_fold(lambda, array, ..., start): the lambda's last parameter is what it gave before; null when an array is. */
function foldFunction(name: string, maxArguments: number): ApplyFunction {
  return {
    name,
    minArguments: 3,
    maxArguments,
    parameterCount: (count) => count - 1,
    types: (argumentTypes, bodyType) => foldTypes(name, argumentTypes.slice(0, -1).map(elementOf), argumentTypes.at(-1) ?? null, bodyType),
    run(lambda, values, result) {
      const arrays = values.slice(0, -1).map(asArray);
      if (arrays.includes(null)) return null;
      // An empty array deep inside would be looked at once for each combination of those before it.
      const isEmpty = arrays.some((array) => array?.length === 0);
      const last = values.length - 1;
      const inType = (value: Value): Value => (result === null ? value : convert(value, result));
      let accumulator = inType(values[last] ?? null);
      forEachCombination(isEmpty ? [[]] : arrays.filter(isArrayValue), lambda, () => {
        lambda.values[last] = accumulator;
        accumulator = inType(lambda.run());
      });
      return accumulator;
    },
  };
}

export const APPLY_FUNCTIONS: readonly ApplyFunction[] = [
  map,
  cartesianMap,
  filter,
  any,
  all,
  foldFunction('fold', 3),
  foldFunction('cartesian_fold', Infinity),
  eachValue,
];
