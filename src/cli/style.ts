// Colours and number formats of terminal output.

import colors from 'picocolors';

/** Colours and weights of what people read; plain text where the output is no terminal or NO_COLOR is set. */
export const style = {
  title: colors.bold,
  quiet: colors.dim,
  good: colors.green,
  bad: colors.red,
  accent: colors.cyan,
};

/** `1234567` → `1,234,567`. */
export function withThousands(value: number | bigint): string {
  return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}

/** `0.4 ms`, `12 ms`, `1.25 s`. */
export function durationText(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`;
}

/** `one row`, `2 rows`. */
export function countText(count: number, one: string, many = `${one}s`): string {
  return count === 1 ? `1 ${one}` : `${withThousands(count)} ${many}`;
}
