// The first rows by a text that kernels make of each row.

import { type Address, BLOCK_ROWS } from '../../base/layout.js';
import type { Scalar } from '../../expression/value.js';
import type { SortKey } from '../../model/plan.js';
import type { ColumnType } from '../../model/schema.js';
import { takeBits } from '../block/context.js';
import { layTexts, referredText } from '../block/text-references.js';
import type { SegmentScope } from '../expression/scope.js';
import type { RowTexts } from '../expression/vector.js';
import type { Predicate } from '../filter/predicate.js';
import { type Candidates, type MatchedRows, matchedRows } from './candidates.js';
import { keyRank, type Ranks, ranksOf } from './rank.js';
import type { MatchedBlock, RowSource } from './row-source.js';

/** Candidates beyond twice those that are wanted, from which on the best of them are looked for. */
const WAITING_MIN = 1024;
const FIRST_BYTES = 1 << 16;
/** Kernels may write so many bytes past their texts. */
const BYTES_PAST = 16;

/** Sort keys of a segment of which the first, in which rows differ, is a text. */
export interface TextKey {
  readonly textsOf: RowTexts;
  readonly mayBeNull: boolean;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
  /** Whether no key comes before it. */
  readonly isFirstKey: boolean;
  /** Whether no key follows it. */
  readonly isOnly: boolean;
  /** Ranks by the keys that follow; null: rows are equal in them, undefined: they have no ranks. */
  readonly rest: Ranks | null | undefined;
}

/** @returns undefined where the first key is not a text that kernels make */
export function textKeyOf(scope: SegmentScope, keys: readonly { readonly key: SortKey; readonly type: ColumnType }[]): TextKey | undefined {
  const place = keys.findIndex(({ key, type }) => keyRank(scope, key, type) !== null);
  const first = keys[place];
  if (first === undefined || first.key.ordering !== 'lexicographic' || scope.typeOf(first.key.column) !== first.type) return undefined;
  const source = scope.source(first.key.column);
  if (source.kind !== 'computed' || source.vector.kind !== 'string' || first.type !== 'STRING') return undefined;
  const { node, textsOf } = source.vector;
  if (node === undefined || textsOf === undefined) return undefined;
  const { descending, nulls } = first.key;
  const rest = ranksOf(scope, keys.slice(place + 1));
  return {
    textsOf,
    mayBeNull: node.mayBeNull,
    descending,
    nullsFirst: nulls === 'first',
    isFirstKey: place === 0,
    isOnly: place === keys.length - 1,
    rest,
  };
}

/** A text, or null, of the last row wanted. */
interface Bound {
  /** Reference; 0 at it for null. */
  readonly at: Address;
  readonly isNull: boolean;
}

/** The rows of a segment whose texts come first: what lies behind the last of these is left out by a kernel as its texts are made. */
export class FirstTexts implements Candidates {
  readonly #source: RowSource;
  readonly #key: TextKey;
  readonly #wanted: number;
  readonly #rowCount: number;
  readonly #room: number;
  readonly #matched: (matched: MatchedBlock) => MatchedRows;
  readonly #texts: CopiedTexts;
  /** Texts, rows and ranks by further keys, ascending by row, and where the next ones are put together. */
  #rows: Address;
  #keys: Address;
  #nextRows: Address;
  #nextKeys: Address;
  readonly #places: Address;
  readonly #blockRows: Address;
  readonly #some: Address;
  readonly #heap: Address;
  readonly #best: Address;
  readonly #bits: Address;
  readonly #nulls: Address;
  readonly #boundText: Address;
  readonly #boundBytes: BoundBytes;
  #count = 0;
  #bound: Bound | undefined;
  /** Whether this segment has as many rows up to the bound as are wanted. */
  #isOwn = false;

  constructor(source: RowSource, key: TextKey, wanted: number) {
    const { scope } = source;
    const { arena } = scope;
    this.#source = source;
    this.#key = key;
    this.#wanted = wanted;
    this.#rowCount = scope.view.rowCount;
    this.#room = Math.min(wanted + 2 * BLOCK_ROWS, this.#rowCount);
    this.#matched = matchedRows(scope);
    this.#texts = new CopiedTexts(scope, this.#room);
    const words = (): Address => arena.take(this.#room * 8);
    const numbers = (): Address => arena.take(this.#room * 4);
    [this.#rows, this.#nextRows] = [numbers(), numbers()];
    [this.#keys, this.#nextKeys] = key.rest ? [words(), words()] : [0, 0];
    [this.#places, this.#blockRows] = [arena.take(BLOCK_ROWS * 4), arena.take(BLOCK_ROWS * 4)];
    [this.#some, this.#heap, this.#best] = [words(), numbers(), numbers()];
    const bitBytes = Math.ceil(this.#room / 64) * 8;
    [this.#bits, this.#nulls] = [arena.take(Math.max(bitBytes, BLOCK_ROWS / 8)), takeBits(arena)];
    this.#boundText = arena.take(8);
    this.#boundBytes = new BoundBytes(scope, this.#boundText);
  }

  get count(): number {
    return this.#count;
  }

  get within(): Predicate | undefined {
    return undefined;
  }

  get isFull(): boolean {
    return this.#room < this.#rowCount && this.#count + BLOCK_ROWS > this.#room;
  }

  get bound(): Scalar | undefined {
    if (!this.#isOwn || !this.#key.isFirstKey || this.#bound === undefined) return undefined;
    return referredText(this.#source.scope.context.memory, this.#bound.at);
  }

  begin(bound: Scalar | undefined): void {
    if (!this.#key.isFirstKey || (bound !== null && typeof bound !== 'string')) return;
    const { arena, context } = this.#source.scope;
    this.#bound = { at: layTexts(context.memory, arena, [bound]), isNull: bound === null };
  }

  add(matched: MatchedBlock): number {
    const { context } = this.#source.scope;
    const { kernels, memory } = context;
    const { block, n, rows } = this.#matched(matched);
    if (n === 0) return 0;
    const texts = this.#key.textsOf(block, rows, n);
    const bits = this.#bitsWithin(texts, n);
    const kept = bits === 0 ? n : kernels.bitsToRows(bits, 0, n, this.#places);
    if (kept === 0) return n;
    const places = bits === 0 || kept === n ? 0 : this.#places;
    this.#texts.append(texts, places, this.#count, kept);
    let inBlock = rows === 0 ? places : rows;
    if (rows !== 0 && places !== 0) {
      kernels.gather32(rows, places, kept, this.#blockRows);
      inBlock = this.#blockRows;
    }
    const numbers = memory.u32(this.#rows + this.#count * 4, kept);
    const taken = inBlock === 0 ? undefined : memory.u32(inBlock, kept);
    for (let at = 0; at < kept; at++) numbers[at] = block.start + (taken === undefined ? at : (taken[at] ?? 0));
    this.#key.rest?.write(block, inBlock, kept, this.#keys + this.#count * 8);
    this.#count += kept;
    const isMuch = this.#bound === undefined || this.#count >= 2 * this.#wanted + WAITING_MIN || this.isFull;
    if (isMuch && this.#count > this.#wanted) this.#keep();
    return n;
  }

  take(): Uint32Array {
    if (this.#count > this.#wanted) this.#keep();
    const rows = this.#source.scope.context.memory.u32(this.#rows, this.#count).slice();
    this.#count = 0;
    this.#texts.clear();
    return rows;
  }

  /** Bits of the texts that do not come after the bound, nor as late as it where nothing else tells rows apart; 0: there is no bound. */
  #bitsWithin(texts: Address, n: number): Address {
    const bound = this.#bound;
    if (bound === undefined) return 0;
    const { kernels } = this.#source.scope.context;
    const { descending, nullsFirst, isOnly, rest, mayBeNull } = this.#key;
    const [bits, nulls, words] = [this.#bits, this.#nulls, Math.ceil(n / 64)];
    const isStrict = isOnly || (rest === null && this.#isOwn);
    if (mayBeNull) kernels.textNulls(texts, n, nulls);
    else kernels.bitsFill(nulls, words, 0, 0);
    if (bound.isNull) {
      // Only nulls come as early as a null that is first; before one that is last are all others.
      if (nullsFirst && isStrict) kernels.bitsFill(bits, words, 0, 0);
      else if (nullsFirst) return nulls;
      else if (isStrict) kernels.bitsNot(nulls, n, bits);
      else return 0;
      return bits;
    }
    kernels.textCompare(texts, bound.at, 1, n, descending === isStrict ? 2 : 1, bits);
    if (descending) {
      kernels.bitsNot(bits, n, bits);
      if (!nullsFirst) kernels.bitsAndNot(bits, nulls, words, bits);
    } else if (nullsFirst) kernels.bitsOr(bits, nulls, words, bits);
    return bits;
  }

  /** Drops candidates that are not among the first; of those that tie with the last, the ones that further keys leave. */
  #keep(): void {
    const { kernels, memory } = this.#source.scope.context;
    const refs = this.#texts.at;
    const [nulls, others] = this.#parted();
    const { descending, nullsFirst } = this.#key;
    const before = nullsFirst ? nulls.length : 0;
    const k = Math.min(others.length, this.#wanted - before);
    let sure: number[] = nullsFirst && k > 0 ? [...nulls] : [];
    let ties: Uint32Array = nulls;
    let last: Address = 0;
    if (k > 0) {
      memory.u32(this.#heap, others.length).set(others);
      kernels.gather64(refs, this.#heap, others.length, this.#some);
      kernels.textTop(this.#some, others.length, k, descending ? 1 : 0, this.#heap, this.#best);
      const first = memory.u32(this.#best, k).slice();
      if (k < this.#wanted - before) sure = Array.from(first, (place) => others[place] ?? 0);
      else {
        last = this.#some + (first[k - 1] ?? 0) * 8;
        kernels.textCompare(this.#some, last, 1, others.length, 0, this.#bits);
        const same = kernels.bitsToRows(this.#bits, 0, others.length, this.#best);
        ties = memory.u32(this.#best, same).map((place) => others[place] ?? 0);
        const tied = new Set(ties);
        for (const place of first) if (!tied.has(others[place] ?? 0)) sure.push(others[place] ?? 0);
      }
    }
    this.#boundBytes.set(last);
    this.#bound = { at: this.#boundText, isNull: last === 0 };
    this.#isOwn = true;
    const kept = Uint32Array.from([...sure, ...this.#firstOf(ties, this.#wanted - sure.length)]).sort();
    memory.u32(this.#best, kept.length).set(kept);
    kernels.gather32(this.#rows, this.#best, kept.length, this.#nextRows);
    [this.#rows, this.#nextRows] = [this.#nextRows, this.#rows];
    if (this.#key.rest) {
      kernels.gather64(this.#keys, this.#best, kept.length, this.#nextKeys);
      [this.#keys, this.#nextKeys] = [this.#nextKeys, this.#keys];
    }
    this.#texts.keep(this.#best, kept.length);
    this.#count = kept.length;
  }

  /** Places of the candidates whose text is null, and of the others. */
  #parted(): [Uint32Array, Uint32Array] {
    const words = this.#source.scope.context.memory.u32(this.#texts.at, this.#count * 2);
    const [nulls, others] = [new Uint32Array(this.#count), new Uint32Array(this.#count)];
    let nullCount = 0;
    for (let place = 0; place < this.#count; place++) {
      if (words[place * 2] === 0) nulls[nullCount++] = place;
      else others[place - nullCount] = place;
    }
    return [nulls.subarray(0, nullCount), others.subarray(0, this.#count - nullCount)];
  }

  /** The first `n` of some places, ascending, by the keys behind the text, and those that tie with the last of them. */
  #firstOf(places: Uint32Array, n: number): Uint32Array {
    const { rest } = this.#key;
    if (rest === undefined || places.length <= n) return places;
    if (rest === null) return places.subarray(0, n);
    const { kernels, memory } = this.#source.scope.context;
    memory.u32(this.#best, places.length).set(places);
    kernels.gather64(this.#keys, this.#best, places.length, this.#some);
    kernels.topI64(this.#some, 0, places.length, n, 0, this.#heap, this.#best);
    const best = memory.u32(this.#best, n);
    if (rest.isExact) return best.map((place) => places[place] ?? 0);
    const ranks = memory.i64(this.#some, places.length);
    const limit = ranks[best[n - 1] ?? 0] ?? 0n;
    return places.filter((_, place) => (ranks[place] ?? 0n) <= limit);
  }
}

/** Texts with copies of their bytes. */
class CopiedTexts {
  readonly #scope: SegmentScope;
  readonly #part: Address;
  #at: Address;
  #next: Address;
  #bytes = { at: 0, size: 0 };
  #spare = { at: 0, size: 0 };
  #used = 0;

  constructor(scope: SegmentScope, room: number) {
    this.#scope = scope;
    [this.#at, this.#next] = [scope.arena.take(room * 8), scope.arena.take(room * 8)];
    this.#part = scope.arena.take(8);
  }

  /** References to them. */
  get at(): Address {
    return this.#at;
  }

  clear(): void {
    this.#used = 0;
  }

  /** Texts at n places (`places[i]`, or i where it is 0), as those from `from` on. */
  append(texts: Address, places: Address, from: number, n: number): void {
    const { kernels } = this.#scope.context;
    const to = this.#at + from * 8;
    if (places === 0) kernels.toI64I64(texts, 0, n, 0n, to);
    else kernels.gather64(texts, places, n, to);
    const size = kernels.textBytes(to, n) + BYTES_PAST;
    // Texts that came before stay where they are.
    if (this.#used + size > this.#bytes.size) [this.#bytes, this.#used] = [this.#taken(2 * size, this.#bytes), 0];
    this.#copy(to, n, this.#bytes.at + this.#used);
    this.#used += size - BYTES_PAST;
  }

  /** Leaves those of `n` places. */
  keep(places: Address, n: number): void {
    const { kernels } = this.#scope.context;
    kernels.gather64(this.#at, places, n, this.#next);
    [this.#at, this.#next] = [this.#next, this.#at];
    const size = kernels.textBytes(this.#at, n) + BYTES_PAST;
    if (size > this.#spare.size) this.#spare = this.#taken(2 * size, this.#spare);
    this.#copy(this.#at, n, this.#spare.at);
    [this.#bytes, this.#spare, this.#used] = [this.#spare, this.#bytes, size - BYTES_PAST];
  }

  #copy(texts: Address, n: number, to: Address): void {
    const { kernels, memory } = this.#scope.context;
    memory.u32(this.#part, 2).set([texts, 8]);
    kernels.textConcat(this.#part, 1, n, texts, to);
  }

  #taken(size: number, before: { readonly size: number }): { at: Address; size: number } {
    const room = Math.max(FIRST_BYTES, 2 * before.size, size);
    return { at: this.#scope.arena.take(room), size: room };
  }
}

/** A copy of one text. */
class BoundBytes {
  readonly #scope: SegmentScope;
  readonly #reference: Address;
  readonly #part: Address;
  #at: Address = 0;
  #size = 0;

  constructor(scope: SegmentScope, reference: Address) {
    this.#scope = scope;
    this.#reference = reference;
    this.#part = scope.arena.take(8);
  }

  /** @param text  where its reference lies; 0 for null */
  set(text: Address): void {
    const { arena, context } = this.#scope;
    const { kernels, memory } = context;
    if (text === 0) {
      memory.u32(this.#reference, 2).set([0, 0]);
      return;
    }
    const size = kernels.textBytes(text, 1) + BYTES_PAST;
    if (size > this.#size) [this.#at, this.#size] = [arena.take(2 * size), 2 * size];
    memory.u32(this.#part, 2).set([text, 8]);
    kernels.textConcat(this.#part, 1, 1, this.#reference, this.#at);
  }
}
