// The texts of columns as leaves: of entries of a dictionary, or of rows.

import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import type { DictionaryView, StringColumnView } from '../../../storage/view.js';
import type { Block } from '../../block/context.js';
import { widener } from '../dictionary-function.js';
import type { SegmentScope } from '../scope.js';
import type { TextNode } from '../vector.js';
import type { TextWork } from './text-node.js';

/** Tables of so few entries are worth their making for any number of rows. */
const FEW_ENTRIES = 1024;

/** Whether what is made of each entry is less work than what is made of each row. */
export function hasFewEntries(scope: SegmentScope, { dictionary }: StringColumnView): boolean {
  return dictionary.count <= Math.max(FEW_ENTRIES, scope.view.rowCount);
}

/** Visits all entries of a dictionary as blocks. */
export function eachEntryBlock(scope: SegmentScope, { dictionary: { count } }: StringColumnView, visit: (block: Block) => void): void {
  for (let start = 0; start < count; start += BLOCK_ROWS) {
    scope.context.check();
    visit({ start, rows: Math.min(BLOCK_ROWS, count - start) });
  }
}

/** The texts of a dictionary, a block of entries at a time. */
export function entriesNode(work: TextWork, column: StringColumnView): TextNode {
  const { offsets, hasNull } = column.dictionary;
  const bytes = bytesOf(work.scope, column);
  const { kernels } = work.scope.context;
  return work.node({ mayBeNull: hasNull, isBmp: false }, ({ start, rows }, out) => {
    kernels.textEntries(bytes, offsets + start * 4, 0, rows, hasNull && start === 0 ? 1 : 0, out);
  });
}

/** The texts of so many entries, by their ids. */
export function idsNode(work: TextWork, column: StringColumnView, ids: Address): TextNode {
  const { offsets, hasNull } = column.dictionary;
  const bytes = bytesOf(work.scope, column);
  const { kernels } = work.scope.context;
  return work.node({ mayBeNull: hasNull, isBmp: false }, ({ rows }, out) => {
    kernels.textEntries(bytes, offsets, ids, rows, hasNull ? 1 : 0, out);
  });
}

/** The texts of a column, a block of rows at a time. */
export function rowsNode(work: TextWork, column: StringColumnView): TextNode {
  const { scope } = work;
  const { kernels } = scope.context;
  const { dictionary } = column;
  const widen = widener(scope, column);
  if (hasFewEntries(scope, column)) {
    const { at, isBmp } = tableOf(scope, column);
    return work.node({ mayBeNull: dictionary.hasNull, isBmp }, (block, out) => kernels.gather64(at, widen(block), block.rows, out));
  }
  const bytes = bytesOf(scope, column);
  return work.node({ mayBeNull: dictionary.hasNull, isBmp: false }, (block, out) => {
    kernels.textEntries(bytes, dictionary.offsets, widen(block), block.rows, dictionary.hasNull ? 1 : 0, out);
  });
}

interface Table {
  readonly at: Address;
  readonly isBmp: boolean;
}

const TABLES = new WeakMap<SegmentScope, Map<StringColumnView, Table>>();

/** References to all entries of a dictionary; made once in a scope. */
function tableOf(scope: SegmentScope, column: StringColumnView): Table {
  const tables = TABLES.get(scope) ?? new Map<StringColumnView, Table>();
  TABLES.set(scope, tables);
  const known = tables.get(column);
  if (known !== undefined) return known;
  const { offsets, count, hasNull } = column.dictionary;
  const at = scope.arena.take(Math.max(1, count) * 8);
  const bytes = bytesOf(scope, column);
  let withPairs = 0;
  eachEntryBlock(scope, column, ({ start, rows }) => {
    const isFirst = hasNull && start === 0 ? 1 : 0;
    withPairs += scope.context.kernels.textEntries(bytes, offsets + start * 4, 0, rows, isFirst, at + start * 8);
  });
  const table = { at, isBmp: withPairs === 0 };
  tables.set(column, table);
  return table;
}

const WITHOUT_PAIRS = new WeakMap<DictionaryView, boolean>();

/** Whether no entry of a dictionary has a surrogate pair. Stretches of a segment's rows share its dictionaries, which are looked through once. */
export function hasNoPairs(scope: SegmentScope, column: StringColumnView): boolean {
  const { dictionary } = column;
  const known = WITHOUT_PAIRS.get(dictionary);
  if (known !== undefined) return known;
  const found = hasFewEntries(scope, column) ? tableOf(scope, column).isBmp : !hasPairs(scope, column);
  WITHOUT_PAIRS.set(dictionary, found);
  return found;
}

function hasPairs(scope: SegmentScope, column: StringColumnView): boolean {
  const { memory, kernels } = scope.context;
  const { offsets, hasNull } = column.dictionary;
  const bytes = bytesOf(scope, column);
  const arena = memory.arena();
  try {
    const out = arena.take(BLOCK_ROWS * 8);
    let withPairs = 0;
    eachEntryBlock(scope, column, ({ start, rows }) => {
      withPairs += kernels.textEntries(bytes, offsets + start * 4, 0, rows, hasNull && start === 0 ? 1 : 0, out);
    });
    return withPairs > 0;
  } finally {
    arena.release();
  }
}

/** References to all entries of a dictionary, by their ids. */
export function entryTexts(scope: SegmentScope, column: StringColumnView): Address {
  return tableOf(scope, column).at;
}

/** An empty text needs an address as well. */
function bytesOf(scope: SegmentScope, { dictionary: { bytes } }: StringColumnView): Address {
  return bytes === 0 ? scope.arena.take(64) : bytes;
}
