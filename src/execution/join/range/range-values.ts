// Values of one side of a join's comparisons as LONGs that compare as they do.

import { ServiceError } from '../../../base/errors.js';
import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import type { Arena } from '../../../kernels/arena.js';
import type { Expression } from '../../../model/expression.js';
import type { StageRange } from '../../../model/stage.js';
import { allTexts } from '../../../storage/columns/read-dictionary.js';
import type { DictionaryView, StringColumnView } from '../../../storage/view.js';
import { type Block, kernelFor, type RunContext, takeBits } from '../../block/context.js';
import { asNumbers } from '../../expression/convert.js';
import type { SegmentScope, Source } from '../../expression/scope.js';
import { longsOf } from '../../expression/time/steps.js';
import { type NumberVector, oncePerBlock, type StringVector, type TextPool } from '../../expression/vector.js';

/**
 * The way in which values of both sides become LONGs: LONGs themselves; doubles in their total order, zeros equal; strings twice their id in the dictionary of
 * the build side and one more, or twice that of the next greater one.
 */
export type Ranking =
  | { readonly kind: 'long' }
  | { readonly kind: 'double' }
  | { readonly kind: 'texts'; readonly dictionary: DictionaryView };

/** LONGs of a block, and its null rows as bits, or 0. */
export interface RangeValues {
  values(block: Block): Address;
  nulls(block: Block): Address;
}

/** `missing`: null in every row. `other`: values that do not compare as the ranking has it. */
type Found = RangeValues | 'missing' | 'other';

/** The number of null among those of texts. */
const NULL_TEXT = 0xffffffff;

/** The order that the values of a build side's expression are put into; undefined: none. */
export function rankingOf(source: Source, type: StageRange['type']): Ranking | undefined {
  if (type === 'STRING') {
    if (source.kind !== 'string' || source.column.offsets !== 0) return undefined;
    return { kind: 'texts', dictionary: source.column.dictionary };
  }
  const actual = numberTypeOf(source);
  if (type === 'DOUBLE') return actual === undefined ? undefined : { kind: 'double' };
  return actual === 'LONG' ? { kind: 'long' } : undefined;
}

function numberTypeOf(source: Source): NumberVector['type'] | undefined {
  if (source.kind === 'number') return source.column.type;
  return source.kind === 'computed' && source.vector.kind === 'number' ? source.vector.type : undefined;
}

/** The source of an expression; `name` is that of a virtual column of it. */
export function rangeSource(scope: SegmentScope, name: string, expression: Expression): Source {
  return scope.source(expression.kind === 'column' ? expression.name : name);
}

/** Reads values by rankings of build sides, on one thread. */
export class RankReader {
  readonly #context: RunContext;
  /** Memory for the numbers (u32) of dictionaries met so far, by identity, because addresses are reused. */
  readonly #arena: Arena;
  readonly #tables = new Map<DictionaryView, Map<DictionaryView, Address>>();
  readonly #known = new Map<DictionaryView, readonly string[]>();

  constructor(context: RunContext) {
    this.#context = context;
    this.#arena = context.memory.arena();
  }

  read(scope: SegmentScope, source: Source, ranking: Ranking): Found {
    if (source.kind === 'missing') return 'missing';
    if (ranking.kind === 'texts') return this.#texts(scope, source, ranking.dictionary);
    const type = numberTypeOf(source);
    if (type === undefined || (ranking.kind === 'long' && type !== 'LONG')) return 'other';
    const numbers = asNumbers(scope, source, ranking.kind === 'long' ? 'LONG' : 'DOUBLE');
    if (numbers === undefined) return 'missing';
    return {
      values: ranking.kind === 'long' ? longsOf(scope, numbers) : sortableDoubles(scope, numbers),
      nulls: (block) => numbers.nulls(block),
    };
  }

  /** The dictionaries met so far do not come again. */
  forget(): void {
    this.#tables.clear();
    this.#known.clear();
    this.#arena.release();
  }

  #texts(scope: SegmentScope, source: Source, dictionary: DictionaryView): Found {
    if (source.kind === 'string') return source.column.offsets === 0 ? this.#storedTexts(scope, source.column, dictionary) : 'other';
    if (source.kind !== 'computed' || source.vector.kind !== 'string' || source.vector.type !== 'STRING') return 'other';
    return this.#computedTexts(scope, source.vector, dictionary);
  }

  #storedTexts(scope: SegmentScope, { physical, ids, dictionary: own }: StringColumnView, dictionary: DictionaryView): RangeValues {
    const { kernels } = this.#context;
    const table = this.#tableOf(own, dictionary);
    const bytes = physical === 'U8' ? 1 : physical === 'U16' ? 2 : 4;
    const [wide, numbers] = [scope.arena.take(BLOCK_ROWS * 4), scope.arena.take(BLOCK_ROWS * 4)];
    return this.#numbered(scope, numbers, (block) => {
      kernelFor(kernels, 'keyDense', physical)(ids + block.start * bytes, 0, block.rows, 1, 0, wide);
      kernels.gather32(table, wide, block.rows, numbers);
    });
  }

  #computedTexts(scope: SegmentScope, { ids, pool }: StringVector, dictionary: DictionaryView): RangeValues {
    const { memory } = this.#context;
    const known = this.#textsOf(dictionary);
    const first = dictionary.hasNull ? 1 : 0;
    const found: number[] = [];
    const numbers = scope.arena.take(BLOCK_ROWS * 4);
    return this.#numbered(scope, numbers, (block) => {
      const own = memory.u32(ids(block), block.rows);
      const { values }: TextPool = pool;
      for (let id = found.length; id < values.length; id++) {
        const text = values[id] ?? null;
        found.push(text === null ? NULL_TEXT : numberOf(text, known, first));
      }
      const written = memory.u32(numbers, block.rows);
      for (let row = 0; row < own.length; row++) written[row] = found[own[row] ?? 0] ?? NULL_TEXT;
    });
  }

  /** u32 numbers of a block as LONGs, with bits of those that stand for null. */
  #numbered(scope: SegmentScope, numbers: Address, write: (block: Block) => void): RangeValues {
    const { kernels } = this.#context;
    const longs = scope.arena.take(BLOCK_ROWS * 8);
    const bits = takeBits(scope.arena);
    const run = oncePerBlock((block) => {
      write(block);
      kernels.toI64U32(numbers, 0, block.rows, 0n, longs);
      kernels.filterEqU32(numbers, block.rows, NULL_TEXT, bits);
    });
    return {
      values: (block) => {
        run(block);
        return longs;
      },
      nulls: (block) => {
        run(block);
        return bits;
      },
    };
  }

  /** The numbers of the texts of a dictionary among those of another. */
  #tableOf(one: DictionaryView, other: DictionaryView): Address {
    const tables = this.#tables.get(other) ?? new Map<DictionaryView, Address>();
    this.#tables.set(other, tables);
    const made = tables.get(one);
    if (made !== undefined) return made;
    const { kernels } = this.#context;
    const table = this.#arena.take(Math.max(1, one.count) * 4);
    const firsts = [one.hasNull ? 1 : 0, other.hasNull ? 1 : 0] as const;
    kernels.rangeTexts(one.bytes, one.offsets, firsts[0], one.count, other.bytes, other.offsets, firsts[1], other.count, table);
    tables.set(one, table);
    return table;
  }

  /** Texts of a dictionary in their order, without null. */
  #textsOf(dictionary: DictionaryView): readonly string[] {
    const known = this.#known.get(dictionary) ?? textsWithout(this.#context, dictionary);
    this.#known.set(dictionary, known);
    return known;
  }
}

function textsWithout({ memory }: RunContext, dictionary: DictionaryView): readonly string[] {
  return allTexts(memory, dictionary).flatMap((text) => (text === null ? [] : [text]));
}

/** @param known  in their order; their ids begin with `first` */
function numberOf(text: string, known: readonly string[], first: number): number {
  let [low, high] = [0, known.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((known[middle] ?? '') < text) low = middle + 1;
    else high = middle;
  }
  return (first + low) * 2 + (known[low] === text ? 1 : 0);
}

/** Doubles as LONGs in their total order, zeros as one. */
function sortableDoubles(scope: SegmentScope, { type, physical, base, values }: NumberVector): (block: Block) => Address {
  if (type === 'LONG') throw new ServiceError('internal', 'a LONG was to be compared as a double');
  const { kernels } = scope.context;
  const [wide, out] = [scope.arena.take(BLOCK_ROWS * 8), scope.arena.take(BLOCK_ROWS * 8)];
  const widen = kernelFor(kernels, 'toF64', physical);
  const run = oncePerBlock((block) => {
    widen(values(block), 0, block.rows, base, wide);
    // The word of a key is the same for both zeros.
    kernels.keyWordF64(wide, 0, block.rows, 1, 0, out);
    kernels.sortableF64(out, block.rows, out);
  });
  return (block) => {
    run(block);
    return out;
  };
}
