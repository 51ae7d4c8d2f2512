// The quantiles sketches of one thread's groups, as values until they are read.

import { assert } from '../../../base/errors.js';
import type { Address } from '../../../base/layout.js';
import { decodeQuantiles, encodeQuantiles } from '../../../sketch/base64-codec.js';
import { Quantiles } from '../../../sketch/quantiles.js';
import { type Check, ROWS_PER_CHECK } from '../../block/checked-loops.js';
import type { RunContext } from '../../block/context.js';
import type { EncodedStates, GroupStates, StateParts } from '../state-operations.js';
import { type PieceStates, sentPieces, ValuePieces } from './value-pieces.js';

/**
 * States of groups as what came of each segment. They are merged when they are read, in the order of the segments, so that the answer does not
 * depend on which thread met which segment.
 */
export class QuantileGroups implements GroupStates {
  readonly #context: RunContext;
  readonly #k: number;
  readonly #fraction: number | undefined;
  readonly #charge: (bytes: number) => void;
  #pieces: ValuePieces;
  #charged = 0;

  /**
   * @param fraction  that of the quantile which is the value of a group; undefined: its value is another one
   * @param charge    told of every byte that is kept; throws when there are too many
   */
  constructor(
    context: RunContext,
    { k, fraction }: { readonly k: number; readonly fraction?: number | undefined },
    charge: (bytes: number) => void,
  ) {
    this.#context = context;
    this.#k = k;
    this.#fraction = fraction;
    this.#charge = charge;
    this.#pieces = new ValuePieces(k);
  }

  get isEmpty(): boolean {
    return this.#pieces.count === 0;
  }

  add(group: number, order: number, state: unknown): void {
    this.#pieces.addSketch(group, order, state as Quantiles);
    this.#chargeMore();
  }

  addPieces(given: ValuePieces, groupOf: Uint32Array): void {
    this.#context.check();
    this.#pieces.addAll(given, groupOf);
    this.#chargeMore();
  }

  change(): void {
    assert(false, 'quantiles are merged in the order of the segments');
  }

  reader(): (group: number) => Quantiles | undefined {
    const { order, starts } = this.#byGroup();
    return this.#readerOf(order, starts);
  }

  #readerOf(order: Uint32Array, starts: Uint32Array): (group: number) => Quantiles | undefined {
    const pieces = this.#pieces;
    return (group) => {
      const [from = 0, to = from] = [starts[group], starts[group + 1]];
      if (from === to) return undefined;
      const listed = order.subarray(from, to);
      const state = new Quantiles(this.#k);
      for (const piece of inOrder(listed, pieces.orders)) {
        const sketch = pieces.sketches.get(piece);
        if (sketch !== undefined) state.merge(sketch);
        else addSorted(state, pieces.values, pieces.starts[piece] ?? 0, pieces.endOf(piece));
      }
      return state;
    };
  }

  /** Quantiles of groups: of as few values as a sketch keeps as they are, the values of the ranks; of all others what sketches say. */
  numbers(groups: Uint32Array, check: Check): Float64Array | undefined {
    const fraction = this.#fraction;
    if (fraction === undefined) return undefined;
    const pieces = this.#pieces;
    const { order, starts } = this.#byGroup();
    const read = this.#readerOf(order, starts);
    const { values, starts: begins, valueCount, count: pieceCount, sketches } = pieces;
    const out = new Float64Array(groups.length);
    const few = new Float64Array(2 * this.#k);
    for (let index = 0; index < groups.length; index++) {
      if (index % GROUPS_PER_CHECK === 0) check();
      const group = groups[index] ?? 0;
      const [from, to] = [starts[group] ?? 0, starts[group + 1] ?? 0];
      let count = 0;
      for (let at = from; at < to && count < few.length; at++) {
        const piece = order[at] ?? 0;
        const end = piece + 1 < pieceCount ? (begins[piece + 1] ?? 0) : valueCount;
        let value = begins[piece] ?? 0;
        if (count + end - value >= few.length || (sketches.size > 0 && sketches.has(piece))) count = few.length;
        else while (value < end) few[count++] = values[value++] ?? 0;
      }
      if (count === 0 || count >= few.length) {
        out[index] = read(group)?.quantile(fraction) ?? Number.NaN;
        continue;
      }
      inOrderOf(few, count);
      out[index] = few[Math.min(count - 1, Math.max(0, Math.ceil(fraction * count) - 1))] ?? Number.NaN;
    }
    return out;
  }

  parts(): PieceStates {
    return this.#pieces.parts();
  }

  join(parts: StateParts, groupOf: Address, groupCount: number): void {
    const numbers = this.#context.memory.u32(groupOf, groupCount).slice();
    if (parts.kind === 'pieces') this.addPieces(sentPieces(parts), numbers);
    else if (parts.kind === 'encoded')
      parts.groups.forEach((group, index) =>
        this.add(numbers[group] ?? 0, parts.orders[index] ?? 0, decodeQuantiles(parts.states[index] ?? '')),
      );
  }

  handOver(): readonly Address[] {
    return [];
  }

  free(): void {
    this.#pieces = new ValuePieces(this.#k);
  }

  /** Places of pieces, those of a group behind each other as they came. */
  #byGroup(): { readonly order: Uint32Array; readonly starts: Uint32Array } {
    const { count, groups } = this.#pieces;
    let most = 0;
    for (let piece = 0; piece < count; piece++) most = Math.max(most, (groups[piece] ?? 0) + 1);
    const starts = new Uint32Array(most + 2);
    // Counted two places further on, so that placing them leaves each start where it belongs.
    for (let piece = 0; piece < count; piece++) {
      const at = (groups[piece] ?? 0) + 2;
      if (at < starts.length) starts[at] = (starts[at] ?? 0) + 1;
    }
    for (let at = 1; at < starts.length; at++) starts[at] = (starts[at] ?? 0) + (starts[at - 1] ?? 0);
    const order = new Uint32Array(count);
    for (let piece = 0; piece < count; piece++) {
      const at = (groups[piece] ?? 0) + 1;
      const place = starts[at] ?? 0;
      order[place] = piece;
      starts[at] = place + 1;
    }
    return { order, starts };
  }

  #chargeMore(): void {
    const { bytes } = this.#pieces;
    if (bytes === this.#charged) return;
    this.#charge(bytes - this.#charged);
    this.#charged = bytes;
  }
}

/** Groups whose values are found in about a millisecond, where they are sketches. */
const GROUPS_PER_CHECK = 16;
/** More are sorted sooner by what JavaScript has. */
const INSERTED_MAX = 24;

/** Puts the first values in order, -0 before 0; those of one piece are already. */
function inOrderOf(values: Float64Array, count: number): void {
  let at = 1;
  while (at < count && isInOrder(values[at - 1] ?? 0, values[at] ?? 0)) at++;
  if (at >= count) return;
  if (count > INSERTED_MAX) {
    values.subarray(0, count).sort();
    return;
  }
  for (; at < count; at++) {
    const value = values[at] ?? 0;
    let place = at;
    for (; place > 0 && !isInOrder(values[place - 1] ?? 0, value); place--) values[place] = values[place - 1] ?? 0;
    values[place] = value;
  }
}

function isInOrder(a: number, b: number): boolean {
  return a < b || (a === b && (a !== 0 || 1 / a <= 1 / b));
}

/** Values of a piece, ascending, as those of a sketch are that has been sent. */
function addSorted(state: Quantiles, values: Float64Array, from: number, to: number): void {
  // The order shows where the buffer becomes full within them.
  if (to - from < state.room) {
    state.addFew(values, from, to);
    return;
  }
  state.addAscending(values.slice(from, to).sort(), 0, to - from);
}

/** Pieces of a group by the place of their segment; those of one segment as they came. */
function inOrder(listed: Uint32Array, orders: Uint32Array): Uint32Array {
  const isAscending = listed.every((piece, at) => at === 0 || (orders[listed[at - 1] ?? 0] ?? 0) <= (orders[piece] ?? 0));
  return isAscending ? listed : listed.toSorted((a, b) => (orders[a] ?? 0) - (orders[b] ?? 0) || a - b);
}

/** The states as the texts that spilled groups are written with. */
export function encodedPieces(context: RunContext, parts: PieceStates): EncodedStates {
  const [groups, orders, states]: [number[], number[], string[]] = [[], [], []];
  const pieces = sentPieces(parts);
  for (let piece = 0; piece < pieces.count; piece++) {
    if (piece % ROWS_PER_CHECK === 0) context.check();
    const state = pieces.sketches.get(piece) ?? new Quantiles(parts.k);
    if (!pieces.sketches.has(piece)) addSorted(state, pieces.values, pieces.starts[piece] ?? 0, pieces.endOf(piece));
    groups.push(pieces.groups[piece] ?? 0);
    orders.push(pieces.orders[piece] ?? 0);
    states.push(encodeQuantiles(state));
  }
  return { kind: 'encoded', groups, orders, states };
}
