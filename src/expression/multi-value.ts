// Rewrites expressions over multi-value columns as expressions over arrays.

import { ServiceError } from '../base/errors.js';
import { columnsOfExpression } from '../model/columns-read.js';
import { call, type Expression } from '../model/expression.js';
import { lambdaOf } from './expression-type.js';
import { EACH_VALUE } from './functions/apply.js';
import { MULTI_VALUE_FORMS } from './functions/multi-value.js';
import { findApplyFunction, getFunction } from './functions.js';
import { printExpression } from './print.js';

/**
 * Rewrites an expression over multi-value columns as one over arrays.
 *
 * A function that takes an array gets the array of the row's values. Everywhere else the expression is computed for each
 * value: it becomes the body of a lambda over the columns' arrays, or over their cartesian product when there are several
 * columns. So `concat(tags, x)` is `each_value((t) -> concat(t, x), tags)`, and `array_length(upper(tags))` is
 * `array_length(each_value((t) -> upper(t), tags))`.
 */
export interface EachValue {
  /** Names multi-value columns as arguments that take arrays only, where they are of type ARRAY<STRING>. */
  readonly expression: Expression;
  /** Whether `expression` is an array of what are the values of a multi-value row. */
  readonly isMultiValue: boolean;
}

/** @throws ServiceError `query_invalid` for multi-value columns inside of lambdas that cannot be given more parameters */
export function eachValueOf(expression: Expression, isMultiValue: (column: string) => boolean): EachValue {
  if (isValues(expression, isMultiValue)) return { expression: arrayForm(expression, isMultiValue), isMultiValue: true };
  const inputs = new Map<string, Expression>();
  const body = scalarForm(expression, isMultiValue, inputs);
  return inputs.size === 0 ? { expression: body, isMultiValue: false } : { expression: overEach(inputs, body), isMultiValue: true };
}

type IsMultiValue = (column: string) => boolean;

/** Whether it stands for several values by itself: a multi-value column, or a function that gives such values. */
function isValues(expression: Expression, isMultiValue: IsMultiValue): boolean {
  if (expression.kind === 'column') return isMultiValue(expression.name);
  return expression.kind === 'call' && MULTI_VALUE_FORMS.has(expression.function);
}

/** The expression of single values: `inputs` gains a parameter for each array they are taken from. */
function scalarForm(expression: Expression, isMultiValue: IsMultiValue, inputs: Map<string, Expression>): Expression {
  if (isValues(expression, isMultiValue)) {
    // An expression written twice is one parameter; no user's column has such a name.
    const parameter = `each:${printExpression(expression)}`;
    if (!inputs.has(parameter)) inputs.set(parameter, arrayForm(expression, isMultiValue));
    return { kind: 'column', name: parameter };
  }
  if (expression.kind !== 'call') return expression;
  const { function: name, arguments: operands } = expression;
  if (findApplyFunction(name) !== undefined) return applyForm(expression, isMultiValue);
  const { arrays = [] } = getFunction(name, operands.length);
  // Whether a column is null is a question of the row.
  const [first] = operands;
  const isRow = (name === 'isnull' || name === 'notnull') && first !== undefined && isValues(first, isMultiValue);
  const isArray = (index: number): boolean => isRow || arrays === 'all' || arrays.includes(index);
  const formed = operands.map((operand, index) =>
    isArray(index) ? arrayForm(operand, isMultiValue) : scalarForm(operand, isMultiValue, inputs),
  );
  return formed.every((operand, index) => operand === operands[index]) ? expression : { ...expression, arguments: formed };
}

/** The expression as an array: of a row's values, where it has several. */
function arrayForm(expression: Expression, isMultiValue: IsMultiValue): Expression {
  if (expression.kind === 'column') return expression;
  const form = expression.kind === 'call' ? MULTI_VALUE_FORMS.get(expression.function) : undefined;
  if (form !== undefined && expression.kind === 'call') {
    getFunction(expression.function, expression.arguments.length);
    return arrayForm(form(expression.arguments), isMultiValue);
  }
  const inputs = new Map<string, Expression>();
  const body = scalarForm(expression, isMultiValue, inputs);
  return inputs.size === 0 ? body : overEach(inputs, body);
}

function overEach(inputs: ReadonlyMap<string, Expression>, body: Expression): Expression {
  return call(EACH_VALUE, { kind: 'lambda', parameters: [...inputs.keys()], body }, ...inputs.values());
}

/** Multi-value columns that a lambda's body names become further parameters of it, where the function has a cartesian form. */
function applyForm(expression: Extract<Expression, { kind: 'call' }>, isMultiValue: IsMultiValue): Expression {
  const name = expression.function;
  const apply = findApplyFunction(name);
  if (apply === undefined) return expression;
  const lambda = lambdaOf(apply, expression);
  const captured = new Map<string, Expression>();
  const isOuter = (column: string): boolean => !lambda.parameters.includes(column) && isMultiValue(column);
  const body = scalarForm(lambda.body, isOuter, captured);
  const operands = expression.arguments.slice(1).map((operand) => arrayForm(operand, isMultiValue));
  // Lists made of the lambda's own parameters cannot become parameters: they stay lists within.
  const isOwn = [...captured.values()].some((array) => lambda.parameters.some((parameter) => columnsOfExpression(array).has(parameter)));
  if (isOwn) return { ...expression, arguments: [{ ...lambda, body: arrayForm(lambda.body, isOuter) }, ...operands] };
  const isFold = name === 'fold' || name === 'cartesian_fold';
  if (captured.size === 0) return { ...expression, arguments: [{ ...lambda, body }, ...operands] };
  if (name === EACH_VALUE || !(isFold || name === 'map' || name === 'cartesian_map'))
    throw new ServiceError(
      'query_invalid',
      `the lambda of ${name} names a multi-value column, of which it would have to see one value; accepted inside of lambdas of map and fold`,
    );
  // A row without values has one null here, as where an expression is one of each value.
  const [parameters, arrays] = [[...captured.keys()], [...captured.values()].map(harmonized)];
  // The accumulator stays the last of both.
  const at = isFold ? -1 : operands.length;
  return {
    kind: 'call',
    function: isFold ? 'cartesian_fold' : 'cartesian_map',
    arguments: [{ kind: 'lambda', parameters: inserted(lambda.parameters, at, parameters), body }, ...inserted(operands, at, arrays)],
  };
}

function harmonized(array: Expression): Expression {
  return call('mv_harmonize_nulls', array);
}

function inserted<Item>(items: readonly Item[], at: number, more: readonly Item[]): readonly Item[] {
  return [...items.slice(0, at), ...more, ...(at < 0 ? items.slice(at) : [])];
}
