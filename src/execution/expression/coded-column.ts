// Columns with few values as small codes, for tables of results by code.

import { BLOCK_ROWS } from '../../base/layout.js';
import { type Value, valueOfText } from '../../expression/value.js';
import { textReader } from '../../storage/columns/read-dictionary.js';
import type { StringColumnView } from '../../storage/view.js';
import type { Block } from '../block/context.js';
import { ListCodes } from '../block/list-codes.js';
import type { SegmentScope, Source } from './scope.js';
import { type NumberVector, type StringVector, storedNumbers } from './vector.js';

export type Codes = Uint8Array | Uint16Array | Uint32Array;

/** A column of few values, as numbers: equal codes are equal values. */
export interface CodedColumn {
  /** Codes are below it; undefined: new ones appear as rows are read. */
  readonly card: number | undefined;
  /** One per row of a block; readable until the next block is asked for. */
  codes(block: Block): Codes;
  value(code: number): Value;
  /** The column of the segment whose ids the codes are. */
  readonly stored?: StringColumnView;
}

/** Undefined for numbers of more than 16 bits. Of a multi-value column, a value is the array of a row's values, or null. */
export function codedColumn(scope: SegmentScope, source: Source): CodedColumn | undefined {
  switch (source.kind) {
    case 'missing':
      return undefined;
    case 'number':
      return narrowNumbers(scope, storedNumbers(scope, source.column));
    case 'string':
      return source.column.offsets === 0 ? singleValues(scope, source.column) : valueLists(scope, source.column);
    case 'computed':
      return source.vector.kind === 'string' ? pooledTexts(scope, source.vector) : narrowNumbers(scope, source.vector);
  }
}

/** Each value made once. */
function remembered(make: (code: number) => Value): (code: number) => Value {
  const values: (Value | undefined)[] = [];
  return (code) => {
    const known = values[code];
    if (known !== undefined) return known;
    const value = make(code);
    values[code] = value;
    return value;
  };
}

/** Strings are decoded one by one while they are less than this part of all. */
const ONE_BY_ONE = 8;

function singleValues(scope: SegmentScope, column: StringColumnView): CodedColumn {
  const { type, dictionary } = column;
  // All are decoded together once many are asked for: who only wants to know how many there are asks for none.
  const read = textReader(scope.context.memory, dictionary);
  let asked = 0;
  const text = (code: number): string | null =>
    ++asked * ONE_BY_ONE < dictionary.count ? read(code) : (scope.texts(column)[code] ?? null);
  return {
    card: dictionary.count,
    stored: column,
    codes: ({ start, rows }) => idsOf(scope, column, start, rows),
    value: type === 'STRING' ? text : remembered((code) => valueOfText(text(code), type)),
  };
}

/** Ids of rows, or of values of multi-value rows. */
function idsOf({ context: { memory } }: SegmentScope, { physical, ids }: StringColumnView, start: number, count: number): Codes {
  if (physical === 'U8') return memory.u8(ids + start, count);
  return physical === 'U16' ? memory.u16(ids + start * 2, count) : memory.u32(ids + start * 4, count);
}

function pooledTexts(scope: SegmentScope, vector: StringVector): CodedColumn {
  const { pool, type } = vector;
  return {
    card: vector.complete ? pool.count : undefined,
    codes: (block) => scope.context.memory.u32(vector.ids(block), block.rows),
    value: type === 'STRING' ? (code) => pool.values[code] ?? null : remembered((code) => valueOfText(pool.values[code] ?? null, type)),
  };
}

/** Codes are what is stored; one more is null. */
function narrowNumbers(scope: SegmentScope, vector: NumberVector): CodedColumn | undefined {
  const { physical, base, values } = vector.decimals ?? vector;
  const scale = vector.decimals?.scale;
  if (physical !== 'U8' && physical !== 'U16') return undefined;
  const { memory } = scope.context;
  const ofNull = physical === 'U8' ? 1 << 8 : 1 << 16;
  const withNulls = new Uint32Array(vector.mayBeNull ? BLOCK_ROWS : 0);
  const numberOf = (code: number): Value => (scale === undefined ? base + BigInt(code) : Number(base + BigInt(code)) / scale);
  return {
    card: ofNull + 1,
    codes(block) {
      const at = values(block);
      const stored = physical === 'U8' ? memory.u8(at, block.rows) : memory.u16(at, block.rows);
      const bits = vector.nulls(block);
      if (bits === 0) return stored;
      const words = memory.u32(bits, Math.ceil(block.rows / 32));
      for (let row = 0; row < block.rows; row++)
        withNulls[row] = ((words[row >>> 5] ?? 0) & (1 << (row & 31))) === 0 ? (stored[row] ?? 0) : ofNull;
      return withNulls;
    },
    value: remembered((code) => (code === ofNull ? null : numberOf(code))),
  };
}

/** Lists are told apart by their ids. */
function valueLists(scope: SegmentScope, column: StringColumnView): CodedColumn {
  const { memory } = scope.context;
  const texts = scope.texts(column);
  const codes = new Uint32Array(Math.min(BLOCK_ROWS, scope.view.rowCount));
  const known = new ListCodes();
  const value = remembered((code) => Array.from(known.idsOf(code), (id) => texts[id] ?? null));
  return {
    card: undefined,
    codes({ start, rows }) {
      const bounds = memory.u32(column.offsets + start * 4, rows + 1);
      const first = bounds[0] ?? 0;
      const ids = idsOf(scope, column, first, (bounds[rows] ?? first) - first);
      for (let row = 0; row < rows; row++)
        codes[row] = known.codeOf(ids, (bounds[row] ?? first) - first, (bounds[row + 1] ?? first) - first);
      return codes;
    },
    value: (code) => (code === 0 ? null : value(code)),
  };
}
