// Native names of the first, last and any aggregators.

import type { ObjectReader } from '../../../base/json-reader.js';
import type { Aggregator } from '../../../model/aggregator.js';
import { type ColumnType, isComplexType, JSON_TYPE, parseColumnType, TIME_COLUMN } from '../../../model/schema.js';
import type { VirtualColumns } from '../column/columns.js';
import { refuse } from '../reader.js';
import { merging, overStored, type StateFamily, stateAggregator } from './family.js';

const TYPES = { long: 'LONG', double: 'DOUBLE', float: 'FLOAT', string: 'STRING' } as const;
const STRING_BYTES = 1024;

/** The value at the first or last time, and any value, which is a minimum for numbers. */
export const FIRST_LAST: StateFamily = {
  queryOnly: ['longAny', 'doubleAny', 'floatAny', 'stringAny', 'singleValue'],
  aggregators: {
    ...Object.fromEntries(
      (['long', 'double', 'float', 'string'] as const).flatMap((prefix) => {
        const type = TYPES[prefix];
        return [
          [
            `${prefix}First`,
            (reader: ObjectReader, columns: VirtualColumns) => overStored(readFirstLast(reader, 'first', type), columns, reader),
          ],
          [
            `${prefix}Last`,
            (reader: ObjectReader, columns: VirtualColumns) => overStored(readFirstLast(reader, 'last', type), columns, reader),
          ],
          [`${prefix}Any`, (reader: ObjectReader) => readAny(reader, type)],
        ];
      }),
    ),
    singleValue: readSingle,
    stringFirstFold: (reader, columns) => merging(readFirstLast(reader, 'first', 'STRING'), columns, reader),
    stringLastFold: (reader, columns) => merging(readFirstLast(reader, 'last', 'STRING'), columns, reader),
  },
  postAggregators: {},
};

function readFirstLast(reader: ObjectReader, type: 'first' | 'last', valueType: ColumnType): Aggregator {
  const maxStringBytes = valueType === 'STRING' ? (reader.optionalInteger('maxStringBytes', 0) ?? STRING_BYTES) : STRING_BYTES;
  const columns = [reader.string('fieldName'), reader.optionalString('timeColumn') ?? TIME_COLUMN];
  return stateAggregator(reader, { type, valueType, maxStringBytes }, columns, valueType);
}

/** Any value: the smallest, so that it is always the same one. */
function readAny(reader: ObjectReader, type: ColumnType): Aggregator {
  const column = reader.string('fieldName');
  if (type === 'LONG' || type === 'DOUBLE' || type === 'FLOAT')
    return { kind: 'min', name: reader.string('name'), filter: null, column, type };
  const lists = reader.boolean('aggregateMultipleValues', true) ? {} : ({ firstOnly: true } as const);
  const maxStringBytes = reader.optionalInteger('maxStringBytes', 0) ?? STRING_BYTES;
  return stateAggregator(reader, { type: 'first', valueType: type, maxStringBytes, ...lists }, [column], type);
}

/** The value of the only row of a group. */
function readSingle(reader: ObjectReader): Aggregator {
  const name = reader.string('columnType');
  const valueType = parseColumnType(name);
  if (valueType === undefined || (isComplexType(valueType) && valueType !== JSON_TYPE))
    return refuse(reader.at('columnType'), 'the type of a column of values, such as LONG', name);
  return stateAggregator(reader, { type: 'single', valueType }, [reader.string('fieldName')], valueType);
}
