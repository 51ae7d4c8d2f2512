// Messages of a stream as places in bytes.

import { Buffer } from 'node:buffer';
import type { Texts } from './line-buffer.js';
import type { MessageBlock, MessageTexts, StreamRecord } from './stream-reader.js';

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

const GAP = Buffer.alloc(1);

/** The values of records of one topic: a record may have several, each with what stands beside all of them. */
export function blockOf(records: readonly StreamRecord[]): MessageTexts {
  const each = records.flatMap((record) => record.values.map((value) => ({ record, value })));
  return {
    ...joinTexts(each.map(({ value }) => value)),
    topic: records[0]?.topic ?? '',
    times: Float64Array.from(each, ({ record }) => record.timestampMs),
    keys: joinTexts(each.map(({ record }) => record.key)),
    headers: (at) => each[at]?.record.headers ?? [],
  };
}

/** Texts one behind the other; null: none. */
function joinTexts(values: readonly (Uint8Array | null)[]): Texts {
  const [starts, ends] = [new Int32Array(values.length), new Int32Array(values.length)];
  let size = 0;
  for (const [at, value] of values.entries()) {
    starts[at] = size;
    ends[at] = value === null ? -1 : size + value.length;
    size += value === null ? 0 : value.length + 1;
  }
  return { count: values.length, bytes: Buffer.concat(values.flatMap((value) => (value === null ? [] : [value, GAP]))), starts, ends };
}
