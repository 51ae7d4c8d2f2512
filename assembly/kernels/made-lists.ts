import { DOUBLES, numberText } from './lists';
import { isAligned } from './lanes';
import { textOf } from './text';

// Lists that are made of others, value by value, and arrays of numbers as texts (array-contract.ts).

@inline
const ALL: u32 = 0xffffffff;
/** Bytes of what `concatStarts` and `concatValues` read of a source: {u32 starts, values, nulls, offset}. */
@inline
const SOURCE: usize = 16;

@inline
function hasBit(bits: usize, i: usize): bool {
  return bits != 0 && ((load<u64>(bits + ((i >> 6) << 3)) >> (i & 63)) & 1) != 0;
}

/** Adds the bit of value `at` to those before it in its word, and stores the word behind its last bit. */
@inline
function withBit(bits: usize, at: usize, word: u64, isNull: bool): u64 {
  if (bits == 0) return 0;
  const all = word | (<u64>isNull << (at & 63));
  if ((at & 63) != 63) return all;
  store<u64>(bits + ((at >> 6) << 3), all);
  return 0;
}

@inline
function endBits(bits: usize, count: usize, word: u64): void {
  if (bits != 0 && (count & 63) != 0) store<u64>(bits + ((count >> 6) << 3), word);
}

export function sliceStarts(starts: usize, n: u32, nulls: usize, from: u32, size: u32, out: usize): u32 {
  assert(isAligned<u32>(starts) && isAligned<u32>(out));
  let count: u32 = 0;
  store<u32>(out, 0);
  for (let i: usize = 0; i < <usize>n; i++) {
    const length = load<u32>(starts + (i << 2), 4) - load<u32>(starts + (i << 2));
    if (!hasBit(nulls, i)) count += size != ALL ? size : length > from ? length - from : 0;
    store<u32>(out + (i << 2), count, 4);
  }
  return count;
}

export function sliceValues(starts: usize, values: usize, nulls: usize, n: u32, from: u32, made: usize, out: usize, outNulls: usize): u32 {
  assert(isAligned<u32>(starts) && isAligned<u32>(made) && isAligned<u64>(values) && isAligned<u64>(out));
  const first = load<u32>(starts);
  let to: usize = 0;
  let word: u64 = 0;
  let nullCount: u32 = 0;
  for (let i: usize = 0; i < <usize>n; i++) {
    let at = <usize>(load<u32>(starts + (i << 2)) - first) + <usize>from;
    const end = <usize>(load<u32>(starts + (i << 2), 4) - first);
    for (const last = <usize>load<u32>(made + (i << 2), 4); to < last; to++, at++) {
      const isNull = at >= end || hasBit(nulls, at);
      store<u64>(out + (to << 3), at >= end ? 0 : load<u64>(values + (at << 3)));
      word = withBit(outNulls, to, word, isNull);
      nullCount += <u32>isNull;
    }
  }
  endBits(outNulls, to, word);
  return nullCount;
}

@inline
function lengthIn(source: usize, i: usize): u32 {
  const starts = <usize>load<u32>(source) + (i << 2);
  return load<u32>(source) == 0 ? 1 : load<u32>(starts, 4) - load<u32>(starts);
}

export function concatStarts(sources: usize, count: u32, n: u32, nulls: usize, out: usize): u32 {
  assert(isAligned<u32>(sources) && isAligned<u32>(out));
  const last = sources + <usize>count * SOURCE;
  let sum: u32 = 0;
  store<u32>(out, 0);
  for (let i: usize = 0; i < <usize>n; i++) {
    if (!hasBit(nulls, i)) for (let source = sources; source < last; source += SOURCE) sum += lengthIn(source, i);
    store<u32>(out + (i << 2), sum, 4);
  }
  return sum;
}

export function concatValues(sources: usize, count: u32, n: u32, made: usize, out: usize, outNulls: usize): u32 {
  assert(isAligned<u32>(sources) && isAligned<u32>(made) && isAligned<u64>(out));
  const last = sources + <usize>count * SOURCE;
  let to: usize = 0;
  let word: u64 = 0;
  let nullCount: u32 = 0;
  for (let i: usize = 0; i < <usize>n; i++) {
    if (load<u32>(made + (i << 2)) == load<u32>(made + (i << 2), 4)) continue;
    for (let source = sources; source < last; source += SOURCE) {
      const starts = <usize>load<u32>(source);
      const values = <usize>load<u32>(source, 4);
      const nulls = <usize>load<u32>(source, 8);
      let at = <usize>load<u32>(source, 12) + (starts == 0 ? i : <usize>(load<u32>(starts + (i << 2)) - load<u32>(starts)));
      for (const end = at + <usize>lengthIn(source, i); at < end; at++, to++) {
        const isNull = hasBit(nulls, at);
        store<u64>(out + (to << 3), load<u64>(values + (at << 3)));
        word = withBit(outNulls, to, word, isNull);
        nullCount += <u32>isNull;
      }
    }
  }
  endBits(outNulls, to, word);
  return nullCount;
}

export function arrayNumberTexts(starts: usize, numbers: usize, nulls: usize, n: u32, listNulls: usize, doubles: u32, out: usize, buffer: usize): void {
  assert(isAligned<u32>(starts) && isAligned<u64>(numbers) && isAligned<u64>(out));
  const first = load<u32>(starts);
  const form = doubles != 0 ? DOUBLES : DOUBLES - 1;
  let to = buffer;
  for (let i: usize = 0; i < <usize>n; i++) {
    if (hasBit(listNulls, i)) {
      store<u64>(out + (i << 3), 0);
      continue;
    }
    const begin = to;
    const end = <usize>(load<u32>(starts + (i << 2), 4) - first);
    for (let at = <usize>(load<u32>(starts + (i << 2)) - first); at < end; at++) to = numberText(hasBit(nulls, at), load<u64>(numbers + (at << 3)), form, to);
    store<u64>(out + (i << 3), textOf(begin, to - begin, 0));
  }
}
