// Reference kernels that make lists of others, value by value, and arrays of numbers.

import type { Address } from '../../base/layout.js';
import type { MadeListKernels } from '../array-contract.js';
import type { KernelMemory } from '../memory.js';
import { arrayOf } from './lists.js';
import { textMemory } from './text-memory.js';

/** A value and whether it is null. */
type Marked = readonly [value: bigint, isNull: boolean];

const ALL = 0xffffffff;
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
        each(n, (i) => (bit(nulls, i) ? 0 : size === ALL ? Math.max(0, lengthOf(starts, i) - from) : size)),
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
