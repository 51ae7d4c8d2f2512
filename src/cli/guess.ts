import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename } from 'node:path';
import { createGunzip } from 'node:zlib';
import { ServiceError } from '../base/errors.js';
import { own } from '../base/names.js';
import { timestampParser } from '../ingestion/column/timestamp.js';
import type { InputBlock } from '../ingestion/format/input-block.js';
import { type InputFormat, readRows } from '../ingestion/format/input-format.js';
import { localEntities } from '../ingestion/source/local.js';
import { FILE_FORMATS, type FileFormat } from './formats.js';

const EXTENSIONS: Readonly<Record<string, FileFormat>> = {
  json: 'json',
  jsonl: 'json',
  ndjson: 'json',
  csv: 'csv',
  tsv: 'tsv',
  tab: 'tsv',
  parquet: 'parquet',
  pq: 'parquet', //
};

const HEAD_BYTES = 65_536;
const SAMPLE_ROWS = 200;

/** By the name, `.gz` and `.zst` aside; else by how the file begins. @throws ServiceError `input_unreadable` when neither tells */
export async function guessFormat(file: string): Promise<FileFormat> {
  const extension = /\.([a-z]+)$/i.exec(file.replace(/\.(gz|gzip|zst|zstd)$/i, ''))?.[1]?.toLowerCase() ?? '';
  const named = own(EXTENSIONS, extension);
  if (named !== undefined) return named;
  const head = await readHead(file);
  if (head.subarray(0, 4).toString('latin1') === 'PAR1') return 'parquet';
  const text = head
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trimStart();
  if (text.startsWith('{') || text.startsWith('[')) return 'json';
  const [firstLine = ''] = text.split('\n', 1);
  if (firstLine.includes('\t')) return 'tsv';
  if (firstLine.includes(',')) return 'csv';
  throw new ServiceError(
    'input_unreadable',
    `${file}: neither its name nor its beginning tells the format; say --format ${FILE_FORMATS.join('|')}`,
  );
}

/** The first bytes, gunzipped when they are gzip. */
async function readHead(file: string): Promise<Buffer> {
  const handle = await open(file);
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    const head = buffer.subarray(0, bytesRead);
    if (head[0] !== 0x1f || head[1] !== 0x8b) return head;
    const chunks: Buffer[] = [];
    const gunzip = createGunzip();
    gunzip.on('error', () => gunzip.destroy()); // the head ends in the middle of the stream
    gunzip.end(head);
    for await (const chunk of gunzip) chunks.push(Buffer.from(chunk));
    return Buffer.concat(chunks);
  } finally {
    await handle.close();
  }
}

/** Values of the first rows by column, as texts and numbers; null and absent ones left out. */
export type Sample = ReadonlyMap<string, readonly (string | number)[]>;

/** @throws ServiceError `input_unreadable` when the file has no row of this format */
export async function sampleFile(file: string, format: InputFormat): Promise<Sample> {
  const [entity] = await localEntities({ type: 'local', baseDir: null, filter: null, files: [file] }, ['/']);
  if (entity === undefined) throw new ServiceError('input_unreadable', `${file} cannot be read`);
  const sample = new Map<string, (string | number)[]>();
  let rows = 0;
  let firstReason: string | undefined;
  const reject = (reason: string): void => {
    firstReason ??= reason;
  };
  for await (const block of readRows(format, entity, { columns: null, workDirectory: tmpdir(), read: () => undefined, reject })) {
    const count = Math.min(block.rowCount, SAMPLE_ROWS - rows);
    block.columns.forEach((column, at) => {
      const values = sample.get(column) ?? [];
      sample.set(column, values);
      for (let row = 0; row < count; row++) {
        const value = valueAt(block, column, at, row);
        if (typeof value === 'string' || typeof value === 'number') values.push(value);
      }
    });
    rows += count;
    if (rows >= SAMPLE_ROWS) break;
  }
  if (rows === 0)
    throw new ServiceError(
      'input_unreadable',
      `${file} has no row that reads as ${format.type}${firstReason === undefined ? '' : `: ${firstReason}`}`,
    );
  return sample;
}

function valueAt(block: InputBlock, column: string, at: number, row: number): unknown {
  if (block.kind === 'values') return block.values(column)[row];
  const end = block.ends[at]?.[row] ?? -1;
  return end < 0 ? null : Buffer.from(block.bytes.subarray(block.starts[at]?.[row] ?? 0, end)).toString('utf8');
}

export interface TimeGuess {
  readonly column: string;
  /** A format of `timestampSpec`. */
  readonly format: string;
}

const PATTERNS = [
  'yyyy/MM/dd HH:mm:ss',
  'yyyy/MM/dd HH:mm',
  'yyyy/MM/dd',
  'yyyy-MM-dd HH:mm',
  'MM/dd/yyyy HH:mm:ss',
  'MM/dd/yyyy HH:mm',
  'MM/dd/yyyy',
  'M/d/yyyy H:mm',
  'M/d/yyyy',
  'dd.MM.yyyy HH:mm:ss',
  'dd.MM.yyyy HH:mm',
  'dd.MM.yyyy',
  'yyyyMMdd', //
];
const TIME_NAMES = ['__time', 'timestamp', 'time', 'datetime', 'date', 'ts', 'event_time', 'eventtime', 'created_at', 'createdat'];

/** The column whose sampled values all read as instants; names that speak of time come first. */
export function guessTime(sample: Sample): TimeGuess | undefined {
  const rank = (column: string): number => {
    const known = TIME_NAMES.indexOf(column.toLowerCase());
    if (known >= 0) return known;
    return /time|date|_at$|day/i.test(column) ? TIME_NAMES.length : TIME_NAMES.length + 1;
  };
  const columns = [...sample.keys()].sort((a, b) => rank(a) - rank(b));
  for (const column of columns) {
    const format = guessTimeFormat(sample.get(column) ?? [], rank(column) <= TIME_NAMES.length);
    if (format !== undefined) return { column, format };
  }
  return undefined;
}

/** @param namedSo  the column's name speaks of time: only then do bare numbers count as instants */
export function guessTimeFormat(values: readonly (string | number)[], namedSo: boolean): string | undefined {
  if (values.length === 0) return undefined;
  if (values.every((value) => /^-?\d+(\.\d+)?$/.test(String(value)))) {
    if (values.every((value) => parsesAs('yyyyMMdd', String(value)))) return 'yyyyMMdd';
    return namedSo ? countingFormat(values.map(Number)) : undefined;
  }
  const texts = values.map(String);
  return ['iso', ...PATTERNS].find((format) => texts.every((text) => parsesAs(format, text)));
}

function parsesAs(format: string, text: string): boolean {
  // A bare year is ISO, and so is a house number.
  if (format === 'iso' && !/\d-\d/.test(text)) return false;
  if (format === 'yyyyMMdd' && !/^(19|20)\d{6}$/.test(text)) return false;
  return !Number.isNaN(timestampParser(format, 'timestampSpec.format').fromValue(text));
}

/** By size: what lies between 1980 and 2100 in that unit. */
function countingFormat(values: readonly number[]): string | undefined {
  const units = [
    ['posix', 1e-3],
    ['millis', 1],
    ['micro', 1e3],
    ['nano', 1e6],
  ] as const;
  return units.find(([, perMs]) => values.every((value) => value / perMs >= Date.UTC(1980) && value / perMs < Date.UTC(2100)))?.[0];
}

/** `flights-3m.parquet` → `flights-3m`. */
export function nameFor(file: string): string {
  return basename(file)
    .replace(/\.(gz|gzip|zst|zstd)$/i, '')
    .replace(/\.[^.]+$/, '')
    .replace(/[^\w-]+/g, '_');
}
