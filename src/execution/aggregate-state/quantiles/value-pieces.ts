// Values of groups in pieces, those of one segment each, from which quantiles sketches are made.

import { Quantiles } from '../../../sketch/quantiles.js';

/** Values of groups, those of a segment in each piece, and sketches in place of many. */
export interface PieceStates {
  readonly kind: 'pieces';
  readonly k: number;
  readonly groups: Uint32Array;
  readonly orders: Uint32Array;
  /** Places where the values of each piece begin. */
  readonly starts: Uint32Array;
  readonly values: Float64Array;
  readonly sketches: readonly { readonly piece: number; readonly bytes: Uint8Array }[];
}

const FIRST_PIECES = 64;

/**
 * Pieces of groups in typed arrays: the values of a group that came of a segment, while they are fewer than a sketch keeps as they
 * are; the sketch itself where there are more.
 */
export class ValuePieces {
  readonly k: number;
  groups: Uint32Array = new Uint32Array(FIRST_PIECES);
  orders: Uint32Array = new Uint32Array(FIRST_PIECES);
  /** Places where the values of pieces begin; those of the last end at `valueCount`. */
  starts: Uint32Array = new Uint32Array(FIRST_PIECES);
  values: Float64Array = new Float64Array(FIRST_PIECES);
  readonly sketches = new Map<number, Quantiles>();
  count = 0;
  valueCount = 0;
  #sketchBytes = 0;

  constructor(k: number) {
    this.k = k;
  }

  get bytes(): number {
    return this.groups.byteLength * 3 + this.values.byteLength + this.#sketchBytes;
  }

  /** Values [from, to) of `values`, in any order; NaN is left out. */
  add(group: number, order: number, values: Float64Array, from: number, to: number): void {
    this.#makeRoom(1, to - from);
    this.#open(group, order);
    for (let at = from; at < to; at++) {
      const value = values[at] ?? 0;
      if (!Number.isNaN(value)) this.values[this.valueCount++] = value;
    }
  }

  /** Values of groups 0, 1, …, those of each from `starts` on to where those of the next one begin, none of them NaN; of a group without any there is no piece. */
  addGroups(starts: Uint32Array, order: number, values: Float64Array): void {
    const groupCount = Math.max(0, starts.length - 1);
    this.#makeRoom(groupCount, starts[groupCount] ?? 0);
    const first = this.valueCount;
    for (let group = 0; group < groupCount; group++) {
      const from = starts[group] ?? 0;
      if (from === starts[group + 1]) continue;
      this.groups[this.count] = group;
      this.orders[this.count] = order;
      this.starts[this.count++] = first + from;
    }
    const count = starts[groupCount] ?? 0;
    this.values.set(values.subarray(0, count), first);
    this.valueCount = first + count;
  }

  /** The pieces of other groups. @param groupOf  number here of each group there */
  addAll(given: ValuePieces, groupOf: Uint32Array): void {
    this.#makeRoom(given.count, given.valueCount);
    const [count, first] = [this.count, this.valueCount];
    for (let piece = 0; piece < given.count; piece++) {
      this.groups[count + piece] = groupOf[given.groups[piece] ?? 0] ?? 0;
      this.starts[count + piece] = first + (given.starts[piece] ?? 0);
    }
    this.orders.set(given.orders.subarray(0, given.count), count);
    this.values.set(given.values.subarray(0, given.valueCount), first);
    for (const [piece, sketch] of given.sketches) {
      this.sketches.set(count + piece, sketch);
      this.#sketchBytes += sketch.bytes;
    }
    this.count += given.count;
    this.valueCount += given.valueCount;
  }

  /** Makes room for further pieces, and values of these. */
  #makeRoom(pieces: number, values: number): void {
    const most = this.valueCount + values;
    if (most > this.values.length) this.values = larger(this.values, new Float64Array(Math.max(this.values.length * 2, most)));
    if (this.count + pieces <= this.groups.length) return;
    const room = Math.max(this.count * 2, this.count + pieces);
    this.groups = larger(this.groups, new Uint32Array(room));
    this.orders = larger(this.orders, new Uint32Array(room));
    this.starts = larger(this.starts, new Uint32Array(room));
  }

  addSketch(group: number, order: number, sketch: Quantiles): void {
    const values = sketch.buffered();
    if (values !== undefined) {
      this.add(group, order, values, 0, values.length);
      return;
    }
    this.sketches.set(this.count, sketch);
    this.#sketchBytes += sketch.bytes;
    this.#makeRoom(1, 0);
    this.#open(group, order);
  }

  endOf(piece: number): number {
    return piece + 1 < this.count ? (this.starts[piece + 1] ?? 0) : this.valueCount;
  }

  parts(): PieceStates {
    return {
      kind: 'pieces',
      k: this.k,
      groups: this.groups.slice(0, this.count),
      orders: this.orders.slice(0, this.count),
      starts: this.starts.slice(0, this.count),
      values: this.values.slice(0, this.valueCount),
      sketches: Array.from(this.sketches, ([piece, sketch]) => ({ piece, bytes: sketch.encode() })),
    };
  }

  #open(group: number, order: number): void {
    this.groups[this.count] = group;
    this.orders[this.count] = order;
    this.starts[this.count] = this.valueCount;
    this.count++;
  }
}

function larger<Values extends Uint32Array | Float64Array>(values: Values, room: Values): Values {
  room.set(values);
  return room;
}

/** The pieces of another thread. */
export function sentPieces({ k, groups, orders, starts, values, sketches }: PieceStates): ValuePieces {
  const pieces = new ValuePieces(k);
  pieces.groups = groups;
  pieces.orders = orders;
  pieces.starts = starts;
  pieces.values = values;
  pieces.count = groups.length;
  pieces.valueCount = values.length;
  for (const { piece, bytes } of sketches) pieces.sketches.set(piece, Quantiles.decode(bytes));
  return pieces;
}
