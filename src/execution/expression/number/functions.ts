// The functions of the expression language that kernels compute.

import { own } from '../../../base/names.js';
import { ROUND_EXPONENT_MAX, ROUND_PLACES_MAX } from '../../../expression/functions/math.js';
import {
  asLong,
  bitsOfDouble,
  combined,
  complement,
  cut,
  divided,
  doubleOfBits,
  laneOf,
  MAP,
  magnitude,
  mappedBy,
  negated,
  ofLongs,
  rounded,
  roundedLong,
  safelyDivided,
} from './arithmetic.js';
import { extreme, firstKnown } from './choice.js';
import { inLane, type Node, type NumberNode, type Rooms } from './node.js';
import { asTruth, compared, logical, not, question } from './truth.js';

/** A function of numbers in kernels; undefined where these operands do not fit. Operands are given in the order of their compilation. */
type KernelFunction = (rooms: Rooms, operands: readonly Node[]) => Node | undefined;

const ofOne =
  (make: (rooms: Rooms, operand: Node) => Node | undefined): KernelFunction =>
  (rooms, [operand, ...others]) =>
    operand === undefined || others.length > 0 ? undefined : make(rooms, operand);

const ofTwo =
  (make: (rooms: Rooms, left: Node, right: Node) => Node | undefined): KernelFunction =>
  (rooms, [left, right, ...others]) =>
    left === undefined || right === undefined || others.length > 0 ? undefined : make(rooms, left, right);

const ofAll =
  (make: (rooms: Rooms, operands: readonly NumberNode[]) => Node | undefined): KernelFunction =>
  (rooms, operands) => {
    const lane = laneOf(operands);
    return make(
      rooms,
      operands.map((operand) => inLane(rooms, operand, lane)),
    );
  };

const questions = (['isnull', 'notnull', 'istrue', 'isnottrue', 'isfalse', 'isnotfalse'] as const).map((asked) => [
  asked,
  ofOne((rooms, operand) => question(rooms, operand, asked)),
]);

const comparisons = (['==', '!=', '<', '<=', '>', '>='] as const).map((name) => [
  name,
  ofTwo((rooms, left, right) => compared(rooms, name, left, right)),
]);

const maps = (
  [
    ['floor', MAP.floor],
    ['log', MAP.logarithm],
    ['ceil', MAP.ceil],
    ['rint', MAP.nearest],
    ['sqrt', MAP.squareRoot],
    ['signum', MAP.sign],
    [':float', MAP.float],
  ] as const
).map(([name, operation]) => [name, ofOne((rooms, operand) => mappedBy(rooms, operand, operation))]);

const bits = (
  [
    ['bitwiseAnd', 'and'],
    ['bitwiseOr', 'or'],
    ['bitwiseXor', 'xor'],
    ['bitwiseShiftLeft', 'shiftLeft'],
    ['bitwiseShiftRight', 'shiftRight'],
  ] as const
).map(([name, family]) => [name, ofTwo((rooms, left, right) => ofLongs(rooms, family, left, right))]);

const FUNCTIONS: Readonly<Record<string, KernelFunction>> = {
  ...Object.fromEntries([...questions, ...comparisons, ...maps, ...bits]),
  '+': ofTwo((rooms, left, right) => combined(rooms, 'add', left, right)),
  '-': (rooms, [left, right]) =>
    left === undefined ? undefined : right === undefined ? negated(rooms, left) : combined(rooms, 'subtract', left, right),
  '*': ofTwo((rooms, left, right) => combined(rooms, 'multiply', left, right)),
  '/': ofTwo((rooms, left, right) => divided(rooms, '/', left, right)),
  '%': ofTwo((rooms, left, right) => divided(rooms, '%', left, right)),
  div: ofTwo((rooms, left, right) => asLong(rooms, safelyDivided(rooms, left, right))),
  safe_divide: ofTwo(safelyDivided),
  '!': ofOne((rooms, operand) => not(rooms, asTruth(rooms, operand))),
  '&&': ofTwo((rooms, left, right) => logical(rooms, asTruth(rooms, left), asTruth(rooms, right), false)),
  '||': ofTwo((rooms, left, right) => logical(rooms, asTruth(rooms, left), asTruth(rooms, right), true)),
  abs: ofOne(magnitude),
  bitwiseConvertDoubleToLongBits: ofOne(bitsOfDouble),
  bitwiseConvertLongBitsToDouble: ofOne(doubleOfBits),
  bitwiseComplement: ofOne(complement),
  round: (rooms, [operand, places]) => {
    const known = places === undefined ? 0n : places.kind === 'number' ? places.constant : undefined;
    if (operand === undefined || typeof known !== 'bigint') return undefined;
    // A LONG has no places behind the point.
    if (laneOf([operand]) !== 'F64') return known >= 0n ? operand : roundedLong(rooms, operand, Number(-known));
    return isForKernels(Number(known)) ? rounded(rooms, operand, Number(known)) : undefined;
  },
  ':truncate': ofTwo((rooms, operand, places) => {
    const known = places.kind === 'number' ? places.constant : undefined;
    return typeof known === 'number' && isForKernels(known) ? cut(rooms, operand, known) : undefined;
  }),
  coalesce: ofAll(firstKnown),
  nvl: ofAll(firstKnown),
  greatest: ofAll((rooms, operands) => extreme(rooms, operands, 1)),
  least: ofAll((rooms, operands) => extreme(rooms, operands, -1)),
};

function isForKernels(places: number): boolean {
  return places <= ROUND_PLACES_MAX && places >= -ROUND_EXPONENT_MAX;
}

export function kernelFunction(name: string): KernelFunction | undefined {
  return own(FUNCTIONS, name);
}
