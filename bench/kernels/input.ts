import { TEXT_PADDING, TEXT_SLOT_BYTES, TEXT_TABLE } from '../../src/kernels/text-id-contract.js';
import type { Bench, BenchCase } from './bench-case.js';

/** Fields of input, each of 17 bytes: 20,000 different ones in turn, the first time as new ones and then as known ones. */
export function input(bench: Bench): BenchCase[] {
  const [different, width] = [20_000, 17];
  const count = Math.max(different * 2, Math.floor(1_000_000 * bench.scale));
  const bytes = bench.allocate(count * width + TEXT_PADDING);
  const text = Buffer.from(bench.memory.u8(bytes, count * width).buffer, bytes, count * width);
  for (let row = 0; row < count; row++)
    text.write(`/page/${String((row * 7919) % different).padStart(6, '0')}.html`, row * width, 'latin1');
  const starts = bench.u32(count, (row) => row * width);
  const ends = bench.u32(count, (row) => row * width + width);
  const capacity = 32_768;
  const [table, slots] = [bench.allocate(TEXT_TABLE.words * 4), bench.allocate(capacity * TEXT_SLOT_BYTES)];
  const arenaBytes = different * width + TEXT_PADDING;
  const [arena, offsets, ids] = [bench.allocate(arenaBytes), bench.allocate((different + 2) * 4), bench.allocate(count * 4)];
  return [
    {
      name: 'strings of input to ids',
      kernels: ['textIds'],
      rows: count,
      bytes: count * width,
      blocks: 1,
      outputs: [
        { at: ids, bytes: count * 4 },
        { at: arena, bytes: arenaBytes - TEXT_PADDING },
      ],
      call: (k) => void k.textIds(bytes, starts, ends, 0, 0, count, table, ids),
      reset() {
        bench.memory.u8(slots, capacity * TEXT_SLOT_BYTES).fill(0);
        const words = bench.memory.u32(table, TEXT_TABLE.words);
        words.set([slots, capacity, arena, arenaBytes, 0, 1, offsets, different + 2, 1, 2, 3, 4, 5, 6, 0, 0]);
      },
    },
  ];
}
