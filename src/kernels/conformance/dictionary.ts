// Conformance checks of dictionaries and LIKE.

import { likeBytes, parseLike } from '../../base/like-pattern.js';
import type { Lab } from './lab.js';

const PATTERNS = [
  '',
  '%',
  '_',
  '%%',
  '__',
  'a',
  'abc',
  'a%',
  'ab%',
  'abcdefgh%',
  'abcdefghi%',
  '%a',
  '%bc',
  '%cdefghij',
  '%a%',
  '%bc%',
  '%cdefghijk%',
  'a%c',
  'a_c',
  '_b%',
  '%_b',
  '%a%b%',
  '%a_c%',
  '_%',
  '%_',
  'é%',
  '%é',
  '%é%',
  '_é',
  'a%b_%c',
  '%aab',
  '%aab%',
  '%日本%',
  '日_',
  '_本%',
  '%ab%ab%',
  '%😀',
  '_😀_',
  '%\\%%',
  '\\_%',
  '%ab\\%',
  '%abc%ij%',
  'a%abcdefgh%',
  '%ab_abc%',
  '%abcdefgh_%k',
  '%k%k%k',
  '%é_%ab',
  'ab%%ij',
] as const;

const FRAGMENTS = ['a', 'b', 'c', 'ab', 'abc', 'aab', 'abcdefgh', 'ij', 'k', 'é', '日', '本', '😀', '%', '_', ''];

export const DICTIONARY_CHECKS = {
  dictionaryLike(lab: Lab) {
    lab.each(PATTERNS, (rows, text) => {
      const entries = words(lab, Math.min(rows, 2000));
      const { bytes, offsets } = uploadStrings(lab, entries);
      const compiled = likeBytes(parseLike(text, '\\'));
      const pattern = lab.uploadBytes(compiled);
      const start = lab.random(2) * lab.random(entries.length + 1);
      const end = entries.length - lab.random(2) * lab.random(entries.length - start + 1);
      const before = lab.mask('random', Math.ceil(entries.length / 64) * 64);
      const out = lab.output('I64', before.length / 64);
      lab.fill(out, before);
      lab.call(() => lab.kernels.dictionaryLike(bytes, offsets, start, end, pattern, compiled.length, out));
      const lastWord = Math.ceil(end / 64) * 64;
      lab.expectBits(
        out,
        before.map((bit, entry) => {
          if (start >= end || entry < start || entry >= lastWord) return bit;
          return entry < end && isLike(entries[entry] ?? '', text);
        }),
      );
    });
  },
  dictionaryIntern(lab: Lab) {
    lab.each(['with null', 'without null'], (rows, nulls) => interns(lab, Math.min(rows, 4000), nulls === 'with null'));
  },
  dictionaryRehash(lab: Lab) {
    lab.each(['entries'], (rows) => {
      const strings = [...new Set(words(lab, Math.min(rows, 4000)))];
      const { bytes, offsets } = uploadStrings(lab, strings);
      const table = uploadTable(lab, strings.length, bytesOf(strings));
      const intern = (): void => {
        const { slots, capacity, entries, arena, counters, remap } = table;
        lab.kernels.dictionaryIntern(bytes, offsets, strings.length, -1, slots, capacity, entries, arena, counters, remap);
      };
      lab.call(intern);
      const { slots, capacity, entries, counters, remap } = table;
      lab.overwrite('U32', slots, new Array<number>(capacity).fill(0));
      lab.call(() => lab.kernels.dictionaryRehash(entries, strings.length + 1, slots, capacity));
      lab.expectSlots(
        slots,
        capacity,
        strings.map((_, index) => index + 2),
      );
      const used = lab.read('U32', counters, 2).map(Number);
      lab.call(intern); // finds every string again and adds none
      lab.expect('U32', counters, used, 'counter');
      lab.expect(
        'U32',
        remap,
        strings.map((_, index) => index + 1),
        'id',
      );
    });
  },
};

/** Two segments' dictionaries into one table. */
function interns(lab: Lab, count: number, withNull: boolean): void {
  const first = [...new Set(words(lab, count))];
  const second = [...new Set(words(lab, count))];
  const table = uploadTable(lab, first.length + second.length, bytesOf(first) + bytesOf(second));
  const { slots, capacity, entries, arena, counters, remap } = table;
  const known: string[] = [];
  for (const strings of [first, second]) {
    const nullEntry = withNull && strings.length > 0 ? lab.random(strings.length) : -1;
    const { bytes, offsets } = uploadStrings(
      lab,
      strings.map((text, entry) => (entry === nullEntry ? '' : text)),
    );
    lab.call(() =>
      lab.kernels.dictionaryIntern(bytes, offsets, strings.length, nullEntry, slots, capacity, entries, arena, counters, remap),
    );
    const ids = strings.map((text, entry) => {
      if (entry === nullEntry) return 0;
      if (!known.includes(text)) known.push(text);
      return known.indexOf(text) + 1;
    });
    lab.expect('U32', remap, ids, 'id');
  }
  const [entryCount = 0, arenaUsed = 0] = lab.read('U32', counters, 2).map(Number);
  lab.expectResult(entryCount, known.length + 1);
  lab.expectResult(arenaUsed, bytesOf(known));
  for (const [index, text] of known.entries()) {
    const [at = 0, length = 0] = lab.read('U32', entries + (index + 1) * 8, 2).map(Number);
    if (at < arena || at + length > arena + arenaUsed || (at & 3) !== 0)
      lab.fail(`entry ${index + 1} lies at ${at}, outside the arena or unaligned`);
    const found = Buffer.from(lab.read('U8', at, length).map(Number)).toString();
    if (found !== text) lab.fail(`entry ${index + 1} is ${JSON.stringify(found)}, expected ${JSON.stringify(text)}`);
  }
}

function uploadTable(lab: Lab, stringCount: number, arenaBytes: number) {
  let capacity = 16;
  while (capacity < (stringCount * 2 + 1) * 2) capacity *= 2;
  return {
    capacity,
    slots: lab.output('U32', capacity, new Array<number>(capacity).fill(0)),
    entries: lab.output('U32', (stringCount + 1) * 2, [0, 0]),
    arena: lab.output('U8', arenaBytes),
    counters: lab.output('U32', 2, [1, 0]),
    remap: lab.output('U32', stringCount),
  };
}

/** In an arena each string begins at a multiple of four. */
function bytesOf(strings: readonly string[]): number {
  return strings.reduce((sum, text) => sum + Math.ceil(Buffer.byteLength(text) / 4) * 4, 0);
}

function words(lab: Lab, count: number): string[] {
  return Array.from({ length: count }, () =>
    Array.from({ length: lab.random(6) }, () => FRAGMENTS[lab.random(FRAGMENTS.length)] ?? '').join(''),
  );
}

export function uploadStrings(lab: Lab, strings: readonly string[]): { bytes: number; offsets: number } {
  const offsets = [0];
  for (const text of strings) offsets.push((offsets.at(-1) ?? 0) + Buffer.byteLength(text));
  return { bytes: lab.uploadBytes(Buffer.from(strings.join(''))), offsets: lab.place('U32', offsets) };
}

/** LIKE by its definition, over code points; `\` makes the next one literal. */
export function isLike(text: string, pattern: string): boolean {
  const points = [...text];
  const symbols = [...pattern];
  let reachable = new Set([0]); // how many code points the pattern so far may have taken
  for (let at = 0; at < symbols.length; at++) {
    const next = new Set<number>();
    const isEscaped = symbols[at] === '\\';
    const symbol = isEscaped ? symbols[++at] : symbols[at];
    for (const taken of reachable) {
      if (!isEscaped && symbol === '%') for (let more = taken; more <= points.length; more++) next.add(more);
      else if (taken < points.length && ((!isEscaped && symbol === '_') || points[taken] === symbol)) next.add(taken + 1);
    }
    reachable = next;
  }
  return reachable.has(points.length);
}
