// The input formats `csv` and `tsv`.

import { ServiceError } from '../../base/errors.js';
import type { ObjectReader } from '../../base/json-reader.js';
import { contentOf } from '../source/decompress.js';
import { bytesFrom, checkUnchanged, firstRowOf, type NamedFile } from '../source/file-part.js';
import type { InputEntity } from '../source/source-kind.js';
import { type DelimitedFormat, type DelimitedReading, firstDuplicate } from './delimited-format.js';
import { inputFormatKind, type PartReading } from './format-kind.js';
import type { TextBlock } from './input-block.js';
import { linesAreRows } from './quoted-lines.js';
import { RowSplitter } from './row-splitter.js';

export const CSV = delimitedKind('csv', ',', ['csv']);
export const TSV = delimitedKind('tsv', '\t', ['tsv', 'tab']);

function delimitedKind(type: 'csv' | 'tsv', delimiter: string, extensions: readonly string[]) {
  return inputFormatKind<DelimitedFormat>({
    type,
    files: { extensions, options: { findColumnsFromHeader: true, tryParseNumbers: true } },
    parse: (fields) => parseDelimited(fields, type, delimiter),
    areRows(format) {
      // Header rows stand in each text.
      if (format.findColumnsFromHeader || format.skipHeaderRows > 0) return undefined;
      return type === 'csv' ? (text) => linesAreRows(text, format.delimiter.charCodeAt(0)) : () => true;
    },
    read: (format, entity, reading) =>
      readDelimited(format, contentOf(entity, reading), {
        name: entity.name,
        limits: reading.inputLimits,
        reject: reading.reject,
        kernels: reading.kernels,
      }),
    readPart: readDelimitedPart,
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
  try {
    for await (const chunk of chunks) {
      for (let taken = 0; taken < chunk.length; ) {
        taken += splitter.fill(chunk, taken);
        yield* splitter.blocks(false);
      }
    }
    yield* splitter.blocks(true);
  } finally {
    splitter.close();
  }
}

/**
 * The rows of a part of a file, as `readDelimited` would have them if a row began where the part assumes it: a quoted field may have
 * line feeds, so whoever reads the part before knows better. What stands before the first row of the file is read for every part.
 */
async function* readDelimitedPart(
  format: DelimitedFormat,
  { name, localFile }: InputEntity,
  reading: PartReading,
): AsyncGenerator<TextBlock> {
  if (localFile === null) throw new ServiceError('internal', `${name} is not a file`);
  const { inputLimits, reject, kernels } = reading;
  const splitter = new RowSplitter(format, { name, limits: inputLimits, reject, kernels });
  try {
    yield* rowsOfPart(splitter, { name, path: localFile }, reading);
  } finally {
    splitter.close();
  }
}

async function* rowsOfPart(
  splitter: RowSplitter,
  file: NamedFile,
  { part, began, ended, read, passed }: PartReading,
): AsyncGenerator<TextBlock> {
  let at = part.from;
  if (part.from > 0) {
    await takeHead(splitter, file);
    at = await firstRowOf(file, part);
    splitter.startAt(at);
  }
  splitter.until = part.to;
  began(at);
  if (at < part.to)
    for await (const chunk of bytesFrom(file, at)) {
      for (let taken = 0; taken < chunk.length && !splitter.isDone; ) {
        taken += splitter.fill(chunk, taken);
        yield* splitter.blocks(false);
      }
      read(splitter.position - at);
      at = splitter.position;
      if (splitter.isDone) break;
    }
  const isWhole = splitter.isDone;
  if (!isWhole) {
    yield* splitter.blocks(true);
    read(part.fileBytes - at);
  }
  passed?.(splitter.feeds);
  ended(isWhole ? splitter.position : part.fileBytes);
  await checkUnchanged(file, part);
}

/** Passes over what stands before the rows; of a file that has nothing else no row begins behind it. */
async function takeHead(splitter: RowSplitter, file: NamedFile): Promise<void> {
  if (splitter.takeHead(false)) return;
  for await (const chunk of bytesFrom(file, 0))
    for (let taken = 0; taken < chunk.length; ) {
      taken += splitter.fill(chunk, taken);
      if (splitter.takeHead(false)) return;
    }
}
