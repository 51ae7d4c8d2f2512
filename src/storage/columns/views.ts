// Views of columns in kernel memory.

import { ServiceError } from '../../base/errors.js';
import type { Address, Physical } from '../../base/layout.js';
import { extended } from '../../base/names.js';
import type { TextType } from '../../model/schema.js';
import type { StoredColumn, StoredNumberColumn, StoredStringColumn } from '../format.js';
import type { ColumnView, NumberColumnView, StringColumnView } from '../view.js';
import { addressOf, type NumberUpload, type StringUpload, uploadNumbers, uploadStrings } from './upload.js';

export function uploadOf(column: StoredColumn, rowCount: number): NumberUpload | StringUpload {
  return column.kind === 'number' ? numberUploadOf(column, rowCount) : stringUploadOf(column, rowCount);
}

export function numberUploadOf(column: StoredNumberColumn, rowCount: number): NumberUpload {
  return uploadNumbers({ physical: column.values.physical, rowCount, hasNulls: column.nulls !== null });
}

export function stringUploadOf(column: StoredStringColumn, rowCount: number): StringUpload {
  return uploadStrings({
    physical: column.ids.physical,
    rowCount,
    idCount: column.ids.length,
    isMultiValue: column.ends !== null,
    dictionaryCount: column.dictionary.count,
    textBytes: column.dictionary.text.length,
  });
}

/** The view of a column whose allocation begins at `at`. */
export function viewOfStored(column: StoredColumn, rowCount: number, at: Address): ColumnView {
  if (column.kind === 'string') {
    const { count, hasNull } = column.dictionary;
    return stringView(column.type ?? 'STRING', column.ids.physical, { count, hasNull }, stringUploadOf(column, rowCount), at);
  }
  const parse = column.type === 'LONG' ? BigInt : Number;
  return numberView(
    {
      type: column.type,
      physical: column.values.physical,
      base: BigInt(column.base),
      power: column.power ?? 0,
      min: column.min === null ? null : parse(column.min),
      max: column.max === null ? null : parse(column.max),
    },
    numberUploadOf(column, rowCount),
    at,
  );
}

export function numberView(
  column: Pick<NumberColumnView, 'type' | 'physical' | 'base' | 'power' | 'min' | 'max'>,
  placement: NumberUpload,
  at: Address,
): NumberColumnView {
  return {
    kind: 'number',
    ...column,
    values: addressOf(at, placement.values),
    nulls: addressOf(at, placement.nulls),
    blockRanges: addressOf(at, placement.ranges),
  };
}

export function stringView(
  type: TextType,
  physical: Physical,
  dictionary: { readonly count: number; readonly hasNull: boolean },
  placement: StringUpload,
  at: Address,
): StringColumnView {
  if (physical !== 'U8' && physical !== 'U16' && physical !== 'U32') throw new ServiceError('internal', `ids of type ${physical}`);
  return {
    kind: 'string',
    type,
    physical,
    ids: addressOf(at, placement.ids),
    offsets: addressOf(at, placement.offsets),
    dictionary: extended(dictionary, { offsets: addressOf(at, placement.dictionaryOffsets), bytes: addressOf(at, placement.text) }),
  };
}
