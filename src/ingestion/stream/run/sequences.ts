// Sequences of the rows that a streaming task reads: each is published as a whole.

import { ServiceError } from '../../../base/errors.js';
import { compareOffsets, type Offsets, STREAM_TRAITS, type StreamKind, type StreamPosition } from '../../../model/stream/offsets.js';
import type { ReadFrom } from '../stream-reader.js';

export interface Sequence {
  readonly number: number;
  /** The same in replicas. */
  readonly name: string;
  readonly start: Offsets;
  /** Ends of its partitions; `noEnd` until they are set. */
  end: Offsets;
  /** No sequence follows it. */
  isLast: boolean;
  /** Its rows are to be published, or are. */
  isSealed: boolean;
}

/** The sequences of a task, and its place in the one that it reads. */
export class Sequences {
  readonly #kind: StreamKind;
  readonly #baseName: string;
  readonly #all: Sequence[] = [];
  readonly #published = new Set<number>();
  readonly #dropped = new Set<number>();
  readonly #positions: Map<string, string>;

  /** @param starts  starts of the sequences that are known, by number; each ends where the next begins, and the last at `end` */
  constructor(kind: StreamKind, baseName: string, starts: ReadonlyMap<number, Offsets>, end: Offsets) {
    this.#kind = kind;
    this.#baseName = baseName;
    const known = [...starts];
    for (const [at, [number, start]] of known.entries()) {
      const next = known[at + 1]?.[1];
      const hasEnd = next === undefined && [...end.values()].every((offset) => offset !== STREAM_TRAITS[kind].noEnd);
      this.#add(number, start, next ?? end, hasEnd);
    }
    this.#positions = new Map(known[0]?.[1] ?? []);
  }

  /** The sequence that is read. */
  get current(): Sequence {
    const current = this.#all.find(({ isSealed }) => !isSealed) ?? this.#all.at(-1);
    if (current === undefined) throw new ServiceError('internal', 'a streaming task reads some sequence');
    return current;
  }

  /** Place of the next record in each partition, or of the last, by kind. */
  get positions(): Offsets {
    return new Map(this.#positions);
  }

  /** Partitions that the sequence has not read to its end. */
  get unfinished(): readonly string[] {
    const { end } = this.current;
    return [...this.#positions]
      .filter(([partition, offset]) => !this.#isReached(offset, end.get(partition)))
      .map(([partition]) => partition);
  }

  /** Places at which partitions are read on. @param start  of the task */
  places(partitions: readonly string[], start: StreamPosition): ReadonlyMap<string, ReadFrom> {
    return new Map(
      partitions.map((partition) => {
        const offset = this.#positions.get(partition) ?? '';
        // Behind the first record the place of a shard is that of the last one read.
        const isExclusive = this.#kind === 'kinesis' && (start.exclusive.has(partition) || offset !== start.offsets.get(partition));
        return [partition, { offset, isExclusive }];
      }),
    );
  }

  /** Whether a record belongs to the sequence; one at or behind its end does not. */
  includes(partition: string, offset: string): boolean {
    const end = this.current.end.get(partition);
    if (end === undefined) return false;
    const { noEnd, endIsInclusive } = STREAM_TRAITS[this.#kind];
    if (end === noEnd) return true;
    const difference = compareOffsets(offset, end);
    return endIsInclusive ? difference <= 0 : difference < 0;
  }

  /** Place behind a record, which may be one of the next sequence. */
  placeBehind(offset: string): string {
    return this.#kind === 'kafka' ? String(BigInt(offset) + 1n) : offset;
  }

  /** Offset at which messages belong to the sequence no more, of streams whose offsets are integers and ends exclusive. */
  endOf(partition: string): number {
    const end = this.current.end.get(partition);
    if (end === undefined) return 0;
    return end === STREAM_TRAITS[this.#kind].noEnd ? Number.MAX_SAFE_INTEGER : Number(end);
  }

  /** Moves on behind a record. */
  passed(partition: string, offset: string): void {
    this.moved(partition, this.placeBehind(offset));
  }

  /** Moves on to a position, and no further than the end. */
  moved(partition: string, position: string): void {
    const end = this.current.end.get(partition);
    const before = this.#positions.get(partition);
    if (end === undefined || before === undefined) return;
    const { noEnd } = STREAM_TRAITS[this.#kind];
    const place = end !== noEnd && compareOffsets(position, end) > 0 ? end : position;
    if (compareOffsets(place, before) > 0) this.#positions.set(partition, place);
  }

  /**
   * Sets the end of the sequence that is read.
   * @throws ServiceError `input_invalid` for other partitions than its own, or an end before its place
   */
  setEnd(end: Offsets, isLast: boolean): void {
    const { current } = this;
    const merged = new Map(current.end);
    for (const [partition, offset] of end) {
      const position = this.#positions.get(partition);
      if (position === undefined) throw new ServiceError('input_invalid', `offsets: the task does not read partition ${partition}`);
      if (compareOffsets(offset, position) < 0)
        throw new ServiceError('input_invalid', `offsets: ${offset} of partition ${partition} is before ${position}, where the task is`);
      merged.set(partition, offset);
    }
    current.end = merged;
    current.isLast = isLast;
  }

  /** Ends the sequence that is read; the next one, if any, begins where it ended. */
  seal(): Sequence {
    const { current } = this;
    current.isSealed = true;
    const isKnown = this.#all.some(({ isSealed }) => !isSealed);
    if (!current.isLast && !isKnown) {
      const noEnd = new Map([...current.end.keys()].map((partition) => [partition, STREAM_TRAITS[this.#kind].noEnd]));
      this.#add(current.number + 1, new Map(current.end), noEnd, false);
    }
    return current;
  }

  published({ number }: Sequence): void {
    this.#published.add(number);
  }

  /** Takes note that the rows of a sequence are about to be dropped. */
  dropped({ number }: Sequence): void {
    this.#dropped.add(number);
  }

  /** Offsets from which on rows are held: the start of the first sequence that was not dropped, or its place where all were. */
  get heldFrom(): Offsets {
    return this.#all.find(({ number }) => !this.#dropped.has(number))?.start ?? this.#positions;
  }

  /** Starts of the sequences that are not published. */
  checkpoints(): ReadonlyMap<number, Offsets> {
    return new Map(this.#all.filter(({ number }) => !this.#published.has(number)).map(({ number, start }) => [number, start]));
  }

  #add(number: number, start: Offsets, end: Offsets, isLast: boolean): void {
    this.#all.push({ number, name: `${this.#baseName}_${number}`, start, end, isLast, isSealed: false });
  }

  #isReached(position: string, end: string | undefined): boolean {
    return end === undefined || (end !== STREAM_TRAITS[this.#kind].noEnd && compareOffsets(position, end) >= 0);
  }
}
