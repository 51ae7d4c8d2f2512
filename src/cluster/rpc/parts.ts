// Values with long lists as they travel between roles: in parts, each a message of its own.

import { ServiceError } from '../../base/errors.js';
import { append } from '../../base/lists.js';
import { LoopTurns } from '../../base/loop-turns.js';
import type { SegmentDescriptor } from '../../model/segment.js';
import { type PackedSegments, SegmentPacker, SegmentUnpacker } from './packed-segments.js';

/** Members of a value that are long lists, and their items. */
export type PartedLists = Readonly<Record<string, 'segments' | 'values'>>;

/** Items of a message: some milliseconds of work for neither end. */
const ITEMS = { segments: 250, values: 2000 } as const;

/** The first message: the value, its long lists empty. */
interface Head {
  readonly value: unknown;
  /** Items by list, each of which comes in parts. */
  readonly items: ReadonlyMap<string, number>;
}

interface Part {
  readonly list: string;
  readonly values?: readonly unknown[];
  readonly segments?: PackedSegments;
}

/**
 * A value in parts. Its lists must not change meanwhile: they are read as the parts are asked for.
 * @param value  an object, or null
 */
export async function* inParts(value: unknown, lists: PartedLists): AsyncGenerator<Head | Part> {
  const members = new Map(Object.entries(value ?? {}));
  const items = new Map<string, number>();
  for (const name of Object.keys(lists)) {
    const list = members.get(name);
    if (!Array.isArray(list)) continue;
    items.set(name, list.length);
    members.set(name, []);
  }
  const whole = value as Readonly<Record<string, readonly unknown[]>>;
  yield { value: value === null ? null : Object.fromEntries(members), items };
  const turns = new LoopTurns();
  for (const [name, kind] of Object.entries(lists)) {
    const count = items.get(name) ?? 0;
    const packer = new SegmentPacker();
    for (let from = 0; from < count; from += ITEMS[kind]) {
      const slice = new Map(Object.entries(whole)).get(name)?.slice(from, from + ITEMS[kind]) ?? [];
      if (kind === 'values') yield { list: name, values: slice };
      else yield { list: name, segments: packer.pack(slice as readonly SegmentDescriptor[]) };
      if (turns.isDue) await turns.give();
    }
  }
}

/**
 * The value that came in parts.
 * @throws ServiceError `unavailable` where parts are missing, and whatever `messages` throws
 */
export async function fromParts(messages: AsyncIterable<unknown>): Promise<unknown> {
  let head: Head | undefined;
  const lists = new Map<string, { readonly items: unknown[]; readonly unpacker: SegmentUnpacker }>();
  const turns = new LoopTurns();
  for await (const message of messages) {
    if (head === undefined) {
      head = message as Head;
      for (const name of head.items.keys()) lists.set(name, { items: [], unpacker: new SegmentUnpacker() });
      continue;
    }
    const { list, values, segments } = message as Part;
    const known = lists.get(list);
    if (known !== undefined) append(known.items, values ?? (segments === undefined ? [] : known.unpacker.unpack(segments)));
    if (turns.isDue) await turns.give();
  }
  if (head === undefined) throw new ServiceError('unavailable', 'an internal reply in parts has none');
  for (const [name, count] of head.items) {
    const found = lists.get(name)?.items.length ?? 0;
    if (found !== count) throw new ServiceError('unavailable', `an internal reply in parts has ${found} of ${count} items of ${name}`);
  }
  return head.value === null
    ? null
    : { ...(head.value as object), ...Object.fromEntries([...lists].map(([name, { items }]) => [name, items])) };
}
