// Lookups whose entries are the lines of a file or of a URL.

import { fileURLToPath } from 'node:url';
import { ServiceError } from '../../base/errors.js';
import { describeValue } from '../../base/json.js';
import { ObjectReader } from '../../base/json-reader.js';
import { own } from '../../base/names.js';
import { compileRegularExpression } from '../../expression/regular-expression.js';
import type { InputFormat } from '../../ingestion/format/format-kind.js';
import type { InputBlock } from '../../ingestion/format/input-block.js';
import { parseInputFormat } from '../../ingestion/format/input-format.js';
import { inputParts, parseInputSource } from '../../ingestion/source/input-source.js';
import { allowedFile, allowedFilesIn } from '../../ingestion/source/local.js';
import { type InputEntity, isStored } from '../../ingestion/source/source-kind.js';
import { textOf } from './entry-text.js';
import type { Entry, LookupSettings, LookupSource } from './lookup-source.js';
import { readHeapPercentage, readPollMs } from './poll-options.js';

/** The namespace `uri`: `uri` names one file; of those below `uriPrefix` that match `fileRegex` the newest counts. */
export function uriNamespace(reader: ObjectReader, settings: LookupSettings): LookupSource {
  reader.accept(['uri', 'uriPrefix', 'fileRegex', 'versionRegex', 'namespaceParseSpec', 'pollPeriod', 'maxHeapPercentage']);
  if (reader.has('uri') === reader.has('uriPrefix')) throw reader.invalid('', 'expected either uri or uriPrefix');
  if (reader.has('fileRegex') && reader.has('versionRegex')) throw reader.invalid('versionRegex', 'is the older name of fileRegex');
  const regex = reader.has('versionRegex') ? 'versionRegex' : 'fileRegex';
  if (reader.has('uri') && reader.has(regex)) throw reader.invalid(regex, 'is for uriPrefix, not for uri');
  const rows = rowsOf(reader.object('namespaceParseSpec'));
  const open = openerOf(reader, regex, settings);
  return {
    isInline: false,
    goesOn: false,
    pollMs: readPollMs(reader),
    jitterMs: 0,
    timeoutMs: null,
    maxHeapPercentage: readHeapPercentage(reader),
    async read(known, signal) {
      const { entity, version } = await open(signal);
      if (version !== null && version === known) return null;
      return { version: version ?? new Date(settings.now()).toISOString(), batches: entriesOf(entity, rows, settings) };
    },
  };
}

interface Opened {
  readonly entity: InputEntity;
  /** Null when the source does not tell one. */
  readonly version: string | null;
}

type Opener = (signal: AbortSignal) => Promise<Opened>;

function openerOf(reader: ObjectReader, regex: string, { sourceLimits }: LookupSettings): Opener {
  const key = reader.has('uri') ? 'uri' : 'uriPrefix';
  const written = reader.string(key);
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(written)?.[1]?.toLowerCase();
  if (scheme === 'file') {
    const file = filePathOf(reader, key, written);
    if (key === 'uri') return async () => versioned(await allowedFile(file, sourceLimits.allowedDirectories));
    const pattern = reader.optionalString(regex);
    const compiled = pattern === undefined ? undefined : compileRegularExpression(pattern, 'input_invalid');
    return async () => {
      const all = await allowedFilesIn(file, sourceLimits.allowedDirectories);
      const matching = all.filter(({ fileName }) => compiled === undefined || compiled.groups(fileName) !== null);
      const [first, ...others] = matching;
      if (first === undefined) throw new ServiceError('input_unreadable', `no file in ${file} matches ${pattern ?? '.*'}`);
      return versioned(others.reduce((newest, each) => (each.modifiedMs > newest.modifiedMs ? each : newest), first));
    };
  }
  if (scheme === 'http' || scheme === 'https') {
    if (key === 'uriPrefix') throw reader.unsupported('uriPrefix', 'http does not list files: name one by uri');
    const source = parseInputSource(reader.reader({ type: 'http', uris: [written] }, reader.at('uri')));
    return async (signal) => {
      const [entity] = await inputParts(source, { ...sourceLimits, signal });
      if (entity === undefined || isStored(entity)) throw new ServiceError('internal', 'a URL is one entity');
      return { entity, version: null };
    };
  }
  throw reader.unsupported(key, 'accepted: file, http, https');
}

function versioned({ entity, modifiedMs }: { readonly entity: InputEntity; readonly modifiedMs: number }): Opened {
  return { entity, version: `${modifiedMs} ${entity.name}` };
}

/** The path of `file:/a/b` and `file:///a/b`; other hosts than this one are refused. */
function filePathOf(reader: ObjectReader, key: string, written: string): string {
  try {
    const url = new URL(written);
    if (url.search === '' && url.hash === '') return fileURLToPath(url);
  } catch {
    // It is refused below.
  }
  throw reader.invalid(key, `expected file:/ and an absolute path, found ${JSON.stringify(written)}`);
}

/** Format of the rows, and the entries of each. */
interface Rows {
  readonly format: InputFormat;
  readonly columns: ReadonlySet<string> | null;
  readonly entries: (block: InputBlock, row: number) => readonly Entry[];
}

function rowsOf(reader: ObjectReader): Rows {
  const name = reader.choice('format', ['csv', 'tsv', 'customJson', 'simpleJson']);
  const formatOf = (options: object): InputFormat => parseInputFormat(new ObjectReader(options, reader.path, reader.context));
  switch (name) {
    case 'customJson': {
      acceptBeside(reader, ['keyFieldName', 'valueFieldName']);
      const [key, value] = [reader.string('keyFieldName'), reader.string('valueFieldName')];
      return { format: formatOf({ type: 'json' }), columns: new Set([key, value]), entries: ofValues(key, value) };
    }
    case 'simpleJson':
      acceptBeside(reader, []);
      return { format: formatOf({ type: 'json' }), columns: null, entries: ofRecords };
    default:
      return delimitedRows(reader, name, formatOf);
  }
}

function acceptBeside(reader: ObjectReader, keys: readonly string[]): void {
  reader.accept(['format', ...keys]);
}

function delimitedRows(reader: ObjectReader, type: 'csv' | 'tsv', formatOf: (options: object) => InputFormat): Rows {
  const ofTsv = type === 'tsv' ? ['delimiter', 'listDelimiter'] : [];
  acceptBeside(reader, ['columns', 'keyColumn', 'valueColumn', 'hasHeaderRow', 'skipHeaderRows', ...ofTsv]);
  const columns = reader.strings('columns');
  const hasHeaderRow = reader.boolean('hasHeaderRow', false);
  const [key, value] = [reader.optionalString('keyColumn'), reader.optionalString('valueColumn')];
  if ((key === undefined) !== (value === undefined)) throw reader.invalid('', 'keyColumn and valueColumn are given together or not at all');
  if (columns.length === 1 || (columns.length === 0 && !hasHeaderRow)) throw reader.invalid('columns', 'expected at least two columns');
  for (const [name, column] of [
    ['keyColumn', key],
    ['valueColumn', value],
  ] as const)
    if (column !== undefined && columns.length > 0 && !columns.includes(column))
      throw reader.invalid(name, `"${column}" is not among columns (${columns.join(', ')})`);
  const skipped = (reader.optionalInteger('skipHeaderRows', 0) ?? 0) + (hasHeaderRow && columns.length > 0 ? 1 : 0);
  const format = formatOf({
    type,
    // Named columns count, whatever the header says.
    ...(columns.length === 0 ? { findColumnsFromHeader: true } : { columns }),
    skipHeaderRows: skipped,
    ...(reader.has('delimiter') ? { delimiter: reader.string('delimiter') } : {}),
  });
  // Lists of values are no values of a lookup: the delimiter of lists is read, and a field stays whole.
  reader.optionalString('listDelimiter');
  return { format, columns: null, entries: ofFields(key, value) };
}

function ofFields(keyColumn: string | undefined, valueColumn: string | undefined): Rows['entries'] {
  return (block, row) => {
    if (block.kind !== 'text') return [];
    const { bytes, starts, ends } = block;
    const field = (name: string | undefined, otherwise: number): string | undefined => {
      const column = name === undefined ? otherwise : block.columns.indexOf(name);
      if (column < 0 || column >= block.columns.length)
        throw new ServiceError('input_unreadable', `the header has no column ${name ?? otherwise + 1}: ${block.columns.join(', ')}`);
      const end = ends[column]?.[row] ?? -1;
      return end < 0 ? undefined : Buffer.from(bytes.buffer, bytes.byteOffset).toString('utf8', starts[column]?.[row] ?? 0, end);
    };
    return entryOf(field(keyColumn, 0), field(valueColumn, 1), () => block.sample(row));
  };
}

function ofValues(key: string, value: string): Rows['entries'] {
  return (block, row) => {
    if (block.kind !== 'values') return [];
    const sample = (): string => block.sample(row);
    const [keyThere, valueThere] = [own(block.record(row), key), own(block.record(row), value)];
    return entryOf(scalar(keyThere, sample), scalar(valueThere, sample), sample);
  };
}

function ofRecords(block: InputBlock, row: number): readonly Entry[] {
  if (block.kind !== 'values') return [];
  const sample = (): string => block.sample(row);
  return Object.entries(block.record(row)).flatMap(([key, value]) => entryOf(key, scalar(value, sample), sample));
}

/** A row without a value has no entry. @throws ServiceError for one without a key */
function entryOf(key: string | undefined, value: string | undefined, sample: () => string): readonly Entry[] {
  if (key === undefined) throw new ServiceError('input_unreadable', `a row has no key: ${shortened(sample())}`);
  return value === undefined ? [] : [[key, value]];
}

function scalar(value: unknown, sample: () => string): string | undefined {
  if (value === undefined || value === null) return undefined;
  const text = textOf(value);
  if (text === undefined)
    throw new ServiceError('input_unreadable', `a row has ${describeValue(value)} where a string is expected: ${shortened(sample())}`);
  return text;
}

function shortened(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}...` : text;
}

async function* entriesOf(entity: InputEntity, rows: Rows, { inputLimits }: LookupSettings): AsyncGenerator<readonly Entry[]> {
  const reading = {
    columns: rows.columns,
    workDirectory: '',
    inputLimits,
    read: () => undefined,
    reject(reason: string, sample: string): never {
      throw new ServiceError('input_unreadable', `${entity.name}: ${reason}: ${shortened(sample)}`);
    },
  };
  for await (const block of rows.format.read(entity, reading)) {
    const batch: Entry[] = [];
    for (let row = 0; row < block.rowCount; row++) for (const entry of rows.entries(block, row)) batch.push(entry);
    yield batch;
  }
}
