import type { Random } from '../random.js';

/**
 * Expressions of native queries, in which every function means the same to both: what functions give for odd arguments is
 * compared by the kind `expressions`.
 */
const TEXTS = [
  'upper(k)',
  "concat(k, 'x')",
  'lower(mv)',
  "replace(mv2, 'a', 'b')",
  "nvl(k, 'none')",
  'substring(s, 1, 2)',
  "if(n > 2, k, 'few')",
  'reverse(b)',
] as const;
/** Expressions of numbers, and their types. */
const NUMBERS: readonly (readonly [expression: string, type: 'LONG' | 'DOUBLE'])[] = [
  ['n + 1', 'LONG'],
  ['x * 2', 'DOUBLE'],
  ['-n', 'LONG'],
  ['n * id', 'LONG'],
  ['abs(x)', 'DOUBLE'],
  ['if(n > 2, x, 0.5)', 'DOUBLE'],
  ['nvl(n, -1)', 'LONG'],
  ['id % 7', 'LONG'],
  ['floor(x)', 'DOUBLE'],
  ['strlen(k)', 'LONG'],
];
const CONDITIONS = [
  'n > 3',
  'x <= 0.5 || n == 2',
  "k == 'a'",
  "k != 'a' && n < 5",
  'isnull(k)',
  '!isnull(n)',
  "like(k, 'a%')",
  'id % 2 == 0',
  "timestamp_extract(__time, 'MONTH') > 6",
  "array_contains(al, 1) && k == 'b'",
] as const;

export const text = (random: Random): string => random.pick(TEXTS);
/** @param isTyped  whether it says its type, which is that of its values: docs/differences.md */
export function number(random: Random, isTyped = false): { readonly expression: string; readonly outputType?: string } {
  const [expression, outputType] = random.pick(NUMBERS);
  return isTyped ? { expression, outputType } : { expression };
}
export const condition = (random: Random): string => random.pick(CONDITIONS);
