// Feeds several columns into one aggregate state.

import { stringifyJson } from '../../base/json.js';
import { BLOCK_ROWS } from '../../base/layout.js';
import { plainData, type Value } from '../../expression/value.js';
import { SKETCH_SEED } from '../../sketch/base64-codec.js';
import { FIRST_PLACE, type TakesHashes } from '../../sketch/hashes.js';
import { Murmur3 } from '../../sketch/murmur3.js';
import type { Block } from '../block/context.js';
import { rowReader } from '../expression/row-reader.js';
import type { SegmentScope } from '../expression/scope.js';
import { rowLists } from './row-lists.js';
import type { Feed } from './state-operations.js';

/** Several columns into one state. What is null in one may not be in another, so nulls are left out here. */
export function joinFeeds<State>(scope: SegmentScope, feeds: readonly (Feed<State> | undefined)[]): Feed<State> | undefined {
  const present = feeds.filter((feed) => feed !== undefined);
  const [first] = present;
  if (present.length < 2) return first;
  const { kernels } = scope.context;
  const keptRows = scope.arena.take(BLOCK_ROWS * 4);
  const keptGroups = scope.arena.take(BLOCK_ROWS * 4);
  return {
    nulls: undefined,
    get waiting() {
      return present.reduce((sum, { waiting = 0 }) => sum + waiting, 0);
    },
    add(block, rows, groups, n, stateOf) {
      for (const feed of present) {
        const nulls = feed.nulls?.nulls(block) ?? 0;
        if (nulls === 0) feed.add(block, rows, groups, n, stateOf);
        else feed.add(block, keptRows, keptGroups, kernels.compactNotMask(nulls, rows, groups, n, keptRows, keptGroups), stateOf);
      }
    },
    end(stateOf) {
      for (const feed of present) feed.end?.(stateOf);
    },
  };
}

/** Gives states the hash of each row's combination of values; null is one of them, and a list is one value in any order. */
export function combinationFeed<State extends TakesHashes>(scope: SegmentScope, columns: readonly string[]): Feed<State> {
  const { memory } = scope.context;
  const readers = columns.map((column) => textReader(scope, column));
  const hash = new Murmur3(SKETCH_SEED);
  const words = new Uint32Array(4);
  return {
    nulls: undefined,
    add(block, rows, groups, n, stateOf) {
      for (const reader of readers) reader.open(block);
      const listed = rows === 0 ? undefined : memory.u32(rows, n).slice();
      const numbers = memory.u32(groups, n).slice();
      for (let i = 0; i < n; i++) {
        const row = listed === undefined ? i : (listed[i] ?? 0);
        let text = '';
        for (const { get } of readers) text += get(row);
        hash.hashText(text);
        hash.copyTo(words);
        stateOf(numbers[i] ?? 0).addHashes(words, FIRST_PLACE, 0, 1);
      }
    },
  };
}

/** The value of a row with its length, so that neighbours cannot be mistaken for each other. */
function textReader(scope: SegmentScope, column: string): { open(block: Block): void; get(row: number): string } {
  const source = scope.source(column);
  if (source.kind === 'string' && source.column.offsets !== 0) {
    const lists = rowLists(scope, source.column);
    return { open: lists.open, get: (row) => lists.get(row).map(printed).sort().join('') + END_OF_LIST };
  }
  const reader = rowReader(scope, source);
  return { open: reader.open, get: (row) => printed(reader.get(row)) };
}

const END_OF_LIST = ';';

function printed(value: Value): string {
  if (value === null) return 'n';
  const text = typeof value === 'object' ? stringifyJson(plainData(value)) : String(value);
  return `${text.length}:${text}`;
}
