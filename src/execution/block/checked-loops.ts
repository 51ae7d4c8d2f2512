// Loops over rows that look at deadline and cancellation every so many rows.

/** Throws when the query was cancelled or its time is over. */
export type Check = () => void;

/** Rows between two looks at whether the query still runs, in loops of JavaScript: about a millisecond of work. */
export const ROWS_PER_CHECK = 4096;

/** Rows [0, count) in pieces [start, end), with a look before each. */
export function checkedLoop(count: number, check: Check, piece: (start: number, end: number) => void): void {
  for (let start = 0; start < count; start += ROWS_PER_CHECK) {
    check();
    piece(start, Math.min(count, start + ROWS_PER_CHECK));
  }
}

/** The numbers `first`, `first + 1`, ... */
export function ascending(count: number, check: Check, first = 0): Uint32Array {
  const numbers = new Uint32Array(count);
  checkedLoop(count, check, (start, end) => {
    for (let at = start; at < end; at++) numbers[at] = first + at;
  });
  return numbers;
}
