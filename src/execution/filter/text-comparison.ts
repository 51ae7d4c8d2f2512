// Compares string columns with each other by the order of their dictionaries.

import { own } from '../../base/names.js';
import type { Expression } from '../../model/expression.js';
import type { StringColumnView } from '../../storage/view.js';
import { takeBits, wordsOf } from '../block/context.js';
import { idsOf } from '../expression/coded-column.js';
import type { SegmentScope } from '../expression/scope.js';
import { constantPredicate, type Predicate } from './predicate.js';

/** Comparisons expressed by `a < b` and `a = b`. */
const COMPARISONS: Readonly<Record<string, { readonly less: 0 | 1; readonly equal: 0 | 1; readonly greater: 0 | 1 }>> = {
  '==': { less: 0, equal: 1, greater: 0 },
  '!=': { less: 1, equal: 0, greater: 1 },
  '<': { less: 1, equal: 0, greater: 0 },
  '<=': { less: 1, equal: 1, greater: 0 },
  '>': { less: 0, equal: 0, greater: 1 },
  '>=': { less: 0, equal: 1, greater: 1 },
};

/** Two expressions, and the operator between them. */
export interface Compared {
  readonly name: string;
  readonly left: Expression;
  readonly right: Expression;
}

/**
 * Two text columns compared with each other, by ranks in the merged dictionaries: texts are compared once for each entry, rows
 * by numbers. Undefined unless both are stored columns of one text in a row, and rows are as many as texts.
 */
export function compareTexts(scope: SegmentScope, { name, left, right }: Compared, matchUnknown: boolean): Predicate | undefined {
  const comparison = own(COMPARISONS, name);
  const [a, b] = [textColumn(scope, left), textColumn(scope, right)];
  if (comparison === undefined || a === undefined || b === undefined) return undefined;
  // Rows of a join may be few, and share the dictionaries of large tables.
  if (a.dictionary.count + b.dictionary.count > Math.max(FEW_TEXTS, scope.view.rowCount)) return undefined;
  const [ranksA, ranksB] = mergedRanks(scope.texts(a), scope.texts(b));
  const { less, equal, greater } = comparison;
  const unknown = matchUnknown ? 1 : 0;
  if (ranksA.length === 0 || ranksB.length === 0) return constantPredicate(matchUnknown);
  const out = takeBits(scope.arena);
  return {
    constant: undefined,
    cost: 20,
    test: (block) => {
      const [codesA, codesB] = [idsOf(scope, a, block.start, block.rows), idsOf(scope, b, block.start, block.rows)];
      const words = scope.context.memory.u32(out, wordsOf(block) * 2);
      for (let start = 0, at = 0; start < block.rows; start += 32, at++) {
        const end = Math.min(block.rows, start + 32);
        let word = 0;
        for (let row = start; row < end; row++) {
          const x = ranksA[codesA[row] ?? 0] ?? 0;
          const y = ranksB[codesB[row] ?? 0] ?? 0;
          const matches = x === 0 || y === 0 ? unknown : x < y ? less : x === y ? equal : greater;
          word |= matches << (row - start);
        }
        words[at] = word;
      }
      return out;
    },
  };
}

/** Ranks of so few are worth their making for any number of rows. */
const FEW_TEXTS = 1024;

function textColumn(scope: SegmentScope, expression: Expression): StringColumnView | undefined {
  if (expression.kind !== 'column') return undefined;
  const source = scope.source(expression.name);
  return source.kind === 'string' && source.column.offsets === 0 && source.column.type === 'STRING' ? source.column : undefined;
}

/** Ranks from 1 on for each id of two dictionaries in ascending order, the same for the same text; 0 for null. */
function mergedRanks(a: readonly (string | null)[], b: readonly (string | null)[]): readonly [Uint32Array, Uint32Array] {
  const ranks = [new Uint32Array(a.length), new Uint32Array(b.length)] as const;
  let [i, j] = [a[0] === null ? 1 : 0, b[0] === null ? 1 : 0];
  for (let rank = 1; i < a.length || j < b.length; rank++) {
    const [x, y] = [a[i], b[j]];
    const takesA = y === undefined || y === null || (x !== undefined && x !== null && x <= y);
    const takesB = x === undefined || x === null || (y !== undefined && y !== null && y <= x);
    if (takesA) ranks[0][i++] = rank;
    if (takesB) ranks[1][j++] = rank;
  }
  return ranks;
}
