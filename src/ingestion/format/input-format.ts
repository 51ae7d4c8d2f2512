import { contentOf } from '../source/decompress.js';
import type { InputEntity } from '../source/input-source.js';
import type { Fields } from '../task-spec/fields.js';
import { INERT_KEYS } from '../task-spec/inert-keys.js';
import { type DelimitedFormat, readDelimited } from './delimited.js';
import { type FlattenSpec, parseJsonPath } from './flatten.js';
import type { InputBlock, RejectRow } from './input-block.js';
import { type JsonFormat, readJson } from './json.js';
import { type ParquetFormat, readParquet } from './parquet.js';

export type InputFormat = DelimitedFormat | JsonFormat | ParquetFormat;

const UNSUPPORTED = ['regex', 'javascript', 'orc', 'avro_stream', 'avro_ocf', 'protobuf', 'kafka', 'kinesis', 'thrift', 'lines'];

export function parseInputFormat(fields: Fields): InputFormat {
  const type = fields.type(['json', 'csv', 'tsv', 'parquet'], UNSUPPORTED);
  switch (type) {
    case 'json':
      fields.accept(['flattenSpec', 'featureSpec', 'keepNullColumns', 'useJsonNodeReader'], INERT_KEYS.inputFormat);
      if (fields.has('featureSpec') && (fields.object('featureSpec').keys().length ?? 0) > 0) throw fields.unsupported('featureSpec');
      // Columns of nothing but nulls are kept where the spec names them, and are no columns otherwise.
      if (fields.boolean('keepNullColumns', false))
        throw fields.unsupported('keepNullColumns', 'name the columns in dimensionsSpec.dimensions');
      return { type, multiLine: fields.boolean('useJsonNodeReader', false), flatten: parseFlattenSpec(fields) };
    case 'parquet':
      fields.accept(['flattenSpec', 'binaryAsString']);
      return { type, binaryAsString: fields.boolean('binaryAsString', false), flatten: parseFlattenSpec(fields) };
    default:
      return parseDelimited(fields, type);
  }
}

function parseDelimited(fields: Fields, type: 'csv' | 'tsv'): DelimitedFormat {
  const keys = ['columns', 'findColumnsFromHeader', 'skipHeaderRows', 'listDelimiter', 'hasHeaderRow', 'tryParseNumbers'];
  fields.accept(type === 'tsv' ? [...keys, 'delimiter'] : keys);
  const columns = fields.has('columns') ? fields.strings('columns') : null;
  const duplicate = columns?.find((column, at) => columns.indexOf(column) !== at);
  if (duplicate !== undefined) throw fields.invalid('columns', `names "${duplicate}" twice`);
  const findColumnsFromHeader = fields.boolean('findColumnsFromHeader', false) || fields.boolean('hasHeaderRow', false);
  if (!findColumnsFromHeader && (columns === null || columns.length === 0))
    throw fields.invalid('columns', 'expected the column names, or findColumnsFromHeader: true');
  const delimiter = fields.optionalString('delimiter') ?? (type === 'csv' ? ',' : '\t');
  if (delimiter.length !== 1 || delimiter.charCodeAt(0) > 127 || '\r\n"'.includes(delimiter))
    throw fields.invalid('delimiter', `expected one ASCII character other than a quote or line break, found ${JSON.stringify(delimiter)}`);
  const listDelimiter = fields.optionalString('listDelimiter');
  if (listDelimiter === '' || listDelimiter === delimiter)
    throw fields.invalid('listDelimiter', `expected text other than the delimiter, found ${JSON.stringify(listDelimiter)}`);
  return {
    type,
    delimiter,
    listDelimiter,
    columns,
    findColumnsFromHeader,
    skipHeaderRows: fields.integer('skipHeaderRows', 0, { min: 0 }),
    tryParseNumbers: fields.boolean('tryParseNumbers', false),
  };
}

function parseFlattenSpec(fields: Fields): FlattenSpec | null {
  const spec = fields.optionalObject('flattenSpec');
  if (spec === null) return null;
  spec.accept(['useFieldDiscovery', 'fields']);
  const parsed = spec.array('fields').map((_, position) => {
    if (typeof spec.array('fields')[position] === 'string') {
      const name = spec.strings('fields')[position] ?? '';
      return { name, steps: [name] };
    }
    const field = spec.element('fields', position);
    field.accept(['name', 'expr', 'nodes']);
    const name = field.string('name');
    switch (field.choice('type', ['root', 'path', 'tree'], undefined, ['jq'])) {
      case 'root':
        return { name, steps: [field.optionalString('expr') ?? name] };
      case 'tree':
        return { name, steps: field.strings('nodes') };
      default:
        return { name, steps: parseJsonPath(field.string('expr'), field.at('expr')) };
    }
  });
  return { useFieldDiscovery: spec.boolean('useFieldDiscovery', true), fields: parsed };
}

/**
 * The rows of an entity in blocks.
 * @param columns  the names that will be asked for; null: any
 */
export function readRows(
  format: InputFormat,
  entity: InputEntity,
  reading: {
    readonly columns: ReadonlySet<string> | null;
    readonly workDirectory: string;
    readonly read: (bytes: number) => void;
    readonly reject: RejectRow;
  },
): AsyncGenerator<InputBlock> {
  switch (format.type) {
    case 'json':
      return readJson(format, contentOf(entity, reading.read), entity.name, reading.reject);
    case 'parquet':
      return readParquet(format, entity, reading);
    default:
      return readDelimited(format, contentOf(entity, reading.read), entity.name, reading.reject);
  }
}
