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

/** Types of elements that are equal where they are the same key of a `Set`; of all others only comparing tells. */
const KEYED: ReadonlySet<ColumnType> = new Set(['STRING', 'LONG', 'DOUBLE', 'FLOAT']);
/** Up to so many elements are looked through, which takes less time and memory than a `Set` of them. */
const FEW = 8;
/** Smallest number of waiting values before a set of others is put in order again. */
const WAITING_MIN = 64;

/**
 * A list that grows in place, with the bytes that its values take. It gives what its function would, called for each row:
 * that converts all elements to one type.
 */
export class GrowingList {
  readonly #function: string;
  readonly #element: ColumnType;
  readonly #isSet: boolean;
  readonly #isKeyed: boolean;
  #elements: Value[];
  #bytes = 0;
  /** The elements of a keyed set that has more than a few. */
  #known: Set<Value> | undefined;
  /** Sets only: number of leading elements that are sorted and distinct; all are distinct where they are keyed. */
  #settled = 0;
  /** Whether somebody else may hold the elements. */
  #isLent = false;

  constructor({ function: name, element }: Pick<ListFold, 'function' | 'element'>, elements: readonly Value[]) {
    this.#function = name;
    this.#element = element;
    this.#isSet = isSetFunction(name);
    this.#isKeyed = KEYED.has(element);
    this.#elements = [];
    for (const element of elements) this.#push(element);
    if (!this.#isSet) this.#settled = this.#elements.length;
  }

  /** An upper bound until the elements were asked for. */
  get bytes(): number {
    return 8 + this.#bytes;
  }

  /** Whether a fold adds to lists of this kind. */
  isLike({ function: name, element }: Pick<ListFold, 'function' | 'element'>): boolean {
    return isSetFunction(name) === this.#isSet && element === this.#element;
  }

  /** False when the function gives null: nothing was added. */
  add(value: Value): boolean {
    const added = own(ADDED, this.#function)?.(value) ?? null;
    if (added === null) return false;
    this.addAll(added);
    return true;
  }

  /** Adds values in their order. */
  addAll(values: readonly Value[]): void {
    if (!this.#isSet) refuseLength(this.#function, this.#elements.length + values.length);
    if (this.#isLent) this.#elements = [...this.#elements];
    this.#isLent = false;
    for (const value of values) this.#push(value);
    if (this.#isSet && !this.#isKeyed && this.#elements.length > 2 * this.#settled + WAITING_MIN) this.#settle();
    if (this.#isSet) refuseLength(this.#function, this.#elements.length);
  }

  /** The elements as the function returns them; not to be changed. */
  elements(): readonly Value[] {
    this.#settleAll();
    this.#isLent = true;
    return this.#elements;
  }

  /** The elements in any order, sets perhaps with equal ones; not to be kept, as the list goes on growing. */
  unsettled(): readonly Value[] {
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
    if (this.#isSet && this.#has(element)) return;
    this.#elements.push(element);
    this.#known?.add(element);
    this.#bytes += sizeOf(element);
  }

  /** Whether a keyed set has it; whether another has it among the values in front. */
  #has(element: Value): boolean {
    if (!this.#isKeyed) return this.#isSettled(element);
    if (this.#elements.length <= FEW) return this.#elements.includes(element);
    this.#known ??= new Set(this.#elements);
    return this.#known.has(element);
  }

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
    const sorted = this.#isKeyed ? inOrder(this.#elements, this.#element) : this.#elements.sort(compareElements);
    this.#settled = sorted.length;
    this.#elements = sorted;
    if (this.#isKeyed) return;
    this.#elements = sorted.filter((element, index) => index === 0 || compareElements(sorted[index - 1] ?? null, element) !== 0);
    this.#bytes = this.#elements.reduce((sum: number, element) => sum + sizeOf(element), 0);
    this.#settled = this.#elements.length;
  }
}

/** Distinct elements in the order of `compareElements`, which need not be asked for strings and LONGs. */
function inOrder(elements: Value[], type: ColumnType): Value[] {
  if (type !== 'STRING' && type !== 'LONG') return elements.sort(compareElements);
  const values = elements.filter((element) => element !== null);
  const sorted: Value[] = type === 'STRING' ? values.sort() : Array.from(BigInt64Array.from(values as bigint[]).sort());
  if (sorted.length < elements.length) sorted.unshift(null);
  return sorted;
}

/** Whether what a function makes is a set, whose elements are distinct and in their order. */
export function isSetFunction(name: string): boolean {
  return name.startsWith('array_set');
}
