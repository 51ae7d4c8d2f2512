// Records a statement's planning, so that what it made can be made again of other literals.

import { own } from '../../base/names.js';
import { Filler } from './filler.js';

/*
 * Literals of a statement that is recorded are *places*: fields that planning may carry along, compute with and ask about, and whose
 * every answer is kept. What was made holds for other literals of which all questions have the same answers: a value that nobody
 * asked about has decided nothing. Whoever reads a place as if it were a plain field asks for the whole value, and is safe.
 */

/** The answer to a question about data with places. */
type Answer = string | number | bigint | boolean | null | undefined;

/** Data with places, or a place alone. */
export type Given = Filler | number;

/** Something that was done with literals, in order. Each `compute` makes the value of the next place. */
export type Step =
  | { readonly kind: 'compute'; readonly data: Given; readonly compute: (data: never) => unknown }
  | { readonly kind: 'ask'; readonly data: Given; readonly question: (data: never) => Answer; readonly answer: Answer }
  /** Looked at as it is: it decided anything. */
  | { readonly kind: 'same'; readonly place: number; readonly value: unknown }
  /** Values that were compared with each other, and with constants. */
  | { readonly kind: 'alike'; readonly places: readonly number[]; readonly constants: ReadonlySet<string>; readonly answer: string };

/** Stands for a value while the object that carries it is made. */
const UNSEEN: unique symbol = Symbol('a value that is not looked at');

let recording: Recording | null = null;

/** The planning of one statement. The first places are its literals. */
export class Recording {
  readonly steps: Step[] = [];
  readonly #values: unknown[];
  readonly #places = new WeakMap<object, Map<string, number>>();
  readonly #same = new Set<number>();
  readonly #compared = new Set<number>();
  readonly #constants = new Set<string>();
  #isAsking = false;
  #hasLooked = false;
  #isOver = false;
  #isUseless = false;

  /** @param literals  their values */
  constructor(literals: readonly unknown[]) {
    this.#values = [...literals];
  }

  /** Whether an object was looked at as it is: no other literals have it. */
  get isUseless(): boolean {
    return this.#isUseless;
  }

  get values(): readonly unknown[] {
    return this.#values;
  }

  /** Records what is planned meanwhile, all of it at once. */
  during<Result>(plan: () => Result): Result {
    recording = this;
    try {
      return plan();
    } finally {
      recording = null;
      this.#isOver = true;
      this.#compareAll();
    }
  }

  /** Place of an object's field, if it is one. */
  placeOf(node: object, field: string): number | undefined {
    return this.#places.get(node)?.get(field);
  }

  /** Makes a field of an object a place. */
  put(node: object, field: string, place: number): void {
    let fields = this.#places.get(node);
    if (fields === undefined) {
      fields = new Map();
      this.#places.set(node, fields);
    }
    fields.set(field, place);
    Object.defineProperty(node, field, { get: () => this.#look(place), enumerable: true, configurable: true });
  }

  /** An object that was made with `UNSEEN` in some fields. */
  carrying<Node extends object>(node: Node, place: number): Node {
    let count = 0;
    for (const field of Object.keys(node)) {
      if (this.placeOf(node, field) !== undefined || own(node as Record<string, unknown>, field) !== UNSEEN) continue;
      this.put(node, field, place);
      count++;
    }
    if (count === 0) throw new Error('an object was to hold the value of a literal, and does not');
    return node;
  }

  /** A copy of one with the fields of another, places as places. */
  merged(one: object, other: object): object {
    const copy = {};
    for (const field of [...Object.keys(one), ...Object.keys(other)]) {
      const source = Object.hasOwn(other, field) ? other : one;
      const place = this.placeOf(source, field);
      const value = place === undefined ? own(source as Record<string, unknown>, field) : undefined;
      if (place === undefined) Object.defineProperty(copy, field, { value, enumerable: true, configurable: true, writable: true });
      else this.put(copy, field, place);
    }
    return copy;
  }

  /** A question that looks at no place has one answer for all literals. */
  ask<Data>(data: Data, question: (data: Data) => Answer): Answer {
    this.#isAsking = true;
    this.#hasLooked = false;
    let answer: Answer;
    try {
      answer = this.#unrecorded(() => question(data));
    } finally {
      this.#isAsking = false;
    }
    if (!this.#hasLooked) return answer;
    const filler = Filler.of(data, this);
    // It looked at something that is not of its data.
    if (filler === null) return question(data);
    this.steps.push({ kind: 'ask', data: filler, question: question as (data: never) => Answer, answer });
    return answer;
  }

  /** A question about the value of a place alone. */
  askOf<Value>(place: number, question: (value: Value) => Answer): Answer {
    const answer = this.#unrecorded(() => question(this.#values[place] as Value));
    this.steps.push({ kind: 'ask', data: place, question: question as (data: never) => Answer, answer });
    return answer;
  }

  /** A new place. */
  compute<Data>(data: Given, compute: (data: Data) => unknown): number {
    const value = this.#unrecorded(() => compute(givenOf(data, this.#values) as Data));
    this.steps.push({ kind: 'compute', data, compute: compute as (data: never) => unknown });
    return this.#values.push(value) - 1;
  }

  /** A value as a part of a key, of which only is asked whether it equals others. */
  compared(place: number): unknown {
    this.#compared.add(place);
    return this.#values[place];
  }

  /** A constant that places are compared with. */
  constant(key: string): void {
    this.#constants.add(key);
  }

  #look(place: number): unknown {
    const value = this.#values[place];
    if (this.#isAsking) this.#hasLooked = true;
    if (this.#isAsking || this.#same.has(place)) return value;
    if (this.#isOver) throw new Error('a literal was looked at after planning');
    this.#same.add(place);
    if (typeof value === 'object' && value !== null) this.#isUseless = true;
    this.steps.push({ kind: 'same', place, value });
    return value;
  }

  #compareAll(): void {
    if (this.#compared.size === 0) return;
    const places = [...this.#compared];
    this.steps.push({ kind: 'alike', places, constants: this.#constants, answer: likeness(this.#values, places, this.#constants) });
  }

  #unrecorded<Result>(work: () => Result): Result {
    recording = null;
    try {
      return work();
    } finally {
      recording = this;
    }
  }
}

/** @param values  by place */
export function givenOf(data: Given, values: readonly unknown[]): unknown {
  return typeof data === 'number' ? values[data] : data.fill(values);
}

/** Equalities among the values, and with constants. */
export function likeness(values: readonly unknown[], places: readonly number[], constants: ReadonlySet<string>): string {
  const first = new Map<string, number>();
  return places
    .map((place, index) => {
      const key = leafKey(values[place]);
      if (!first.has(key)) first.set(key, index);
      return constants.has(key) ? `=${key}` : first.get(key);
    })
    .join();
}

/** A value, or a list of values, as a part of a key: equal for equal values of a type. */
export function leafKey(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(leafKey).join()}]`;
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'number') return Object.is(value, -0) ? '-0f' : `${value}f`;
  return typeof value === 'object' && value !== null ? '' : String(value);
}

/** Whether a planning is recorded now. */
export function isRecorded(): boolean {
  return recording !== null;
}

/** Answers a question about data, whose answer must be the same for other literals. It looks at nothing else that hangs on literals. */
export function ask<Data, Reply extends Answer>(data: Data, question: (data: Data) => Reply): Reply {
  return recording === null ? question(data) : (recording.ask(data, question) as Reply);
}

/** Computes a value of data and makes an object of it, by `put`, which does nothing with the value but place it in fields of the object. */
export function placed<Data, Value, Node extends object>(data: Data, compute: (data: Data) => Value, put: (value: Value) => Node): Node {
  const filler = recording === null ? null : Filler.of(data, recording);
  if (recording === null || filler === null) return put(compute(data));
  return recording.carrying(put(UNSEEN as Value), recording.compute(filler, compute));
}

/** Makes an object of the value of a field, by `put`, which does nothing with the value but place it in fields of the object. */
export function carried<Source extends object, Field extends keyof Source & string, Node extends object>(
  source: Source,
  field: Field,
  put: (value: Source[Field]) => Node,
): Node {
  const place = recording?.placeOf(source, field);
  if (recording === null || place === undefined) return put(source[field]);
  return recording.carrying(put(UNSEEN as Source[Field]), place);
}

/** Answers a question about a field, like `ask`. */
export function askOf<Source extends object, Field extends keyof Source & string, Reply extends Answer>(
  source: Source,
  field: Field,
  question: (value: Source[Field]) => Reply,
): Reply {
  const place = recording?.placeOf(source, field);
  return recording === null || place === undefined ? question(source[field]) : (recording.askOf(place, question) as Reply);
}

/** Computes a value of a field, like `placed`. */
export function placedOf<Source extends object, Field extends keyof Source & string, Value, Node extends object>(
  source: Source,
  field: Field,
  compute: (value: Source[Field]) => Value,
  put: (value: Value) => Node,
): Node {
  const place = recording?.placeOf(source, field);
  if (recording === null || place === undefined) return put(compute(source[field]));
  return recording.carrying(put(UNSEEN as Value), recording.compute(place, compute));
}

/** A copy with other values of some fields; the places of both stay places. */
export function changed<Node extends object>(node: Node, changes: Partial<Node>): Node {
  return recording === null ? { ...node, ...changes } : (recording.merged(node, changes) as Node);
}

/** One object with the fields of both; their places stay places. */
export function merged<One extends object, Other extends object>(one: One, other: Other): One & Other {
  return recording === null ? Object.assign({}, one, other) : (recording.merged(one, other) as One & Other);
}

/**
 * A field as a part of a key of which is asked only whether it equals other keys.
 * @param keyOf  the part for a name and a value
 */
export function keyPart(node: object, field: string, keyOf: (field: string, value: unknown) => string): string {
  const place = recording?.placeOf(node, field);
  if (recording !== null && place !== undefined) return keyOf(field, recording.compared(place));
  const value = own(node as Record<string, unknown>, field);
  if (recording !== null && (typeof value !== 'object' || value === null || Array.isArray(value))) recording.constant(leafKey(value));
  return keyOf(field, value);
}
