// Functions over lists that are too long to be passed as arguments.

/*
 * Lists whose length comes from outside. To hand them to a function as arguments (`push(...list)`, `Math.max(...list)`)
 * ends with a full stack from some ten thousand items on.
 */

/** Adds the items to the end of a list. */
export function append<Item>(list: Item[], items: Iterable<Item>): void {
  for (const item of items) list.push(item);
}

/** The smallest number; `Infinity` of none. */
export function lowest(numbers: Iterable<number>): number {
  let least = Infinity;
  for (const number of numbers) least = Math.min(least, number);
  return least;
}

/** The greatest number; `-Infinity` of none. */
export function highest(numbers: Iterable<number>): number {
  let most = -Infinity;
  for (const number of numbers) most = Math.max(most, number);
  return most;
}
