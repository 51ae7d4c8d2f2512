// Lists that grow in place while an expression appends to them row by row.

import { own } from '../../base/names.js';
import { inferType, type TypeOf } from '../../expression/expression-type.js';
import { asArray, compareElements, refuseLength } from '../../expression/functions/array-value.js';
import { convert, type Value } from '../../expression/value.js';
import type { Expression } from '../../model/expression.js';
import { type ColumnType, elementType, isArrayType } from '../../model/schema.js';
import { sizeOf } from './value-size.js';

/** Functions that make a longer list of a list, and what they add to it; a fold that is one of them needs no new list for each row. */
const ADDED: Readonly<Record<string, (value: Value) => readonly Value[] | null>> = {
  array_append: (value) => [value],
  array_concat: asArray,
  array_set_add: (value) => [value],
  array_set_add_all: asArray,
};

/** A fold that adds what a field holds to the accumulator. */
export interface ListFold {
  readonly function: string;
  readonly field: string;
  /** The type that every element of its result has. */
  readonly element: ColumnType;
}

/** Undefined for every other fold, and for one whose elements may be of several types: these have no order. */
export function listFoldOf(fold: Expression, accumulator: string, typeOf: TypeOf): ListFold | undefined {
  if (fold.kind !== 'call' || !Object.hasOwn(ADDED, fold.function)) return undefined;
  const [list, added] = fold.arguments;
  if (list?.kind !== 'column' || list.name !== accumulator || added?.kind !== 'column' || added.name === accumulator) return undefined;
  const type = inferType(fold, typeOf);
  return type === null || !isArrayType(type) ? undefined : { function: fold.function, field: added.name, element: elementType(type) };
}

/** Smallest number of waiting values before a set is put in order again. */
const WAITING_MIN = 64;

/**
 * A list that grows in place, with the bytes that its values take. It gives what its function would, called for each row:
 * that converts all elements to one type.
 */
export class GrowingList {
  readonly #function: string;
  readonly #element: ColumnType;
  readonly #isSet: boolean;
  #elements: Value[];
  #bytes = 0;
  /** Sets only: number of leading elements that are sorted and distinct. */
  #settled = 0;
  /** Whether somebody else may hold the elements. */
  #isLent = false;

  constructor({ function: name, element }: Pick<ListFold, 'function' | 'element'>, elements: readonly Value[]) {
    this.#function = name;
    this.#element = element;
    this.#isSet = name.startsWith('array_set');
    this.#elements = [];
    for (const element of elements) this.#push(element);
    if (!this.#isSet) this.#settled = this.#elements.length;
  }

  /** An upper bound until the elements were asked for. */
  get bytes(): number {
    return 8 + this.#bytes;
  }

  /** False when the function gives null: nothing was added. */
  add(value: Value): boolean {
    const added = own(ADDED, this.#function)?.(value) ?? null;
    if (added === null) return false;
    refuseLength(this.#function, this.#elements.length + added.length);
    if (this.#isLent) this.#elements = [...this.#elements];
    this.#isLent = false;
    for (const element of added) this.#push(element);
    if (this.#isSet && this.#elements.length > 2 * this.#settled + WAITING_MIN) this.#settle();
    return true;
  }

  /** The elements as the function returns them; not to be changed. */
  elements(): readonly Value[] {
    this.#settleAll();
    this.#isLent = true;
    return this.#elements;
  }

  /** Exact, unlike `bytes`. */
  measuredBytes(): number {
    this.#settleAll();
    return this.bytes;
  }

  #settleAll(): void {
    if (this.#isSet && this.#settled < this.#elements.length) this.#settle();
  }

  #push(added: Value): void {
    const element = convert(added, this.#element);
    if (this.#isSet && this.#isSettled(element)) return;
    this.#elements.push(element);
    this.#bytes += sizeOf(element);
  }

  /** Whether it is among the values in front. */
  #isSettled(element: Value): boolean {
    let low = 0;
    let high = this.#settled;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const order = compareElements(this.#elements[middle] ?? null, element);
      if (order === 0) return true;
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    return false;
  }

  #settle(): void {
    const sorted = this.#elements.sort(compareElements);
    this.#elements = sorted.filter((element, index) => index === 0 || compareElements(sorted[index - 1] ?? null, element) !== 0);
    this.#bytes = this.#elements.reduce((sum: number, element) => sum + sizeOf(element), 0);
    this.#settled = this.#elements.length;
  }
}
