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
const NUMBERS = ['n + 1', 'x * 2', '-n', 'n * id', 'abs(x)', 'if(n > 2, x, 0.5)', 'nvl(n, -1)', 'id % 7', 'floor(x)', 'strlen(k)'] as const;
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
export const number = (random: Random): string => random.pick(NUMBERS);
export const condition = (random: Random): string => random.pick(CONDITIONS);
