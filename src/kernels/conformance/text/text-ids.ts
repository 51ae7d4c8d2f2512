// Conformance checks of the kernels that number the texts of input.

import type { Address } from '../../../base/layout.js';
import { TEXT_PADDING, TEXT_TABLE } from '../../text-id-contract.js';
import type { Lab, Value } from '../lab.js';

const KEY = { seed: 0x0123456789abcdefn, first: 0x9e3779b97f4a7c15n, second: 0xd6e8feb86659fd93n } as const;
const CAPACITY = 64;
const ROWS = 100;

/** A dictionary that the texts of a trial go into. */
interface Table {
  readonly at: Address;
  readonly slots: Address;
  readonly arena: Address;
  readonly offsets: Address;
}

/** Words of an empty table. */
function tableWords({ slots, arena, offsets }: Omit<Table, 'at'>, arenaBytes: number, offsetsMax: number): number[] {
  const words = new Array<number>(TEXT_TABLE.words).fill(0);
  const put = (at: number, value: number): void => void (words[at] = value);
  const key = (at: number, value: bigint): void => {
    put(at, Number(value & 0xffffffffn));
    put(at + 1, Number(value >> 32n));
  };
  put(TEXT_TABLE.slots, slots);
  put(TEXT_TABLE.capacity, CAPACITY);
  put(TEXT_TABLE.arena, arena);
  put(TEXT_TABLE.arenaBytes, arenaBytes);
  put(TEXT_TABLE.count, 1);
  put(TEXT_TABLE.offsets, offsets);
  put(TEXT_TABLE.offsetsMax, offsetsMax);
  key(TEXT_TABLE.seed, KEY.seed);
  key(TEXT_TABLE.firstMultiplier, KEY.first);
  key(TEXT_TABLE.secondMultiplier, KEY.second);
  return words;
}

function openTable(lab: Lab, arenaBytes: number, offsetsMax: number): Table {
  const at = lab.output('U32', TEXT_TABLE.words);
  const slots = lab.output('U32', CAPACITY * 4, new Array<number>(CAPACITY * 4).fill(0));
  const arena = lab.output('U8', arenaBytes);
  const offsets = lab.output('U32', offsetsMax, [0, 0]);
  lab.overwrite('U32', at, tableWords({ slots, arena, offsets }, arenaBytes, offsetsMax));
  return { at, slots, arena, offsets };
}

const WORD = 2n ** 64n - 1n;

function mix(word: bigint): bigint {
  const once = (word * KEY.first) & WORD;
  const twice = ((once ^ (once >> 32n)) * KEY.second) & WORD;
  return twice ^ (twice >> 32n);
}

function hashOf(text: Buffer): number {
  const words = Buffer.concat([text, Buffer.alloc(7)]);
  let hash: bigint = KEY.seed;
  for (let at = 0; at < text.length; at += 8) hash = mix(hash ^ words.readBigUInt64LE(at));
  return Number(mix(hash ^ BigInt(text.length)) & 0xffffffffn);
}

/** Texts of 0 to 40 bytes, `different` of them; null: none. */
function textsOf(lab: Lab, count: number, different: number): (Buffer | null)[] {
  const known = Array.from({ length: different }, (_, at) =>
    Buffer.concat([Buffer.alloc(at % 38, at % 3 === 0 ? 0x61 : 0xc3), Buffer.from([at, at >> 8].slice(0, at === 0 ? 0 : 2))]),
  );
  return Array.from({ length: count }, () => (lab.random(8) === 0 ? null : (known[lab.random(different)] ?? null)));
}

interface Fields {
  readonly bytes: Address;
  readonly starts: Address;
  readonly ends: Address;
}

function layOut(lab: Lab, texts: readonly (Buffer | null)[]): Fields {
  const all = texts.map((text) => text ?? Buffer.alloc(0));
  const bytes = lab.uploadBytes(Buffer.concat([...all, Buffer.alloc(TEXT_PADDING, 0x7a)]));
  let end = 0;
  const starts: Value[] = [];
  const ends: Value[] = [];
  for (const [at, text] of all.entries()) {
    starts.push(end);
    end += text.length;
    ends.push(texts[at] === null ? 0xffffffff : end);
  }
  return { bytes, starts: lab.place('U32', starts), ends: lab.place('U32', ends) };
}

/** Ids by arrival, and the texts in that order. */
function numbered(texts: readonly (Buffer | null)[]): { readonly ids: readonly number[]; readonly entries: readonly Buffer[] } {
  const known = new Map<string, number>();
  const entries: Buffer[] = [];
  const ids = texts.map((text) => {
    if (text === null) return 0;
    const key = text.toString('latin1');
    const id = known.get(key) ?? entries.push(text);
    known.set(key, id);
    return id;
  });
  return { ids, entries };
}

function expectEntries(lab: Lab, { at, slots, arena, offsets }: Table, entries: readonly Buffer[]): void {
  const bytes = Buffer.concat(entries);
  const words = lab.read('U32', at, TEXT_TABLE.words);
  lab.expectResult(words[TEXT_TABLE.count] ?? 0, entries.length + 1);
  lab.expectResult(words[TEXT_TABLE.arenaUsed] ?? 0, bytes.length);
  lab.expect('U8', arena, [...bytes], 'byte');
  let end = 0;
  lab.expect('U32', offsets, [0, 0, ...entries.map((text) => (end += text.length))], 'offset');
  const taken = lab.read('U32', slots, CAPACITY * 4).map(Number);
  const found = Array.from({ length: CAPACITY }, (_, slot) => taken.slice(slot * 4, slot * 4 + 4)).filter(([, id]) => id !== 0);
  const wanted = entries.map((text, index) => [
    hashOf(text),
    index + 1,
    Number(lab.read('U32', offsets + (index + 1) * 4, 1)[0]),
    text.length,
  ]);
  const inOrder = (rows: readonly (readonly number[])[]): string => JSON.stringify([...rows].sort((a, b) => (a[1] ?? 0) - (b[1] ?? 0)));
  if (inOrder(found) !== inOrder(wanted)) lab.fail('the slots do not hold the texts');
}

export const TEXT_ID_CHECKS = {
  textIds(lab: Lab) {
    const variants = ['all rows', 'some rows', 'arena is full', 'offsets are full', 'slots are full'] as const;
    lab.each(variants, (count, variant) => {
      const texts = textsOf(lab, Math.min(count, 4096), variant === 'slots are full' ? 60 : 40);
      const rows = variant === 'some rows' ? texts.flatMap((_, row) => (lab.random(2) === 0 ? [row] : [])) : null;
      const { bytes, starts, ends } = layOut(lab, texts);
      const rowsAt = rows === null ? 0 : lab.place('U32', rows);
      const asked = rows === null ? texts : rows.map((row) => texts[row] ?? null);
      const arenaBytes = variant === 'arena is full' ? 100 : 2048;
      const offsetsMax = variant === 'offsets are full' ? 9 : 80;
      const table = openTable(lab, arenaBytes, offsetsMax);
      const ids = lab.output('U32', asked.length);
      const { ids: expected, entries } = numbered(asked);
      let bytesUsed = 0;
      const fitting = entries.findIndex((text, at) => {
        const hasRoom = bytesUsed + text.length + TEXT_PADDING <= arenaBytes && at + 2 < offsetsMax && (at + 2) * 4 <= CAPACITY * 3;
        if (hasRoom) bytesUsed += text.length;
        return !hasRoom;
      });
      const done = fitting < 0 ? asked.length : expected.indexOf(fitting + 1);
      const from = lab.random(2) === 0 ? 0 : Math.min(done, 5);
      if (from > 0) lab.call(() => lab.kernels.textIds(bytes, starts, ends, rowsAt, 0, from, table.at, ids));
      lab.expectResult(
        lab.call(() => lab.kernels.textIds(bytes, starts, ends, rowsAt, from, asked.length, table.at, ids)),
        done,
      );
      lab.expect('U32', ids, expected.slice(0, done), 'id');
      expectEntries(lab, table, fitting < 0 ? entries : entries.slice(0, fitting));
      if (fitting >= 0)
        lab.expectResult(lab.read('U32', table.at, TEXT_TABLE.words)[TEXT_TABLE.needed] ?? 0, entries[fitting]?.length ?? 0);
    });
  },
  textIdSlots(lab: Lab) {
    for (const taken of [0, 1, 30, 47]) {
      lab.begin(`${taken} texts`);
      const entries = Array.from({ length: taken }, (_, at) => Buffer.from(`text ${at}`));
      const { bytes, starts, ends } = layOut(lab, entries);
      const table = openTable(lab, 2048, 80);
      const ids = lab.output('U32', ROWS);
      lab.kernels.textIds(bytes, starts, ends, 0, 0, taken, table.at, ids);
      const larger = lab.output('U32', CAPACITY * 8, new Array<number>(CAPACITY * 8).fill(0));
      lab.overwrite('U32', table.at, [larger, CAPACITY * 2]);
      lab.call(() => lab.kernels.textIdSlots(table.slots, CAPACITY, table.at));
      lab.expectResult(lab.kernels.textIds(bytes, starts, ends, 0, 0, taken, table.at, ids), taken);
      lab.expect(
        'U32',
        ids,
        entries.map((_, at) => at + 1),
        'id',
      );
      lab.expectResult(lab.read('U32', table.at, TEXT_TABLE.words)[TEXT_TABLE.count] ?? 0, taken + 1);
    }
  },
};
