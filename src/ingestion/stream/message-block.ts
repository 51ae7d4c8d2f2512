// Messages of a stream as places in bytes.

import type { MessageBlock, StreamRecord } from './stream-reader.js';

/** The messages before an offset. */
export function before(block: MessageBlock, end: number): MessageBlock {
  const { offsets, count } = block;
  let [from, to] = [0, count];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((offsets[middle] ?? end) < end) from = middle + 1;
    else to = middle;
  }
  return from === count ? block : block.part(0, from);
}

export function recordsOf(blocks: readonly MessageBlock[]): readonly StreamRecord[] {
  return blocks.flatMap((block) => Array.from({ length: block.count }, (_, at) => block.record(at)));
}
