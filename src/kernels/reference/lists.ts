// Reference kernels over lists of values by group, over texts of arrays, and over lists whose values lie one behind the other.

import type { Address } from '../../base/layout.js';
import type { ArrayKernels, MadeListKernels } from '../array-contract.js';
import type { ListKernels } from '../list-contract.js';
import type { KernelMemory } from '../memory.js';
import type { StretchKernels } from '../stretch-contract.js';
import { type Found, textMemory } from './text-memory.js';

const BYTES_MAX = 2 ** 32 - 1;
const SIGN = 2n ** 63n;
const ALL = 2n ** 64n - 1n;

type Element = string | bigint | null;

export function listKernels(memory: KernelMemory): Omit<ListKernels, keyof (MadeListKernels & StretchKernels)> {
  const textOf = (strings: Address, id: number): Buffer => {
    const [at = 0, length = 0] = memory.u32(strings + id * 8, 2);
    return Buffer.from(memory.u8(at, length));
  };
  const elementOf = (keys: Address, words: number, strings: Address, row: number): Element => {
    const at = keys + row * words * 8;
    const [, half = 0] = memory.u32(at, 2);
    if (words === 1) return half === 0 ? null : textOf(strings, half).toString();
    return half !== 0 ? null : (memory.i64(at + 8, 1)[0] ?? null);
  };
  const listOf = (starts: Address, rows: Address, list: number): Uint32Array => {
    const [start = 0, end = 0] = memory.u32(starts + list * 4, 2);
    return memory.u32(rows + start * 4, end - start);
  };
  return {
    ...arrayKernels(memory),
    listSizes(keys, n, words, strings, state, most) {
      const largest = memory.u32(most, 2);
      for (let row = 0; row < n; row++) {
        const [group = 0, half = 0] = memory.u32(keys + row * words * 8, 2);
        const sizes = memory.u32(state + group * 8, 2);
        const bytes = words === 2 || half === 0 ? 8 : textOf(strings, half).length;
        sizes.set([(sizes[0] ?? 0) + 1, Math.min(BYTES_MAX, (sizes[1] ?? 0) + bytes)]);
        largest.set([Math.max(largest[0] ?? 0, sizes[0] ?? 0), Math.max(largest[1] ?? 0, sizes[1] ?? 0)]);
      }
    },
    listSort(keys, words, strings, starts, count, rows) {
      for (let list = 0; list < count; list++) {
        const own = listOf(starts, rows, list);
        const value = (row: number): Element => elementOf(keys, words, strings, row);
        const sorted = [...own].sort((a, b) => {
          const [one, other] = [value(a), value(b)];
          if (one === null || other === null) return Number(other === null) - Number(one === null);
          return one < other ? -1 : one > other ? 1 : 0;
        });
        own.set(sorted);
      }
    },
    listTexts(keys, words, strings, starts, rows, groups, n, form, separator, separatorBytes, out, buffer) {
      const between = Buffer.from(memory.u8(separator, separatorBytes)).toString();
      let free = buffer;
      for (let i = 0; i < n; i++) {
        const own = [...listOf(starts, rows, memory.u32(groups, n)[i] ?? 0)];
        const elements = own.map((row) => elementOf(keys, words, strings, row));
        const text = Buffer.from(form === 0 ? elements.map((element) => element ?? '').join(between) : arrayOf(elements, form === 3));
        memory.u8(free, text.length).set(text);
        const length = words === 1 ? (text.length | 0x80000000) >>> 0 : text.length;
        memory.u32(out + i * 8, 2).set(own.length === 0 ? [0, 0] : [free, length]);
        free += text.length;
      }
    },
  };
}

/** An array as a text whose order is that of arrays. */
function arrayOf(elements: readonly Element[], areDoubles: boolean): string {
  const body = (element: string | bigint): string => {
    if (typeof element === 'string') return element.replaceAll('\u0001', '\u0001\u0002').replaceAll('\u0000', '\u0001\u0001');
    const bits = BigInt.asUintN(64, element);
    return (areDoubles ? sortable(bits) : bits ^ SIGN).toString(16).padStart(16, '0');
  };
  return elements.map((element) => (element === null ? '\u0001' : `\u0002${body(element)}\u0000`)).join('');
}

/** Negative doubles have all bits turned, others the sign; NaN is one value, above all numbers. */
function sortable(bits: bigint): bigint {
  if ((bits & ~SIGN) > 0x7ff0000000000000n) return 0xfff8000000000000n;
  return (bits & SIGN) === 0n ? bits | SIGN : bits ^ ALL;
}

const ELEMENT = /\u0001|\u0002([^\u0000]*)\u0000/g;
const isWide = (text: string): boolean => Buffer.byteLength(text) !== text.length;

function arrayKernels(memory: KernelMemory): Omit<ArrayKernels, keyof MadeListKernels> {
  const { textAt, put, putNull, writer } = textMemory(memory);
  /** Elements as they are written, null for null; where each begins among the characters of the text. */
  const elementsOf = (text: Found | null): RegExpMatchArray[] => [...(text?.text ?? '').matchAll(ELEMENT)];
  const bit = (bits: Address, i: number): boolean => bits !== 0 && ((memory.u8(bits, (i >>> 3) + 1)[i >>> 3] ?? 0) & (1 << (i & 7))) !== 0;
  const listOf = (starts: Address, i: number): readonly [number, number] => {
    const all = memory.u32(starts, i + 2);
    return [(all[i] ?? 0) - (all[0] ?? 0), (all[i + 1] ?? 0) - (all[0] ?? 0)];
  };
  const textsOf = (starts: Address, texts: Address, i: number): (Found | null)[] => {
    const [from, to] = listOf(starts, i);
    return Array.from({ length: to - from }, (_, at) => textAt(texts, from + at));
  };
  return {
    arrayStarts(texts, n, _numbers, starts) {
      let count = 0;
      memory.u32(starts, 1)[0] = 0;
      for (let i = 0; i < n; i++) {
        count += elementsOf(textAt(texts, i)).length;
        memory.u32(starts, n + 1)[i + 1] = count;
      }
      return count;
    },
    arrayNumbers(texts, n, doubles, numbers, nulls) {
      let count = 0;
      const areNull: boolean[] = [];
      for (let i = 0; i < n; i++) {
        const found = textAt(texts, i);
        const elements = elementsOf(found);
        if (elements.map(([each]) => each).join('') !== (found?.text ?? '')) return -1;
        for (const [, digits] of elements) {
          if (digits !== undefined && !/^[0-9a-f]{16}$/.test(digits)) return -1;
          const bits = digits === undefined ? null : BigInt(`0x${digits}`);
          areNull.push(bits === null);
          const number = bits === null ? 0n : doubles === 1 && bits < SIGN ? bits ^ ALL : bits ^ SIGN;
          memory.i64(numbers + count++ * 8, 1)[0] = BigInt.asIntN(64, number);
        }
      }
      const words = memory.u32(nulls, Math.ceil(count / 64) * 2).fill(0);
      areNull.forEach((isNull, at) => {
        if (isNull) words[at >>> 5] = ((words[at >>> 5] ?? 0) | (1 << (at & 31))) >>> 0;
      });
      return areNull.filter((isNull) => isNull).length;
    },
    arrayStrings(texts, n, out, buffer) {
      let [count, free] = [0, buffer];
      for (let i = 0; i < n; i++) {
        const found = textAt(texts, i);
        if (found === null) continue;
        for (const match of elementsOf(found)) {
          const [, body] = match;
          const place = count++;
          if (body === undefined) {
            putNull(out, place);
            continue;
          }
          const text = body.replace(/\u0001([\u0001\u0002])/g, (_, mark) => (mark === '\u0001' ? '\u0000' : '\u0001'));
          const bytes = Buffer.from(text);
          if (text === body) {
            put(out, place, found.at + Buffer.byteLength(found.text.slice(0, match.index)) + 1, bytes.length, isWide(text));
            continue;
          }
          memory.u8(free, bytes.length).set(bytes);
          put(out, place, free, bytes.length, isWide(text));
          free += bytes.length;
        }
      }
    },
    arrayTexts(starts, texts, n, nulls, out, buffer) {
      const write = writer(out, buffer);
      for (let i = 0; i < n; i++) {
        const elements = textsOf(starts, texts, i);
        const body = (text: string): string => text.replaceAll('\u0001', '\u0001\u0002').replaceAll('\u0000', '\u0001\u0001');
        const all = elements.map((each) => (each === null ? '\u0001' : `\u0002${body(each.text)}\u0000`)).join('');
        if (bit(nulls, i)) putNull(out, i);
        else
          write(
            i,
            all,
            elements.some((each) => each?.isWide === true),
          );
      }
    },
    listJoin(starts, texts, n, nulls, separator, separatorBytes, word, wordBytes, out, buffer) {
      const write = writer(out, buffer);
      const between = Buffer.from(memory.u8(separator, separatorBytes)).toString();
      const ofNull = Buffer.from(memory.u8(word, wordBytes)).toString();
      for (let i = 0; i < n; i++) {
        const elements = textsOf(starts, texts, i);
        if (bit(nulls, i) || (elements.length === 1 && elements[0] === null)) {
          putNull(out, i);
          continue;
        }
        const isAnyWide = elements.some((each) => each?.isWide === true) || (elements.length > 1 && isWide(between));
        write(i, elements.map((each) => each?.text ?? ofNull).join(between), isAnyWide);
      }
    },
    listPick(starts, values, nulls, n, place, out, absent) {
      for (let i = 0; i < n; i++) {
        const [from, to] = listOf(starts, i);
        const isThere = place < to - from;
        memory.i64(out + i * 8, 1)[0] = isThere ? (memory.i64(values + (from + place) * 8, 1)[0] ?? 0n) : 0n;
        if (absent !== 0) memory.i64(absent + i * 8, 1)[0] = isThere && !bit(nulls, from + place) ? 0n : 1n;
      }
    },
    listFirst(starts, bits, n, out) {
      for (let i = 0; i < n; i++) {
        const [from, to] = listOf(starts, i);
        let at = from;
        while (at < to && !bit(bits, at)) at++;
        memory.i64(out + i * 8, 1)[0] = BigInt(at === to ? -1 : at - from);
      }
    },
    listRows(starts, n, row, out) {
      for (let i = 0; i < n; i++) {
        const [from, to] = listOf(starts, i);
        memory.u32(out + from * 4, to - from).fill(row + i);
      }
    },
  };
}

/** A value and whether it is null. */
type Marked = readonly [value: bigint, isNull: boolean];

/** Stands for as many values as there are. */
const REST = 0xffffffff;
const NOTHING: Marked = [0n, true];

export function madeListKernels(memory: KernelMemory): MadeListKernels {
  const bit = (bits: Address, i: number): boolean => bits !== 0 && ((memory.u8(bits + (i >>> 3), 1)[0] ?? 0) & (1 << (i & 7))) !== 0;
  const listAt = (starts: Address, i: number): readonly [from: number, to: number] => {
    const [first = 0] = memory.u32(starts, 1);
    const [from = 0, to = 0] = memory.u32(starts + i * 4, 2);
    return [from - first, to - first];
  };
  const marked = (values: Address, nulls: Address, from: number, to: number): Marked[] =>
    Array.from({ length: to - from }, (_, at) => [memory.i64(values + (from + at) * 8, 1)[0] ?? 0n, bit(nulls, from + at)]);
  const writeStarts = (out: Address, lengths: readonly number[]): number => {
    let end = 0;
    memory.u32(out, lengths.length + 1).set([0, ...lengths.map((length) => (end += length))]);
    return end;
  };
  const write = (values: readonly Marked[], out: Address, outNulls: Address): number => {
    values.forEach(([value], at) => {
      memory.i64(out + at * 8, 1)[0] = value;
    });
    if (outNulls !== 0) {
      const bytes = memory.u8(outNulls, Math.ceil(values.length / 64) * 8).fill(0);
      values.forEach(([, isNull], at) => {
        if (isNull) bytes[at >>> 3] = (bytes[at >>> 3] ?? 0) | (1 << (at & 7));
      });
    }
    return values.filter(([, isNull]) => isNull).length;
  };
  const each = <Made>(n: number, make: (i: number) => Made): Made[] => Array.from({ length: n }, (_, i) => make(i));
  /** Values of list i of a source. */
  const ofSource = (source: Address, i: number): Marked[] => {
    const [starts = 0, values = 0, nulls = 0, offset = 0] = memory.u32(source, 4);
    const [from, to] = starts === 0 ? [i, i + 1] : listAt(starts, i);
    return marked(values, nulls, offset + from, offset + to);
  };
  const lengthOf = (made: Address, i: number): number => {
    const [from, to] = listAt(made, i);
    return to - from;
  };
  return {
    sliceStarts: (starts, n, nulls, from, size, out) =>
      writeStarts(
        out,
        each(n, (i) => (bit(nulls, i) ? 0 : size === REST ? Math.max(0, lengthOf(starts, i) - from) : size)),
      ),
    sliceValues(starts, values, nulls, n, from, made, out, outNulls) {
      const lists = each(n, (i) => {
        const [start, end] = listAt(starts, i);
        const own = marked(values, nulls, start, end).slice(from);
        return Array.from({ length: lengthOf(made, i) }, (_, at) => own[at] ?? NOTHING);
      });
      return write(lists.flat(), out, outNulls);
    },
    concatStarts: (sources, count, n, nulls, out) =>
      writeStarts(
        out,
        each(n, (i) => (bit(nulls, i) ? 0 : each(count, (source) => ofSource(sources + source * 16, i).length).reduce((a, b) => a + b, 0))),
      ),
    concatValues(sources, count, n, made, out, outNulls) {
      const lists = each(n, (i) => (lengthOf(made, i) === 0 ? [] : each(count, (source) => ofSource(sources + source * 16, i)).flat()));
      return write(lists.flat(), out, outNulls);
    },
    arrayNumberTexts(starts, numbers, nulls, n, listNulls, doubles, out, buffer) {
      const { putNull, writer } = textMemory(memory);
      const put = writer(out, buffer);
      for (let i = 0; i < n; i++) {
        const [from, to] = listAt(starts, i);
        const values = marked(numbers, nulls, from, to).map(([value, isNull]) => (isNull ? null : value));
        if (bit(listNulls, i)) putNull(out, i);
        else put(i, arrayOf(values, doubles === 1), false);
      }
    },
  };
}
