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

/** `items.flatMap(of)` for lists that every query makes: V8 adds each item of that through its runtime. */
export function flatMapped<Item, Part>(items: readonly Item[], of: (item: Item, index: number) => readonly Part[]): Part[] {
  const parts: Part[] = [];
  for (let index = 0; index < items.length; index++) {
    const made = of(items[index] as Item, index);
    for (let at = 0; at < made.length; at++) parts.push(made[at] as Part);
  }
  return parts;
}
