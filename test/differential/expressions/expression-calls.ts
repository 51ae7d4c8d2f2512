import { inferType, withParameters } from '../../../src/expression/expression-type.js';
import type { MaybeType } from '../../../src/expression/function.js';
import { parseExpression } from '../../../src/expression/parse.js';
import type { Expression } from '../../../src/model/expression.js';
import { type ColumnType, elementType, isArrayType, parseColumnType } from '../../../src/model/schema.js';
import type { DifferentialCase } from '../case.js';
import { TABLES } from '../tables.js';

/** A call within an expression. `types`: of its arguments, null where one is always null or a parameter of a lambda. */
export interface TypedCall {
  readonly name: string;
  readonly operands: readonly Expression[];
  readonly types: readonly MaybeType[];
  /** The calls among its operands. */
  readonly operandCalls: readonly Omit<TypedCall, 'operandCalls'>[];
}

/** Every call within the expression of a case, from the outside in; none for other cases and for what does not parse. */
export function callsOf(one: DifferentialCase): readonly TypedCall[] {
  if (one.kind !== 'expressions') return [];
  const { columns } = one.request;
  const types = columns === undefined ? NASTY : new Map(columns.map(({ name, type }) => [name, parseColumnType(type)]));
  try {
    return collect(parseExpression(one.request.expression), (name) => types.get(name), []);
  } catch {
    return [];
  }
}

const DIMENSION_TYPES: ReadonlyMap<string, ColumnType> = new Map([
  ['long', 'LONG'],
  ['double', 'DOUBLE'],
  ['float', 'FLOAT'],
  ['string', 'STRING'],
  ['json', 'COMPLEX<json>'],
]);

const NASTY: ReadonlyMap<string, ColumnType | undefined> = new Map([
  ['__time', 'LONG'],
  ...(TABLES.find(({ name }) => name === 'nasty')?.dimensions ?? []).map((dimension): [string, ColumnType | undefined] => {
    const { name, type, castToType } = dimension as { readonly [field: string]: string };
    return [name ?? '', castToType === undefined ? DIMENSION_TYPES.get(type ?? '') : parseColumnType(castToType)];
  }),
]);

type TypeOf = (name: string) => ColumnType | undefined;

function collect(expression: Expression, typeOf: TypeOf, into: TypedCall[]): readonly TypedCall[] {
  if (expression.kind !== 'call') return into;
  const { name, operands, types } = typedCall(expression, typeOf);
  const operandCalls = operands.flatMap((operand) => (operand.kind === 'call' ? [typedCall(operand, typeOf)] : []));
  into.push({ name, operands, types, operandCalls });
  for (const operand of operands) {
    if (operand.kind !== 'lambda') collect(operand, typeOf, into);
    else collect(operand.body, withParameters(typeOf, operand.parameters, types.slice(1).map(elementOf)), into);
  }
  return into;
}

type Call = Extract<Expression, { kind: 'call' }>;

function typedCall({ function: name, arguments: operands }: Call, typeOf: TypeOf): Omit<TypedCall, 'operandCalls'> {
  return { name, operands, types: operands.map((operand) => typeOrNull(operand, typeOf)) };
}

const elementOf = (type: MaybeType): MaybeType => (type !== null && isArrayType(type) ? elementType(type) : type);

function typeOrNull(expression: Expression, typeOf: TypeOf): MaybeType {
  try {
    return inferType(expression, typeOf);
  } catch {
    return null;
  }
}
