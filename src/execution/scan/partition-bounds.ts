// Bounds of the partitions of a window, which go from segment to segment.

import type { Scalar } from '../../expression/value.js';
import type { SortKey } from '../../model/plan.js';
import type { DictionaryView } from '../../storage/view.js';
import { textAt } from '../block/dictionary.js';
import type { SegmentScope } from '../expression/scope.js';
import { compareCells } from '../post/sort.js';
import type { TopRows } from './top-rows.js';

/** Segments of more partitions have no bounds, whose texts are objects. */
const PARTITIONS_MAX = 1 << 14;

/** The partitions of a segment by their number. */
interface Partitions {
  readonly count: number;
  text(number: number): string | null;
  /** All texts; undefined: there is one. */
  bytes(): Uint8Array | undefined;
}

/**
 * For each partition that has as many rows as are wanted, the first sort key of the last of these: rows that come after it
 * are not wanted. A segment of nothing but such rows is not read.
 */
export class PartitionBounds {
  readonly #keys: TopRows['keys'];
  readonly #compare: ReturnType<typeof compareCells>;
  readonly #bounds = new Map<string | null, Scalar>();
  /** Partitions that were looked at last, and the bound of theirs that comes last; undefined: some have none. */
  #last: { readonly bytes: Uint8Array; readonly bound: Scalar | undefined } | undefined;

  /** @param keys  those of the partitions; there are bounds for one key of strings, or none */
  constructor(keys: TopRows['keys'], order: SortKey) {
    this.#keys = keys;
    this.#compare = compareCells(order);
  }

  /** @returns undefined for partitions that have no bounds */
  partitionsOf(scope: SegmentScope): Partitions | undefined {
    const [first, second] = this.#keys;
    if (second !== undefined) return undefined;
    const source = first === undefined ? undefined : scope.source(first.key.column);
    if (source === undefined || source.kind === 'missing') return { count: 1, text: () => null, bytes: () => undefined };
    if (source.kind !== 'string' || source.column.offsets !== 0 || first?.type !== 'STRING') return undefined;
    const { dictionary } = source.column;
    if (dictionary.count > PARTITIONS_MAX) return undefined;
    const { memory } = scope.context;
    return { count: dictionary.count, text: (id) => textAt(memory, dictionary, id), bytes: () => bytesOf(scope, dictionary) };
  }

  /** @param best  the first sort key of no row of the segment comes before it */
  passesOver(partitions: Partitions, best: Scalar): boolean {
    if (this.#bounds.size < partitions.count) return false;
    const bound = this.#lastBound(partitions);
    return bound !== undefined && this.#compare(bound, best) < 0;
  }

  note(text: string | null, bound: Scalar): void {
    const known = this.#bounds.get(text);
    if (known !== undefined && this.#compare(known, bound) <= 0) return;
    this.#bounds.set(text, bound);
    this.#last = undefined;
  }

  /** The bound that comes last among those of some partitions. Segments often have the same. */
  #lastBound({ count, text, bytes: read }: Partitions): Scalar | undefined {
    const bytes = read();
    if (bytes !== undefined && this.#last !== undefined && Buffer.compare(bytes, this.#last.bytes) === 0) return this.#last.bound;
    let last: Scalar | undefined;
    for (let number = 0; number < count; number++) {
      const bound = this.#bounds.get(text(number));
      if (bound === undefined) {
        last = undefined;
        break;
      }
      if (last === undefined || this.#compare(last, bound) < 0) last = bound;
    }
    if (bytes !== undefined) this.#last = { bytes, bound: last };
    return last;
  }
}

/** Offsets and texts of a dictionary, which lie behind each other or apart. */
function bytesOf({ context: { memory } }: SegmentScope, { count, offsets, bytes }: DictionaryView): Uint8Array {
  const ends = memory.u8(offsets, (count + 1) * 4);
  const length = memory.u32(offsets, count + 1)[count] ?? 0;
  const all = new Uint8Array(ends.length + length);
  all.set(ends);
  all.set(memory.u8(bytes, length), ends.length);
  return all;
}
