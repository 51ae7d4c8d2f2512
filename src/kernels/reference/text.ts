// Reference kernels over texts by reference.

import type { Address } from '../../base/layout.js';
import { doubleText, floatText } from '../../base/number-text.js';
import type { KernelMemory } from '../memory.js';
import { isLike } from './dictionary.js';
import { compareTexts, textMemory } from './text-memory.js';
import { hasBit, writeBits } from './views.js';

/** Wall clocks of the years 0 to 9999, and where their units are in ISO 8601. */
const [FIRST_CLOCK, LAST_CLOCK] = [-62_167_219_200_000, 253_402_300_799_999];
const UNIT_PLACES: readonly (readonly [from: number, to: number])[] = [
  [0, 4],
  [5, 7],
  [8, 10],
  [11, 13],
  [14, 16],
  [17, 19],
  [20, 23],
];

/** The texts as JavaScript strings: what the other sets do with bytes is done with these. */
export function textKernels(memory: KernelMemory) {
  const { textAt, put, putNull, writer } = textMemory(memory);
  /** `make` of each text that is not wide; how many are. */
  const narrowOnly = (texts: Address, n: number, out: Address, buffer: Address, make: (text: string) => string): number => {
    const write = writer(out, buffer);
    let wide = 0;
    for (let i = 0; i < n; i++) {
      const found = textAt(texts, i);
      if (found === null) putNull(out, i);
      else if (found.isWide) {
        put(out, i, found.at, found.length, true);
        wide++;
      } else write(i, make(found.text), false);
    }
    return wide;
  };
  /** `put` of each text that `pattern` fits, and of null for all others, whose bits are set. */
  const numbersOf = (
    texts: Address,
    n: number,
    others: Address,
    pattern: RegExp,
    put: (i: number, text: string | null) => void,
    isKnown = (_: string): boolean => true,
  ): number => {
    const found = Array.from({ length: n }, (_, i) => textAt(texts, i)?.text ?? null);
    const isOther = found.map((text) => text === null || !pattern.test(text) || !isKnown(text));
    found.forEach((text, i) => put(i, isOther[i] === true ? null : text));
    writeBits(memory, others, n, (i) => isOther[i] === true);
    return isOther.filter((each) => each).length;
  };

  return {
    textEntries(bytes: Address, offsets: Address, ids: Address, n: number, hasNull: number, out: Address): number {
      let withPairs = 0;
      for (let i = 0; i < n; i++) {
        const id = ids === 0 ? i : (memory.u32(ids, n)[i] ?? 0);
        const [from = 0, to = 0] = memory.u32(offsets + id * 4, 2);
        const entry = memory.u8(bytes + from, to - from);
        if (id === 0 && hasNull === 1) {
          putNull(out, i);
          continue;
        }
        put(
          out,
          i,
          bytes + from,
          to - from,
          entry.some((byte) => byte > 127),
        );
        if (entry.some((byte) => byte >= 0xf0)) withPairs++;
      }
      return withPairs;
    },
    textUnits(texts: Address, n: number, out: Address) {
      const units = memory.i64(out, n);
      for (let i = 0; i < n; i++) units[i] = BigInt(textAt(texts, i)?.text.length ?? 0);
    },
    textBytes(texts: Address, n: number): number {
      let sum = 0;
      for (let i = 0; i < n; i++) sum += textAt(texts, i)?.length ?? 0;
      return sum;
    },
    textNulls(texts: Address, n: number, out: Address): number {
      let count = 0;
      writeBits(memory, out, n, (i) => {
        const isNull = memory.u32(texts + i * 8, 1)[0] === 0;
        if (isNull) count++;
        return isNull;
      });
      return count;
    },
    textCompare(a: Address, b: Address, one: number, n: number, operation: number, out: Address) {
      writeBits(memory, out, n, (i) => {
        const [left, right] = [textAt(a, i), textAt(b, one === 1 ? 0 : i)];
        if (left === null || right === null) return false;
        const order = compareTexts(left.text, right.text);
        return operation === 0 ? order === 0 : operation === 1 ? order < 0 : order <= 0;
      });
    },
    textLike(texts: Address, n: number, pattern: Address, patternBytes: number, out: Address) {
      const wanted = memory.u8(pattern, patternBytes).slice();
      writeBits(memory, out, n, (i) => {
        const found = textAt(texts, i);
        return found !== null && isLike(Buffer.from(found.text), 0, found.length, wanted);
      });
    },
    textFind(texts: Address, n: number, wanted: Address, wantedBytes: number, out: Address) {
      const positions = memory.i64(out, n);
      const text = Buffer.from(memory.u8(wanted, wantedBytes)).toString();
      for (let i = 0; i < n; i++) positions[i] = BigInt(textAt(texts, i)?.text.indexOf(text) ?? 0);
    },
    textFindEach(texts: Address, wanted: Address, oneWanted: number, froms: Address, oneFrom: number, n: number, out: Address) {
      const positions = memory.i64(out, n);
      for (let i = 0; i < n; i++) {
        const [text, search] = [textAt(texts, i)?.text, textAt(wanted, oneWanted === 1 ? 0 : i)?.text];
        const from = Number(memory.i64(froms, n)[oneFrom === 1 ? 0 : i] ?? 0n);
        positions[i] = text === undefined || search === undefined ? 0n : BigInt(text.indexOf(search, from));
      }
    },
    textSlice(
      texts: Address,
      n: number,
      kind: number,
      froms: Address,
      oneFrom: number,
      counts: Address,
      oneCount: number,
      out: Address,
    ): number {
      let splits = 0;
      for (let i = 0; i < n; i++) {
        const found = textAt(texts, i);
        const units = found?.text.length ?? 0;
        const from = Number(memory.i64(froms, n)[oneFrom === 1 ? 0 : i] ?? 0n);
        const given = Number(memory.i64(counts, n)[oneCount === 1 ? 0 : i] ?? 0n);
        const areCounts = [from, given].every((each) => each === Math.trunc(each) && each >= -(2 ** 31) && each < 2 ** 31);
        if (found === null || !areCounts || from < 0 || (kind !== 0 && given < 0) || (kind === 0 && from >= units)) {
          putNull(out, i);
          continue;
        }
        const count = given < 0 ? units : given;
        const first = kind === 2 ? Math.max(0, units - count) : Math.min(units, from);
        const last = kind === 2 ? units : Math.min(units, first + count);
        if (isMiddle(found.text, first) || isMiddle(found.text, last)) splits++;
        const start = Buffer.byteLength(found.text.slice(0, first));
        put(out, i, found.at + start, Buffer.byteLength(found.text.slice(first, last)), found.isWide);
      }
      return splits;
    },
    textExtreme(a: Address, oneA: number, b: Address, oneB: number, n: number, largest: number, out: Address) {
      for (let i = 0; i < n; i++) {
        const [left, right] = [textAt(a, oneA === 1 ? 0 : i), textAt(b, oneB === 1 ? 0 : i)];
        const order = left === null || right === null ? 0 : compareTexts(left.text, right.text) * (largest === 1 ? -1 : 1);
        const best = right === null || (left !== null && order <= 0) ? left : right;
        if (best === null) putNull(out, i);
        else put(out, i, best.at, best.length, best.isWide);
      }
    },
    textTrim(texts: Address, n: number, set: Address, ends: number, out: Address) {
      const isIn = (byte: number): boolean => hasBit(memory.u32(set, 8), byte);
      for (let i = 0; i < n; i++) {
        const found = textAt(texts, i);
        if (found === null) {
          putNull(out, i);
          continue;
        }
        const bytes = memory.u8(found.at, found.length);
        let [first, last] = [0, found.length];
        if ((ends & 1) !== 0) while (first < last && isIn(bytes[first] ?? 0)) first++;
        if ((ends & 2) !== 0) while (first < last && isIn(bytes[last - 1] ?? 0)) last--;
        put(out, i, found.at + first, last - first, found.isWide);
      }
    },
    textCase(texts: Address, n: number, upper: number, table: Address, out: Address, buffer: Address): number {
      const write = writer(out, buffer);
      const changed = caseChanger(memory, table, upper === 1);
      let others = 0;
      for (let i = 0; i < n; i++) {
        const found = textAt(texts, i);
        const text = found === null ? undefined : changed(found.text);
        if (text !== undefined) write(i, text, found?.isWide === true);
        else if (found === null) putNull(out, i);
        else {
          put(out, i, found.at, found.length, true);
          others++;
        }
      }
      return others;
    },
    textReverse(texts: Address, n: number, out: Address, buffer: Address) {
      const write = writer(out, buffer);
      for (let i = 0; i < n; i++) {
        const found = textAt(texts, i);
        if (found === null) putNull(out, i);
        else write(i, [...found.text].reverse().join(''), found.isWide);
      }
    },
    textConcat(parts: Address, partCount: number, n: number, out: Address, buffer: Address) {
      const write = writer(out, buffer);
      for (let i = 0; i < n; i++) {
        const found = Array.from({ length: partCount }, (_, part) => {
          const [texts = 0, step = 0] = memory.u32(parts + part * 8, 2);
          return textAt(texts + i * step, 0);
        });
        if (found.every((each) => each !== null))
          write(
            i,
            found.map(({ text }) => text).join(''),
            found.some(({ isWide }) => isWide),
          );
        else putNull(out, i);
      }
    },
    textPad(
      texts: Address,
      n: number,
      length: number,
      padding: Address,
      paddingBytes: number,
      atStart: number,
      out: Address,
      buffer: Address,
    ): number {
      const fill = Buffer.from(memory.u8(padding, paddingBytes)).toString();
      return narrowOnly(texts, n, out, buffer, (text) => {
        const kept = text.slice(0, length);
        return atStart === 1 ? kept.padStart(length, fill) : kept.padEnd(length, fill);
      });
    },
    textReplace(
      texts: Address,
      n: number,
      wanted: Address,
      wantedBytes: number,
      replacement: Address,
      replacementBytes: number,
      out: Address,
      buffer: Address,
    ) {
      const write = writer(out, buffer);
      const search = Buffer.from(memory.u8(wanted, wantedBytes)).toString();
      const by = Buffer.from(memory.u8(replacement, replacementBytes)).toString();
      for (let i = 0; i < n; i++) {
        const found = textAt(texts, i);
        if (found === null) putNull(out, i);
        else if (!found.text.includes(search)) put(out, i, found.at, found.length, found.isWide);
        else write(i, found.text.split(search).join(by), found.isWide || Buffer.byteLength(by) !== by.length);
      }
    },
    textOfLongs(values: Address, nulls: Address, n: number, out: Address, buffer: Address) {
      const write = writer(out, buffer);
      const bits = nulls === 0 ? null : memory.u32(nulls, Math.ceil(n / 32));
      for (let i = 0; i < n; i++) {
        if (bits !== null && hasBit(bits, i)) putNull(out, i);
        else write(i, String(memory.i64(values, n)[i]), false);
      }
    },
    textOfDoubles(values: Address, nulls: Address, n: number, float: number, _powers: Address, out: Address, buffer: Address) {
      const write = writer(out, buffer);
      const bits = nulls === 0 ? null : memory.u32(nulls, Math.ceil(n / 32));
      for (let i = 0; i < n; i++) {
        const value = memory.f64(values, n)[i] ?? 0;
        if (bits !== null && hasBit(bits, i)) putNull(out, i);
        else write(i, float === 1 ? floatText(Math.fround(value)) : doubleText(value), false);
      }
    },
    textOfTimes(
      values: Address,
      nulls: Address,
      n: number,
      template: Address,
      length: number,
      fields: Address,
      fieldCount: number,
      out: Address,
      buffer: Address,
    ): number {
      const write = writer(out, buffer);
      const bits = nulls === 0 ? null : memory.u32(nulls, Math.ceil(n / 32));
      const places = memory.u16(fields, fieldCount * 2);
      let others = 0;
      for (let i = 0; i < n; i++) {
        const isNull = bits !== null && hasBit(bits, i);
        const date = new Date(Number(memory.i64(values, n)[i] ?? 0n));
        const isOther = !(date.getTime() >= FIRST_CLOCK && date.getTime() <= LAST_CLOCK);
        if (isOther && !isNull) others++;
        if (isOther || isNull) {
          putNull(out, i);
          continue;
        }
        const digits = date.toISOString();
        let text = Buffer.from(memory.u8(template, length)).toString();
        for (let field = 0; field < fieldCount; field++) {
          const [unit = 0, offset = 0] = [places[field * 2], places[field * 2 + 1]];
          const [from, to] = UNIT_PLACES[unit] ?? [0, 0];
          text = text.slice(0, offset) + digits.slice(from, to) + text.slice(offset + to - from);
        }
        write(i, text, false);
      }
      return others;
    },
    textLongs: (texts: Address, n: number, out: Address, others: Address): number =>
      numbersOf(texts, n, others, /^-?[0-9]{1,18}$/, (i, text) => {
        memory.i64(out, n)[i] = BigInt(text ?? 0);
      }),
    textTimes: (texts: Address, n: number, template: Address, steps: number, out: Address, others: Address): number => {
      const pattern = templatePattern(memory.u32(template, steps));
      return numbersOf(
        texts,
        n,
        others,
        pattern,
        (i, text) => {
          memory.i64(out, n)[i] = text === null ? 0n : BigInt(instantOf(pattern.exec(text)?.groups ?? {}) ?? 0);
        },
        (text) => instantOf(pattern.exec(text)?.groups ?? {}) !== null,
      );
    },
    textAddresses: (texts: Address, n: number, out: Address, others: Address): number =>
      numbersOf(texts, n, others, ADDRESS, (i, text) => {
        memory.i64(out, n)[i] = (text ?? '0').split('.').reduce((address, part) => address * 256n + BigInt(part), 0n);
      }),
    textOfAddresses(values: Address, nulls: Address, n: number, out: Address, buffer: Address) {
      const write = writer(out, buffer);
      const bits = nulls === 0 ? null : memory.u32(nulls, Math.ceil(n / 32));
      for (let i = 0; i < n; i++) {
        const value = memory.i64(values, n)[i] ?? 0n;
        if ((bits !== null && hasBit(bits, i)) || value < 0n || value >= 1n << 32n) putNull(out, i);
        else write(i, [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.'), false);
      }
    },
    textDoubles: (texts: Address, n: number, out: Address, others: Address): number =>
      numbersOf(texts, n, others, /^-?(?=[0-9.]+$)(?!(?:[0-9]\.?){16})[0-9]+\.?[0-9]*$/, (i, text) => {
        memory.f64(out, n)[i] = Number(text ?? 0);
      }),
  };
}

const UNITS = ['', 'year', 'month', 'day', 'hour', 'minute', 'second', 'ms'];

/** The pattern of a template of `textTimes`, with a group for each field. */
function templatePattern(steps: Uint32Array): RegExp {
  let pattern = '$';
  for (const step of steps.toReversed()) {
    const unit = (step >>> 16) & 15;
    const bytes = [step & 255, (step >>> 8) & 255].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`);
    const part = unit === 0 ? `[${bytes.join('')}]` : `(?<${UNITS[unit]}>[0-9]{${(step >>> 20) & 15}})`;
    const ends = [...(step >>> 31 === 1 ? ['$'] : []), ...((step & (1 << 30)) !== 0 ? ['Z$'] : [])];
    pattern = ends.length === 0 ? part + pattern : `(?:${[part + pattern, ...ends].join('|')})`;
  }
  return new RegExp(`^${pattern}`);
}

/** Milliseconds of fields by name, or null where there is no such day or hour. */
function instantOf(fields: Readonly<Record<string, string | undefined>>): number | null {
  const known = new Map(Object.entries(fields));
  const of = (unit: string, least: number): number => Number(known.get(unit) ?? least);
  const [year, month, day] = [of('year', 0), of('month', 1), of('day', 1)];
  const [hour, minute, second] = [of('hour', 0), of('minute', 0), of('second', 0)];
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const isDay = year > 0 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day && month > 0 && day > 0;
  return isDay && hour < 24 && minute < 60 && second < 60
    ? date.getTime() + ((hour * 60 + minute) * 60 + second) * 1000 + of('ms', 0)
    : null;
}

const ADDRESS_PART = '(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])';
const ADDRESS = new RegExp(`^(?:${ADDRESS_PART}\\.){3}${ADDRESS_PART}$`);

/** Whether a position lies between the two halves of a surrogate pair. */
function isMiddle(text: string, position: number): boolean {
  return position > 0 && position < text.length && (text.codePointAt(position - 1) ?? 0) > 0xffff;
}

/** Changes the case of a text by a table; undefined where that has no answer for a code point. */
function caseChanger(memory: KernelMemory, table: Address, isUpper: boolean): (text: string) => string | undefined {
  const [first, last] = isUpper ? [0x61, 0x7a] : [0x41, 0x5a];
  const [pairs, groups] = [0x780 * 2, 0x20000 >> 6];
  const change = (point: number): number => {
    if (point < 0x80) return point >= first && point <= last ? point ^ 0x20 : point;
    const group = point >> 6;
    if (point < 0x800) return memory.u16(table + (point - 0x80) * 2, 1)[0] ?? 0;
    return group < groups && memory.u8(table + pairs + group, 1)[0] === 1 ? point : 0;
  };
  return (text) => {
    const points = Array.from(text, (each) => each.codePointAt(0) ?? 0);
    const changed = points.map(change);
    const isTold = changed.every((point, at) => point !== 0 || points[at] === 0);
    return isTold ? changed.map((point) => String.fromCodePoint(point)).join('') : undefined;
  };
}
