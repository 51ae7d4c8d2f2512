// Names of the columns that a plan computes.

import type { VirtualColumn } from '../../../model/aggregator.js';
import { nativeType } from '../parse/sql-type.js';
import { type Bound, boundKey, columnNames, settledType, toExpression } from '../relation/bound.js';

/** Names for columns that a plan computes, none of them a column of the source. */
export class ComputedColumns {
  readonly columns: { readonly name: string; readonly bound: Bound }[] = [];
  readonly #names = new Map<string, string>();
  readonly #prefix: string;

  /** `taken`: what is read beside these columns. */
  constructor(prefix: string, taken: readonly Bound[]) {
    const names = new Set<string>();
    for (const bound of taken) columnNames(bound, names);
    let free = prefix;
    while (isBegun(names, free)) free = `_${free}`;
    this.#prefix = free;
  }

  /** The column an expression is: the one it names, or one that is computed, each expression once. */
  nameOf(bound: Bound): string {
    if (bound.kind === 'column') return bound.name;
    const key = boundKey(bound);
    let name = this.#names.get(key);
    if (name === undefined) {
      name = `${this.#prefix}${this.columns.length}`;
      this.#names.set(key, name);
      this.columns.push({ name, bound });
    }
    return name;
  }

  asVirtualColumns(): readonly VirtualColumn[] {
    return this.columns.map(({ name, bound }) => ({
      name,
      expression: toExpression(bound),
      outputType: nativeType(settledType(bound.type)),
    }));
  }
}

function isBegun(names: ReadonlySet<string>, prefix: string): boolean {
  for (const name of names) if (name.startsWith(prefix)) return true;
  return false;
}
