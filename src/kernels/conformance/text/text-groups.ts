// Conformance checks of the kernels that number texts, sort them, and find the first and last of them.

import type { Lab } from '../lab.js';
import { bytesIn, expectTexts, found, lay, order, randomTexts, roomFor, type Text } from './text-lab.js';

export const TEXT_GROUP_CHECKS = {
  textIntern(lab: Lab) {
    lab.each(['copied', 'referred to', 'by their hashes'], (rows, variant) => {
      const batches = [randomTexts(lab, rows), randomTexts(lab, rows)];
      const all = batches.flat();
      const capacity = capacityFor(all.length + 1);
      const slots = lab.output('I64', capacity, new Array<bigint>(capacity).fill(0n));
      const [entries, hashes] = [lab.output('U32', (all.length + 1) * 2, [0, 0]), lab.output('U32', all.length + 1, [0])];
      const arena = variant === 'copied' ? lab.output('U8', bytesIn(all) + all.length * 4) : 0;
      const counters = lab.output('U32', 2, [1, 0]);
      const out = lab.output('U32', rows);
      const known: Text[] = [null];
      for (const texts of batches) {
        const { at } = lay(lab, texts);
        const given = variant === 'by their hashes' ? lab.place('U32', hashesIn(lab, at, texts.length)) : 0;
        lab.call(() => lab.kernels.textIntern(at, given, texts.length, slots, capacity, entries, hashes, arena, counters, out));
        for (const text of texts) if (!known.includes(text)) known.push(text);
        lab.expect(
          'U32',
          out,
          texts.map((text) => known.indexOf(text)),
          'id',
        );
      }
      const [count = 0, used = 0] = lab.read('U32', counters, 2).map(Number);
      lab.expectResult(count, known.length);
      lab.expectResult(used, arena === 0 ? 0 : known.reduce((sum, text) => sum + Math.ceil(Buffer.byteLength(text ?? '') / 4) * 4, 0));
      expectTexts(
        lab,
        entries + 8,
        known.slice(1).map((text) => (text === '' && arena === 0 ? undefined : text)),
        () => false,
      );
    });
  },
  textRehash(lab: Lab) {
    lab.each(['entries'], (rows) => {
      const texts = randomTexts(lab, rows);
      const { at } = lay(lab, texts);
      const capacity = 2 * capacityFor(texts.length + 1);
      const [slots, counters] = [lab.output('I64', capacity), lab.output('U32', 2, [1, 0])];
      const [entries, hashes] = [lab.output('U32', (texts.length + 1) * 2, [0, 0]), lab.output('U32', texts.length + 1, [0])];
      const out = lab.output('U32', rows);
      const intern = (size: number): void =>
        lab.call(() => lab.kernels.textIntern(at, 0, texts.length, slots, size, entries, hashes, 0, counters, out));
      const clear = (): void => lab.overwrite('I64', slots, new Array<bigint>(capacity).fill(0n));
      clear();
      intern(capacity / 2);
      const ids = lab.read('U32', out, rows);
      const used = lab.read('U32', counters, 2).map(Number);
      clear();
      lab.call(() => lab.kernels.textRehash(hashes, used[0] ?? 0, slots, capacity));
      intern(capacity); // finds every text again and adds none
      lab.expect('U32', counters, used, 'counter');
      lab.expect('U32', out, ids.map(Number), 'id');
    });
  },
  textBest(lab: Lab) {
    lab.each([0, 1], (rows, largest) => {
      const texts = randomTexts(lab, rows);
      const laid = lay(lab, texts);
      const groups = texts.map(() => lab.random(7));
      const at = lab.place('U32', groups);
      const state = lab.output('I64', 7, new Array<bigint>(7).fill(0n));
      const buffer = roomFor(lab, texts);
      const written = lab.call(() => lab.kernels.textBest(laid.at, at, texts.length, largest, state, buffer));
      const taken = texts.filter((text, i) => {
        const before = texts.slice(0, i).filter((each, at): each is string => groups[at] === groups[i] && each !== null);
        return text !== null && before.every((each) => (largest === 1 ? order(text, each) > 0 : order(text, each) < 0));
      });
      lab.expectResult(written, bytesIn(taken));
      const best = Array.from({ length: 7 }, (_, group) => {
        const of = texts.filter((text, i): text is string => groups[i] === group && text !== null).sort(order);
        return (largest === 1 ? of.at(-1) : of[0]) ?? null;
      });
      const actual = found(lab, state, 7);
      for (const [group, text] of best.entries())
        if (actual[group]?.text !== text)
          lab.fail(`group ${group} has ${JSON.stringify(actual[group]?.text)}, expected ${JSON.stringify(text)}`);
    });
  },
  textSort(lab: Lab) {
    for (const first of [0, 1]) {
      // Texts that begin alike for more than a word, and end where a word does.
      lab.each(['', 'alike so ', 'ähnlich, und das mit 31 Bytes', 'eight by'], (rows, beginning) => {
        const texts = randomTexts(lab, rows).map((text) => (text === null ? beginning : beginning + text));
        const laid = lay(lab, texts);
        const distinct = [...new Set(texts)].sort(order);
        const room = lab.output('U8', texts.length * 40 + 1088);
        const [ranks, ends] = [lab.output('U32', texts.length), lab.output('U32', first + distinct.length)];
        const out = roomFor(lab, distinct);
        const behind = lab.call(() => lab.kernels.textSort(laid.at, texts.length, first, room, ranks, ends, out));
        lab.expectResult(behind, first + distinct.length);
        lab.expect(
          'U32',
          ranks,
          texts.map((text) => first + distinct.indexOf(text)),
          'rank',
        );
        let end = 0;
        const expected = [...(first === 1 ? [0] : []), ...distinct.map((text) => (end += Buffer.byteLength(text)))];
        lab.expect('U32', ends, expected, 'end');
        lab.expect('U8', out, [...Buffer.from(distinct.join(''))], 'byte');
      });
    }
  },
  textTop(lab: Lab) {
    for (const descending of [0, 1]) {
      lab.each([0, 1, 2, 10, 1000], (rows, k) => {
        const texts = randomTexts(lab, rows).map((text) => text ?? '');
        const laid = lay(lab, texts);
        const heap = lab.output('U32', k);
        const out = lab.output('U32', k);
        const expected = [...texts.keys()]
          .sort((a, b) => order(texts[a] ?? '', texts[b] ?? '') * (descending === 1 ? -1 : 1) || a - b)
          .slice(0, k);
        lab.expectResult(
          lab.call(() => lab.kernels.textTop(laid.at, texts.length, k, descending, heap, out)),
          expected.length,
        );
        lab.expect('U32', out, expected, 'position');
      });
    }
  },
};

function capacityFor(count: number): number {
  let capacity = 16;
  while (capacity < count * 2) capacity *= 2;
  return capacity;
}

/** Hashes of texts, as a table that they are new to keeps them. */
function hashesIn(lab: Lab, at: number, count: number): number[] {
  const capacity = capacityFor(count + 1);
  const slots = lab.output('I64', capacity, new Array<bigint>(capacity).fill(0n));
  const [entries, hashes] = [lab.output('U32', (count + 1) * 2, [0, 0]), lab.output('U32', count + 1, [0])];
  const [counters, out] = [lab.output('U32', 2, [1, 0]), lab.output('U32', count)];
  lab.call(() => lab.kernels.textIntern(at, 0, count, slots, capacity, entries, hashes, 0, counters, out));
  const known = lab.read('U32', hashes, count + 1).map(Number);
  return lab.read('U32', out, count).map((id) => known[Number(id)] ?? 0);
}
