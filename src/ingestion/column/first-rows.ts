// Tells whether rows are picked from among others.

/** Whether no row before the last one is left out: rows ascend. */
export function areFirstRows({ rows, count }: { readonly rows: Int32Array; readonly count: number }): boolean {
  return count === 0 || rows[count - 1] === count - 1;
}
