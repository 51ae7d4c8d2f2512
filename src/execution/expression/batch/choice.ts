// Loops for CASE, COALESCE and logical operators over a batch.

import { anyOf, isTrueAt, type NumberBatch, newNulls, newValues, TRUTH } from './number-batch.js';

/** The result of the first condition that is true, else the last operand, else null. */
export function chosen(
  conditions: readonly NumberBatch[],
  results: readonly NumberBatch[],
  otherwise: NumberBatch | undefined,
): NumberBatch {
  const all = otherwise === undefined ? results : [...results, otherwise];
  const made = anyOf(all);
  const { values } = made;
  const nulls = otherwise === undefined || all.some((each) => each.nulls !== undefined) ? newNulls() : undefined;
  return {
    ...made,
    nulls,
    fill(block) {
      const { rows } = block;
      otherwise?.fill(block);
      if (otherwise !== undefined) values.set(otherwise.values.subarray(0, rows));
      if (otherwise?.nulls !== undefined) nulls?.set(otherwise.nulls.subarray(0, rows));
      else nulls?.fill(otherwise === undefined ? 1 : 0, 0, rows);
      // From the last to the first, which so has the last word.
      for (let index = conditions.length - 1; index >= 0; index--) {
        const [condition, result] = [conditions[index], results[index]];
        if (condition === undefined || result === undefined) continue;
        condition.fill(block);
        result.fill(block);
        const [truth, unknown, made, missing] = [condition.values, condition.nulls, result.values, result.nulls];
        for (let row = 0; row < rows; row++) {
          if (!isTrueAt(truth, unknown, row)) continue;
          values[row] = made[row] ?? 0;
          if (nulls !== undefined) nulls[row] = missing === undefined ? 0 : (missing[row] ?? 0);
        }
      }
    },
  };
}

/** The first that is not null. */
export function firstKnown(operands: readonly NumberBatch[]): NumberBatch {
  const made = anyOf(operands);
  const { values } = made;
  const nulls = operands.every((each) => each.nulls !== undefined) ? newNulls() : undefined;
  const fromLast = operands.toReversed();
  return {
    ...made,
    nulls,
    fill(block) {
      nulls?.fill(1, 0, block.rows);
      for (const operand of fromLast) {
        operand.fill(block);
        for (let row = 0; row < block.rows; row++) {
          if (operand.nulls !== undefined && operand.nulls[row] === 1) continue;
          values[row] = operand.values[row] ?? 0;
          if (nulls !== undefined) nulls[row] = 0;
        }
      }
    },
  };
}

/** && and ||: null where an operand is and the other does not decide. */
export function logical(a: NumberBatch, b: NumberBatch, decisive: boolean): NumberBatch {
  const values = newValues();
  const nulls = a.nulls === undefined && b.nulls === undefined ? undefined : newNulls();
  const decided = decisive ? 1 : 0;
  return {
    type: 'LONG',
    range: TRUTH,
    values,
    nulls,
    fill(block) {
      a.fill(block);
      b.fill(block);
      const [left, right, unknownLeft, unknownRight] = [a.values, b.values, a.nulls, b.nulls];
      for (let row = 0; row < block.rows; row++) {
        const isLeft = (left[row] ?? 0) > 0;
        const isRight = (right[row] ?? 0) > 0;
        const noLeft = unknownLeft !== undefined && unknownLeft[row] === 1;
        const noRight = unknownRight !== undefined && unknownRight[row] === 1;
        const isDecided = (!noLeft && isLeft === decisive) || (!noRight && isRight === decisive);
        values[row] = isDecided ? decided : 1 - decided;
        if (nulls !== undefined) nulls[row] = !isDecided && (noLeft || noRight) ? 1 : 0;
      }
    },
  };
}

/** 1 or 0, never null: whether a row is true, false, null or none of these. */
export function question(operand: NumberBatch, holds: (truth: boolean | null) => boolean): NumberBatch {
  const values = newValues();
  const [ofTrue, ofFalse, ofNull] = [holds(true), holds(false), holds(null)].map(Number);
  return {
    type: 'LONG',
    range: TRUTH,
    values,
    nulls: undefined,
    fill(block) {
      operand.fill(block);
      for (let row = 0; row < block.rows; row++)
        values[row] = (operand.nulls?.[row] === 1 ? ofNull : (operand.values[row] ?? 0) > 0 ? ofTrue : ofFalse) ?? 0;
    },
  };
}

/** !: null of null. */
export function negated(operand: NumberBatch): NumberBatch {
  return { ...question(operand, (truth) => truth === false), nulls: operand.nulls };
}
