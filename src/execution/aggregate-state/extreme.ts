// Aggregate state of the smallest or largest string of a group.

import { ServiceError } from '../../base/errors.js';
import { type Address, BLOCK_ROWS } from '../../base/layout.js';
import { valueOfText } from '../../expression/value.js';
import type { AggregateState } from '../../model/aggregate-state.js';
import type { TextType } from '../../model/schema.js';
import type { DictionaryView } from '../../storage/view.js';
import { clear } from '../block/context.js';
import { textAt } from '../block/dictionary.js';
import { asTexts } from '../expression/cast-texts.js';
import { isLessWork } from '../expression/dictionary-function.js';
import type { SegmentScope } from '../expression/scope.js';
import { byCodeUnits, uploadedDictionary, wellFormed } from '../expression/uploaded-column.js';
import type { StringVector, TextNode } from '../expression/vector.js';
import { BestTexts, GroupRoom } from './best-texts.js';
import { computedIds, idSource } from './sketch/hash-feed.js';
import type { IdSource } from './sketch/id-source.js';
import type { Feed, StateOperations } from './state-operations.js';
import { type BestText, decodeText, type End, encodeText, isBetter, TextExtremes } from './text-extremes.js';

type Extreme = Extract<AggregateState, { type: 'min' | 'max' }>;

/** The smallest or largest text of a group; of arrays the text that keeps their order is compared. */
export function extremeState({ type, valueType }: Extreme): StateOperations<BestText> {
  const put = (state: BestText, text: string): void => {
    if (state.text === null || isBetter(type, text, state.text)) state.text = text;
  };
  return {
    isOrdered: false,
    emptyValue: null,
    create: () => ({ text: null }),
    merge(into, { text }) {
      if (text !== null) put(into, text);
    },
    bytes: ({ text }) => 48 + (text?.length ?? 0) * 2,
    encode: ({ text }) => encodeText(text),
    decode(encoded) {
      if (!/^[nv]/.test(encoded)) throw new ServiceError('query_invalid', 'a string that should hold a smallest or largest value does not');
      return { text: decodeText(encoded) };
    },
    value: ({ text }) => valueOfText(text, valueType),
    store: (context, charge) => new TextExtremes(context, type, charge),
    bind: (scope, [column = '']) => extremeTexts(scope, column, { end: type, valueType }, put),
  };
}

/**
 * Gives the state of each group the best of its texts in the segment, once the rows are through; groups of nulls alone get
 * nothing. The ids of a stored dictionary have the order of their texts, so rows are compared by kernels as numbers.
 */
export function extremeTexts<State>(
  scope: SegmentScope,
  column: string,
  { end, valueType }: { readonly end: End; readonly valueType: TextType },
  put: (state: State, text: string) => void,
): Feed<State> | undefined {
  const source = scope.source(column);
  if (source.kind === 'missing') return undefined;
  if (source.kind === 'string' && source.column.type === valueType) {
    const ids = idSource(scope, source);
    if (ids !== undefined) return byIds(scope, ids, source.column.dictionary, end, put);
  }
  const vector = asTexts(scope, source, valueType);
  if (vector.node !== undefined) return byTexts(scope, vector.node, end, put);
  if (!vector.complete || !isLessWork(scope, vector.pool.count)) return byPool(scope, vector, end, put);
  const { ids, dictionary } = rankedIds(scope, vector);
  return byIds(scope, ids, dictionary, end, put);
}

/** The few strings of a vector as a dictionary in their order. */
function rankedIds(
  scope: SegmentScope,
  vector: StringVector,
): { readonly ids: Pick<IdSource, 'gather'>; readonly dictionary: DictionaryView } {
  const { context, arena } = scope;
  const texts = vector.pool.values.map(wellFormed);
  const hasNull = texts.includes(null);
  const entries = [...new Set(texts)].filter((text) => text !== null).sort(byCodeUnits);
  const rankOf = new Map<string | null, number>([[null, 0], ...entries.map((text, at) => [text, at + (hasNull ? 1 : 0)] as const)]);
  const [ranks, ranked] = [arena.take(Math.max(1, texts.length) * 4), arena.take(BLOCK_ROWS * 4)];
  context.memory.u32(ranks, texts.length).set(texts.map((text) => rankOf.get(text) ?? 0));
  const source = computedIds(scope, vector);
  const ids: Pick<IdSource, 'gather'> = {
    gather(block, rows, groups, n, visit) {
      source.gather(block, rows, groups, n, (found, idGroups, count) => {
        context.kernels.gather32(ranks, found, count, ranked);
        visit(ranked, idGroups, count);
      });
    },
  };
  return { ids, dictionary: uploadedDictionary(scope, entries, hasNull) };
}

function byIds<State>(
  scope: SegmentScope,
  ids: Pick<IdSource, 'gather'>,
  dictionary: DictionaryView,
  end: End,
  put: (state: State, text: string) => void,
): Feed<State> {
  const { context, arena } = scope;
  const { kernels, memory } = context;
  const best = new BestIds(scope, end);
  const isNull = arena.take(BLOCK_ROWS / 8);
  const kept = arena.take(BLOCK_ROWS * 4);
  const keptIds = arena.take(BLOCK_ROWS * 4);
  const keptGroups = arena.take(BLOCK_ROWS * 4);
  return {
    nulls: undefined,
    get waiting() {
      return best.groups;
    },
    add(block, rows, groups, n) {
      ids.gather(block, rows, groups, n, (found, idGroups, count) => {
        if (!dictionary.hasNull) {
          best.add(found, idGroups, count);
          return;
        }
        kernels.filterEqU32(found, count, 0, isNull);
        const present = kernels.compactNotMask(isNull, 0, idGroups, count, kept, keptGroups);
        kernels.gather32(found, kept, present, keptIds);
        best.add(keptIds, keptGroups, present);
      });
    },
    end(stateOf) {
      best.each((group, id) => {
        const text = textAt(memory, dictionary, id);
        if (text !== null) put(stateOf(group), text);
      });
    },
    endTexts(groupOf, groupCount, add) {
      const texts = arena.take(BLOCK_ROWS * 8);
      // An empty text needs an address as well.
      const bytes = dictionary.bytes === 0 ? arena.take(64) : dictionary.bytes;
      best.eachBlock(groupOf, groupCount, (found, groups, n) => {
        context.check();
        kernels.textEntries(bytes, dictionary.offsets, found, n, dictionary.hasNull ? 1 : 0, texts);
        add(texts, groups, n);
      });
    },
  };
}

/** The smallest or largest id of each group: u32, and u8 1 where there is one. */
class BestIds {
  readonly #scope: SegmentScope;
  readonly #end: End;
  readonly #room: GroupRoom;
  #ids: Address = 0;
  #seen: Address = 0;

  constructor(scope: SegmentScope, end: End) {
    this.#scope = scope;
    this.#end = end;
    this.#room = new GroupRoom(scope);
  }

  get groups(): number {
    return this.#room.groups;
  }

  add(ids: Address, groups: Address, n: number): void {
    if (n === 0) return;
    const { kernels } = this.#scope.context;
    this.#room.reserve(groups, n, (from, to) => this.#grow(from, to));
    if (this.#end === 'min') kernels.minGroupsU32(ids, 0, groups, n, this.#ids);
    else kernels.maxGroupsU32(ids, 0, groups, n, this.#ids);
    kernels.presentGroups(groups, n, this.#seen);
  }

  each(visit: (group: number, id: number) => void): void {
    const { memory } = this.#scope.context;
    const { groups } = this.#room;
    const [ids, seen] = [memory.u32(this.#ids, groups).slice(), memory.u8(this.#seen, groups).slice()];
    seen.forEach((isSeen, group) => {
      if (isSeen === 1) visit(group, ids[group] ?? 0);
    });
  }

  /** Ids and groups of those that have one, a block at a time. */
  eachBlock(groupOf: Address, groupCount: number, visit: (ids: Address, groups: Address, n: number) => void): void {
    const { arena, context } = this.#scope;
    const { kernels } = context;
    const [isSeen, rows] = [arena.take(BLOCK_ROWS / 8), arena.take(BLOCK_ROWS * 4)];
    const [ids, groups] = [arena.take(BLOCK_ROWS * 4), arena.take(BLOCK_ROWS * 4)];
    const count = Math.min(groupCount, this.#room.groups);
    for (let from = 0; from < count; from += BLOCK_ROWS) {
      const length = Math.min(BLOCK_ROWS, count - from);
      kernels.filterRangeU8(this.#seen + from, length, 1, 255, isSeen);
      const n = kernels.bitsToRows(isSeen, 0, length, rows);
      kernels.gather32(this.#ids + from * 4, rows, n, ids);
      kernels.gather32(groupOf + from * 4, rows, n, groups);
      if (n > 0) visit(ids, groups, n);
    }
  }

  #grow(from: number, to: number): void {
    const { arena, context } = this.#scope;
    const { memory } = context;
    const [ids, seen] = [arena.take(to * 4), arena.take(to)];
    memory.u32(ids + from * 4, to - from).fill(this.#end === 'min' ? 0xffffffff : 0);
    clear(context, seen + from, to - from);
    memory.u32(ids, from).set(memory.u32(this.#ids, from));
    memory.u8(seen, from).set(memory.u8(this.#seen, from));
    [this.#ids, this.#seen] = [ids, seen];
  }
}

/** Texts that kernels make are compared by kernels. */
function byTexts<State>(scope: SegmentScope, node: TextNode, end: End, put: (state: State, text: string) => void): Feed<State> {
  const { kernels } = scope.context;
  const best = new BestTexts(scope, end);
  const gathered = scope.arena.take(BLOCK_ROWS * 8);
  return {
    nulls: undefined,
    get waiting() {
      return best.groups;
    },
    add(block, rows, groups, n) {
      const texts = node.texts(block);
      if (rows !== 0) kernels.gather64(texts, rows, n, gathered);
      best.add(rows === 0 ? texts : gathered, groups, n);
    },
    end(stateOf) {
      best.each((group, text) => put(stateOf(group), text));
    },
    endTexts(groupOf, groupCount, add) {
      const count = Math.min(groupCount, best.groups);
      for (let from = 0; from < count; from += BLOCK_ROWS)
        add(best.state + from * 8, groupOf + from * 4, Math.min(BLOCK_ROWS, count - from));
    },
  };
}

/** Computed texts have ids in the order they were met. */
function byPool<State>(scope: SegmentScope, vector: StringVector, end: End, put: (state: State, text: string) => void): Feed<State> {
  const { memory } = scope.context;
  const source = computedIds(scope, vector);
  const best: number[] = [];
  return {
    nulls: undefined,
    add(block, rows, groups, n) {
      source.gather(block, rows, groups, n, (ids, idGroups, count) => {
        const [found, numbers] = [memory.u32(ids, count), memory.u32(idGroups, count)];
        const { values: texts } = vector.pool;
        for (let i = 0; i < count; i++) {
          const [id = 0, group = 0] = [found[i], numbers[i]];
          const before = best[group];
          if (id === before) continue;
          const text = wellFormed(texts[id] ?? null);
          if (text !== null && (before === undefined || isBetter(end, text, wellFormed(texts[before] ?? '') ?? ''))) best[group] = id;
        }
      });
    },
    end(stateOf) {
      best.forEach((id, group) => put(stateOf(group), wellFormed(vector.pool.values[id] ?? '') ?? ''));
    },
  };
}
