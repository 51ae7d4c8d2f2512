import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Address } from '../../src/base/layout.js';
import { packBits } from '../../src/kernels/conformance/decode.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { instantiateKernels } from '../../src/kernels/registry.js';

const memory = KernelMemory.create({ maximumBytes: 64 * 1024 * 1024 });

/** Runs with an arena whose regions are filled with noise, and gives it back. */
function inArena<Result>(work: (take: (bytes: number) => Address) => Result): Result {
  const arena = memory.arena();
  try {
    return work((bytes) => {
      const at = arena.take(bytes + 64);
      memory.u8(at, bytes + 64).fill(0xa5);
      return at;
    });
  } finally {
    arena.release();
  }
}

for (const name of ['simd', 'scalar', 'reference']) {
  const kernels = instantiateKernels(name, memory);
  const properties = suite(`kernel properties (${name})`);

  properties('hashKeys numbers keys by first appearance over growing tables', () => {
    const keys = fc.array(
      fc.tuple(
        fc.bigInt({ min: -3n, max: 40n }),
        fc.oneof(fc.bigInt({ min: 0n, max: 3n }), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
      ),
    );
    fc.assert(
      fc.property(fc.array(keys, { maxLength: 6 }), fc.constantFrom(1, 2), (batches, words) => {
        inArena((take) => {
          const known = take(2000 * words * 8);
          const numbers = new Map<string, number>();
          let count = 0;
          let capacity = 4;
          let slots = take(capacity * 4);
          memory.u32(slots, capacity).fill(0);
          for (const batch of batches) {
            // The host does the same: enlarge the table, rehash, go on.
            while ((count + batch.length) * 2 > capacity) capacity *= 2;
            slots = take(capacity * 4);
            memory.u32(slots, capacity).fill(0);
            kernels.rehash(known, count, words, slots, capacity);
            const input = take(batch.length * words * 8);
            memory.i64(input, batch.length * words).set(batch.flatMap((key) => key.slice(0, words)));
            const out = take(batch.length * 4);
            count = kernels.hashKeys(input, batch.length, words, slots, capacity, known, count, out);
            const expected = batch.map((key) => {
              const text = key.slice(0, words).join();
              if (!numbers.has(text)) numbers.set(text, numbers.size);
              return numbers.get(text);
            });
            assert.equal([...memory.u32(out, batch.length)], expected);
            assert.is(count, numbers.size);
          }
        });
      }),
      { numRuns: 60 },
    );
  });

  properties('expand gives each value its row, and a null for none', () => {
    const lists = fc.array(fc.array(fc.nat(255), { maxLength: 5 }), { maxLength: 80 });
    fc.assert(
      fc.property(lists, fc.nat(20), (rows, slack) => {
        inArena((take) => {
          const offsets = take((rows.length + 1) * 4);
          let end = 0;
          memory.u32(offsets, rows.length + 1).set([0, ...rows.map((list) => (end += list.length))]);
          const ids = take(end);
          memory.u8(ids, end).set(rows.flat());
          const expected = rows.flatMap((list, row) => (list.length === 0 ? [[row, 9999]] : list.map((id) => [row, id])));
          const capacity = expected.length + slack;
          const [outRows, outPositions, outIds] = [take(capacity * 4), take(capacity * 4), take(capacity * 4)];
          const count = kernels.expandU8(ids, offsets, 0, rows.length, 9999, outRows, outPositions, outIds, capacity);
          assert.is(count, expected.length);
          assert.equal(
            [...memory.u32(outRows, count)],
            expected.map(([row]) => row),
          );
          assert.equal(
            [...memory.u32(outPositions, count)],
            expected.map(([row]) => row),
          );
          assert.equal(
            [...memory.u32(outIds, count)],
            expected.map(([, id]) => id),
          );
        });
      }),
      { numRuns: 100 },
    );
  });

  properties('timeRuns covers exactly the rows inside the buckets, each once, in order', () => {
    const times = fc.array(fc.nat(300), { maxLength: 200 }).map((all) => all.sort((a, b) => a - b));
    const boundaries = fc
      .uniqueArray(fc.integer({ min: -20, max: 320 }), { minLength: 2, maxLength: 60 })
      .map((all) => all.sort((a, b) => a - b));
    fc.assert(
      fc.property(times, boundaries, fc.bigInt({ min: -(10n ** 12n), max: 10n ** 13n }), (values, bounds, base) => {
        inArena((take) => {
          const at = take(values.length * 4);
          memory.u32(at, values.length).set(values);
          const atBounds = take(bounds.length * 8);
          memory.i64(atBounds, bounds.length).set(bounds.map((bound) => base + BigInt(bound)));
          const out = take((values.length + 1) * 12);
          const count = kernels.timeRunsU32(at, base, 0, values.length, atBounds, bounds.length, out);
          const bucketOfRow = new Map<number, number>();
          let before = -1;
          for (let run = 0; run < count; run++) {
            const [bucket = 0, start = 0, end = 0] = memory.u32(out + run * 12, 3);
            assert.ok(bucket > before && start < end, `run ${run} is out of order or empty`);
            before = bucket;
            for (let row = start; row < end; row++) {
              assert.not(bucketOfRow.has(row), `row ${row} twice`);
              bucketOfRow.set(row, bucket);
            }
          }
          for (const [row, value] of values.entries()) {
            const bucket = bounds.findIndex((bound, index) => bound <= value && value < (bounds[index + 1] ?? Number.NEGATIVE_INFINITY));
            assert.is(bucketOfRow.get(row), bucket < 0 ? undefined : bucket);
          }
        });
      }),
      { numRuns: 100 },
    );
  });

  properties('top is the head of a stable sort', () => {
    const states = fc.array(fc.oneof(fc.integer({ min: -5, max: 5 }), fc.double()), { maxLength: 300 });
    fc.assert(
      fc.property(states, fc.nat(40), fc.boolean(), (state, k, descending) => {
        inArena((take) => {
          const at = take(state.length * 8);
          memory.f64(at, state.length).set(state);
          const [heap, out] = [take(k * 4), take(k * 4)];
          const count = kernels.topF64(at, 0, state.length, k, descending ? 1 : 0, heap, out);
          // NaN is above all numbers, infinities included.
          const isBelow = (a: number, b: number): boolean => a < b || (!Number.isNaN(a) && Number.isNaN(b));
          const isBefore = (a: number, b: number): boolean => (descending ? isBelow(b, a) : isBelow(a, b));
          const expected = [...state.keys()].sort((a, b) => {
            const [left = 0, right = 0] = [state[a], state[b]];
            return isBefore(left, right) ? -1 : isBefore(right, left) ? 1 : 0;
          });
          assert.equal([...memory.u32(out, count)], expected.slice(0, k));
        });
      }),
      { numRuns: 150 },
    );
  });

  properties('dictionaryIntern gives one id to one string, whatever the dictionaries', () => {
    const dictionary = fc.uniqueArray(fc.string({ unit: 'binary', maxLength: 12 }), { maxLength: 50 });
    fc.assert(
      fc.property(fc.array(dictionary, { maxLength: 5 }), (dictionaries) => {
        inArena((take) => {
          const entries = take(300 * 8);
          const arena = take(20_000);
          const counters = take(8);
          memory.u32(counters, 2).set([1, 0]);
          memory.u32(entries, 2).set([0, 0]);
          const ids = new Map<string, number>();
          for (const strings of dictionaries) {
            const text = Buffer.from(strings.join(''));
            const bytes = take(text.length);
            memory.u8(bytes, text.length).set(text);
            const offsets = take((strings.length + 1) * 4);
            let end = 0;
            memory.u32(offsets, strings.length + 1).set([0, ...strings.map((one) => (end += Buffer.byteLength(one)))]);
            const remap = take(strings.length * 4);
            const slots = take(1024 * 4);
            memory.u32(slots, 1024).fill(0);
            kernels.dictionaryRehash(entries, memory.u32(counters, 1)[0] ?? 0, slots, 1024);
            kernels.dictionaryIntern(bytes, offsets, strings.length, -1, slots, 1024, entries, arena, counters, remap);
            for (const one of strings) if (!ids.has(one)) ids.set(one, ids.size + 1);
            assert.equal(
              [...memory.u32(remap, strings.length)],
              strings.map((one) => ids.get(one)),
            );
          }
          for (const [text, id] of ids) {
            const [at = 0, length = 0] = memory.u32(entries + id * 8, 2);
            assert.is(Buffer.from(memory.u8(at, length)).toString(), text);
          }
        });
      }),
      { numRuns: 60 },
    );
  });

  properties('unpack undoes packing at every width', () => {
    for (let width = 1; width <= 32; width++) {
      const values = fc.array(fc.integer({ min: 0, max: 2 ** width - 1 }), { maxLength: 70 });
      fc.assert(
        fc.property(values, (all) => {
          inArena((take) => {
            const bytes = packBits(all, width);
            const packed = take(bytes.length);
            memory.u8(packed, bytes.length).set(bytes);
            const out = take(all.length * 4);
            kernels.unpackU32(packed, all.length, width, out);
            assert.equal([...memory.u32(out, all.length)], all);
          });
        }),
        { numRuns: 15 },
      );
    }
  });

  properties.run();
}
