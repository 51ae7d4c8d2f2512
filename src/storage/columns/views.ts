import { ServiceError } from '../../base/errors.js';
import type { TextType } from '../../model/schema.js';
import type { StoredColumn, StoredNumberColumn, StoredStringColumn } from '../format.js';
import type { Address, ColumnView, NumberColumnView, Physical, StringColumnView } from '../view.js';
import { addressOf, type NumberPlacement, placeNumbers, placeStrings, type StringPlacement } from './placement.js';

export function placementOf(column: StoredColumn, rowCount: number): NumberPlacement | StringPlacement {
  return column.kind === 'number' ? numberPlacementOf(column, rowCount) : stringPlacementOf(column, rowCount);
}

export function numberPlacementOf(column: StoredNumberColumn, rowCount: number): NumberPlacement {
  return placeNumbers({ physical: column.values.physical, rowCount, hasNulls: column.nulls !== null });
}

export function stringPlacementOf(column: StoredStringColumn, rowCount: number): StringPlacement {
  return placeStrings({
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
    return stringView(column.type ?? 'STRING', column.ids.physical, { count, hasNull }, stringPlacementOf(column, rowCount), at);
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
    numberPlacementOf(column, rowCount),
    at,
  );
}

export function numberView(
  column: Pick<NumberColumnView, 'type' | 'physical' | 'base' | 'power' | 'min' | 'max'>,
  placement: NumberPlacement,
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
  placement: StringPlacement,
  at: Address,
): StringColumnView {
  if (physical !== 'U8' && physical !== 'U16' && physical !== 'U32') throw new ServiceError('internal', `ids of type ${physical}`);
  return {
    kind: 'string',
    type,
    physical,
    ids: addressOf(at, placement.ids),
    offsets: addressOf(at, placement.offsets),
    dictionary: { ...dictionary, offsets: addressOf(at, placement.dictionaryOffsets), bytes: addressOf(at, placement.text) },
  };
}
