// The input formats `csv` and `tsv`.

import type { ObjectReader } from '../../base/json-reader.js';
import { contentOf } from '../source/decompress.js';
import { inputFormatKind } from './format-kind.js';
import type { TextBlock } from './input-block.js';
import { type DelimitedFormat, type DelimitedReading, firstDuplicate, RowSplitter } from './row-splitter.js';

export const CSV = delimitedKind('csv', ',', ['csv']);
export const TSV = delimitedKind('tsv', '\t', ['tsv', 'tab']);

function delimitedKind(type: 'csv' | 'tsv', delimiter: string, extensions: readonly string[]) {
  return inputFormatKind<DelimitedFormat>({
    type,
    files: { extensions, options: { findColumnsFromHeader: true, tryParseNumbers: true } },
    parse: (fields) => parseDelimited(fields, type, delimiter),
    read: (format, entity, reading) =>
      readDelimited(format, contentOf(entity, reading), { name: entity.name, limits: reading.inputLimits, reject: reading.reject }),
  });
}

function parseDelimited(fields: ObjectReader, type: 'csv' | 'tsv', usual: string): DelimitedFormat {
  const keys = ['columns', 'findColumnsFromHeader', 'skipHeaderRows', 'listDelimiter', 'hasHeaderRow', 'tryParseNumbers'];
  fields.accept([...keys, 'delimiter']);
  const columns = fields.has('columns') ? fields.strings('columns') : null;
  const duplicate = columns === null ? undefined : firstDuplicate(columns);
  if (duplicate !== undefined) throw fields.invalid('columns', `names "${duplicate}" twice`);
  const findColumnsFromHeader = fields.boolean('findColumnsFromHeader', false) || fields.boolean('hasHeaderRow', false);
  if (!findColumnsFromHeader && (columns === null || columns.length === 0))
    throw fields.invalid('columns', 'expected the column names, or findColumnsFromHeader: true');
  const delimiter = fields.optionalString('delimiter') ?? usual;
  if (delimiter.length !== 1 || delimiter.charCodeAt(0) > 127 || '\r\n"'.includes(delimiter))
    throw fields.invalid('delimiter', `expected one ASCII character other than a quote or line break, found ${JSON.stringify(delimiter)}`);
  const listDelimiter = fields.optionalString('listDelimiter') ?? null;
  if (listDelimiter === '' || listDelimiter === delimiter)
    throw fields.invalid('listDelimiter', `expected a string other than the delimiter, found ${JSON.stringify(listDelimiter)}`);
  return {
    type,
    delimiter,
    listDelimiter,
    columns,
    findColumnsFromHeader,
    skipHeaderRows: fields.optionalInteger('skipHeaderRows', 0) ?? 0,
    tryParseNumbers: fields.boolean('tryParseNumbers', false),
  };
}

/**
 * Cuts delimited text into blocks of field positions; no field becomes a string here. CSV fields may be quoted, with
 * `""` for a quote inside; in TSV a quote is a character like others. Blank lines are passed over, surplus fields
 * are dropped, missing ones are null. A quoted empty field is the empty string, an unquoted one null. A row that has a
 * NUL byte or is not UTF-8 is rejected.
 * @param chunks  each is valid until the next is asked for
 * @throws ServiceError `input_unreadable` without the header that is expected, `resource_limit` for a row that is too long
 *   or has too many columns
 */
export async function* readDelimited(
  format: DelimitedFormat,
  chunks: AsyncIterable<Uint8Array>,
  reading: DelimitedReading,
): AsyncGenerator<TextBlock> {
  const splitter = new RowSplitter(format, reading);
  for await (const chunk of chunks) {
    for (let taken = 0; taken < chunk.length; ) {
      taken += splitter.fill(chunk, taken);
      yield* splitter.blocks(false);
    }
  }
  yield* splitter.blocks(true);
}
