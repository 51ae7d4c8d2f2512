// Feeds the hashes of a column's values to sketches.

import { type Address, BLOCK_ROWS, PHYSICAL_BYTES } from '../../../base/layout.js';
import { isArrayValue, toText, type Value } from '../../../expression/value.js';
import { type ArrayElement, arrayElements } from '../../../model/array-text.js';
import { isArrayType } from '../../../model/schema.js';
import { SKETCH_SEED } from '../../../sketch/base64-codec.js';
import { FIRST_PLACE, type TakesHashes } from '../../../sketch/hashes.js';
import { Murmur3, type StringEncoding } from '../../../sketch/murmur3.js';
import type { DictionaryView, StringColumnView } from '../../../storage/view.js';
import { kernelFor } from '../../block/context.js';
import { textAt } from '../../block/dictionary.js';
import { PairSet } from '../../block/pair-set.js';
import { asNumbers, asText } from '../../expression/convert.js';
import type { SegmentScope, Source } from '../../expression/scope.js';
import type { StringVector } from '../../expression/vector.js';
import type { Feed } from '../state-operations.js';
import { type IdSource, utf16Hash } from './id-source.js';
import { dictionaryHashes, numberHashes } from './stored-hashes.js';

/**
 * Gives states the hashes of a column's values that are not null. Strings hash as `encoding` says, LONGs as 8 bytes, FLOAT and DOUBLE
 * as the bits of a double; of arrays every element counts. Kernels hash what columns hold; computed texts and arrays are
 * hashed here, once for every pair of group and text.
 */
export function hashFeed<State extends TakesHashes>(
  scope: SegmentScope,
  column: string,
  encoding: StringEncoding = 'utf8',
): Feed<State> | undefined {
  const source = scope.source(column);
  if (source.kind === 'missing') return undefined;
  const ids = idSource(scope, source);
  if (ids === undefined) {
    const vector = asNumbers(scope, source, scope.typeOf(column) === 'LONG' ? 'LONG' : 'DOUBLE');
    return vector === undefined ? undefined : numberHashes(scope, vector);
  }
  const elements = arrayReader(scope, source);
  if (source.kind === 'string' && elements === undefined) return dictionaryHashes(scope, source.column.dictionary, ids, encoding);
  return pairFeed(scope, ids, elements, encoding);
}

/** The hashes of a value, as those of a column's are. */
export function hashValue(value: Value, state: TakesHashes, encoding: StringEncoding = 'utf8'): void {
  if (value === null) return;
  if (isArrayValue(value)) {
    for (const element of value) hashValue(element, state, encoding);
    return;
  }
  const hash = new Murmur3(SKETCH_SEED);
  if (typeof value === 'bigint') hash.hashLong(value);
  else if (typeof value === 'number') hash.hashDouble(value);
  else hash.hashText(toText(value) ?? '', encoding);
  const words = new Uint32Array(4);
  hash.copyTo(words);
  state.addHashes(words, FIRST_PLACE, 0, 1);
}

/** The texts of a column by id, of numbers what they are printed as; undefined when the column is missing. */
export function textIds(scope: SegmentScope, column: string): IdSource | undefined {
  const source = scope.source(column);
  return source.kind === 'missing' ? undefined : (idSource(scope, source) ?? computedIds(scope, asText(scope, source)));
}

/** Ids of stored and computed strings; undefined for numbers and for a missing column. */
export function idSource(scope: SegmentScope, source: Source): IdSource | undefined {
  if (source.kind === 'string') return source.column.offsets === 0 ? storedIds(scope, source.column) : listedIds(scope, source.column);
  return source.kind === 'computed' && source.vector.kind === 'string' ? computedIds(scope, source.vector) : undefined;
}

/** The elements of an array by its id, those of inner arrays among them; undefined: the column has none. */
function arrayReader({ context }: SegmentScope, source: Source): ((id: number) => readonly ArrayElement[]) | undefined {
  const type = source.kind === 'string' ? source.column.type : source.kind === 'computed' ? source.vector.type : undefined;
  if (!isArrayType(type)) return undefined;
  const text = (id: number): string | null =>
    source.kind === 'string'
      ? textAt(context.memory, source.column.dictionary, id)
      : source.kind === 'computed' && source.vector.kind === 'string'
        ? (source.vector.pool.values[id] ?? null)
        : null;
  return (id) => {
    const found = text(id);
    return found === null ? [] : [...innermost(arrayElements(found, type))];
  };
}

function* innermost(elements: readonly ArrayElement[]): Generator<ArrayElement> {
  for (const element of elements) {
    if (typeof element === 'object' && element !== null) yield* innermost(element);
    else yield element;
  }
}

export function storedIds(scope: SegmentScope, { physical, ids, dictionary }: StringColumnView): IdSource {
  const gather = kernelFor(scope.context.kernels, 'keyDense', physical);
  const gathered = scope.arena.take(BLOCK_ROWS * 4);
  const bytes = PHYSICAL_BYTES[physical];
  return {
    gather(block, rows, groups, n, visit) {
      gather(ids + block.start * bytes, rows, n, 1, 0, gathered);
      visit(gathered, groups, n);
    },
    hash: dictionaryHash(scope, dictionary),
  };
}

/** One position for each value of a row; rows without values have none. */
function listedIds(scope: SegmentScope, { physical, ids, offsets, dictionary }: StringColumnView): IdSource {
  const { arena, context } = scope;
  const { memory } = context;
  const stored = (at: Address, count: number): Uint8Array | Uint16Array | Uint32Array =>
    physical === 'U8' ? memory.u8(at, count) : physical === 'U16' ? memory.u16(at, count) : memory.u32(at, count);
  const bytes = PHYSICAL_BYTES[physical];
  const outIds = arena.take(BLOCK_ROWS * 4);
  const outGroups = arena.take(BLOCK_ROWS * 4);
  return {
    gather(block, rows, groups, n, visit) {
      const bounds = memory.u32(offsets + block.start * 4, block.rows + 1);
      const listed = rows === 0 ? undefined : memory.u32(rows, n);
      const numbers = memory.u32(groups, n);
      const [toIds, toGroups] = [memory.u32(outIds, BLOCK_ROWS), memory.u32(outGroups, BLOCK_ROWS)];
      let count = 0;
      for (let i = 0; i < n; i++) {
        const row = listed === undefined ? i : (listed[i] ?? 0);
        const [start = 0, end = 0] = [bounds[row], bounds[row + 1]];
        const values = stored(ids + start * bytes, end - start);
        for (const id of values) {
          toIds[count] = id;
          toGroups[count] = numbers[i] ?? 0;
          if (++count < BLOCK_ROWS) continue;
          visit(outIds, outGroups, count);
          count = 0;
        }
      }
      if (count > 0) visit(outIds, outGroups, count);
    },
    hash: dictionaryHash(scope, dictionary),
  };
}

export function computedIds(scope: SegmentScope, vector: StringVector): IdSource {
  const { kernels } = scope.context;
  const gathered = scope.arena.take(BLOCK_ROWS * 4);
  return {
    gather(block, rows, groups, n, visit) {
      kernels.keyDenseU32(vector.ids(block), rows, n, 1, 0, gathered);
      visit(gathered, groups, n);
    },
    hash(id, hash) {
      const text = vector.pool.values[id] ?? null;
      if (text !== null) hash.hashText(text);
      return text !== null;
    },
  };
}

/** A dictionary has its texts as UTF-8, so they are hashed where they are. */
function dictionaryHash({ context }: SegmentScope, { offsets, bytes, hasNull }: DictionaryView): IdSource['hash'] {
  const { memory } = context;
  return (id, hash) => {
    if (id === 0 && hasNull) return false;
    const [start = 0, end = 0] = memory.u32(offsets + id * 4, 2);
    const text = memory.u8(bytes + start, end - start);
    hash.hash(new DataView(text.buffer, text.byteOffset, text.byteLength));
    return true;
  };
}

function pairFeed<State extends TakesHashes>(
  scope: SegmentScope,
  source: IdSource,
  elements: ((id: number) => readonly ArrayElement[]) | undefined,
  encoding: StringEncoding,
): Feed<State> {
  const { arena, context } = scope;
  const { memory, kernels } = context;
  const set = new PairSet(
    context,
    1,
    (bytes) => arena.take(bytes),
    () => undefined,
  );
  const packed = arena.take(BLOCK_ROWS * 8);
  return {
    nulls: undefined,
    add(block, rows, groups, n) {
      source.gather(block, rows, groups, n, (ids, idGroups, count) => {
        kernels.keyWordU32(idGroups, 0, count, 1, 0, 0, 1, packed);
        kernels.keyWordU32(ids, 0, count, 1, 0, 32, 0, packed);
        set.add(packed, count);
      });
    },
    end(stateOf) {
      const hash = new Murmur3(SKETCH_SEED);
      const texts = encoding === 'utf8' ? hash : utf16Hash(hash);
      const words = new Uint32Array(4);
      const give = (group: number): void => {
        hash.copyTo(words);
        stateOf(group).addHashes(words, FIRST_PLACE, 0, 1);
      };
      const halves = memory.u32(set.keys, set.count * 2);
      for (let pair = 0; pair < set.count; pair++) {
        const [group = 0, id = 0] = [halves[pair * 2], halves[pair * 2 + 1]];
        if (elements === undefined) {
          if (source.hash(id, texts)) give(group);
          continue;
        }
        for (const element of elements(id)) {
          if (typeof element === 'bigint') hash.hashLong(element);
          else if (typeof element === 'number') hash.hashDouble(element);
          else if (typeof element === 'string') texts.hashText(element);
          else continue;
          give(group);
        }
      }
    },
  };
}
