// Infers the input format of a file from its name and first rows.

import { ServiceError } from '../../base/errors.js';
import { parseJsonWithDoubles } from '../../base/json.js';
import { highest } from '../../base/lists.js';
import { compressionNamed } from '../../ingestion/codec/compressions.js';
import { INPUT_FORMATS } from '../../ingestion/format/input-format.js';
import { readsAsTime } from './infer-time.js';
import type { Probe } from './probe.js';

/** Format inferred from a file: the `inputFormat` of a task, and notes on the choice for the person at the terminal. */
export interface InferredFormat {
  readonly inputFormat: Readonly<Record<string, unknown>> & { readonly type: string };
  readonly notes: readonly string[];
}

const DELIMITERS = ['\t', ',', ';', '|'] as const;

/** Formats that need no options of their own to read a file. */
const FILE_FORMATS: readonly string[] = INPUT_FORMATS.flatMap(({ type, files }) => (files === null ? [] : [type]));

/**
 * The format by what was asked for, else by the name of the file (`.gz` and the like aside; of an archive, of its first entry), else by its beginning; its
 * options by the beginning.
 * @throws ServiceError `input_unreadable` when neither name nor beginning tells; `input_invalid` for an unknown `asked`
 */
export async function inferFormat(probe: Probe, asked?: string): Promise<InferredFormat> {
  const { name, head } = await probe.head();
  const type = asked ?? formatOfName(name) ?? formatOfHead(head);
  const kind = INPUT_FORMATS.find((row) => row.type === type);
  if (type === undefined || kind === undefined || kind.files === null) {
    if (asked !== undefined)
      throw new ServiceError('input_invalid', `--format: expected one of ${FILE_FORMATS.join(', ')}, found ${asked}`);
    throw new ServiceError(
      'input_unreadable',
      `${probe.name}: neither its name nor its beginning tells the format; say --format ${FILE_FORMATS.join('|')}`,
    );
  }
  const inputFormat = { type, ...kind.files.options };
  if (type === 'json') return { inputFormat: { ...inputFormat, ...jsonOptions(head) }, notes: [] };
  if (type === 'csv' || type === 'tsv') return inferDelimited(probe, inputFormat, head);
  return { inputFormat, notes: [] };
}

/** The format that a name tells, `.gz` and the like aside. */
export function formatOfName(file: string): string | undefined {
  const bare = compressionNamed(file) === undefined ? file : file.replace(/\.[^.]*$/, '');
  const extension = /\.([a-z0-9]+)$/i.exec(bare)?.[1]?.toLowerCase() ?? '';
  return INPUT_FORMATS.find(({ files }) => files?.extensions.includes(extension))?.type;
}

function formatOfHead(head: string): string | undefined {
  if (head.startsWith('PAR1')) return 'parquet';
  if (head.startsWith('Obj\u0001')) return 'avro_ocf';
  if (head.startsWith('ARROW1')) return 'arrow';
  if (/^\s*[{[]/.test(head)) return 'json';
  const delimiter = delimiterOf(head);
  if (delimiter === undefined) return undefined;
  return delimiter === '\t' ? 'tsv' : 'csv';
}

/** Rows that are not one a line, or stand in an array, are read value by value. */
function jsonOptions(head: string): Readonly<Record<string, unknown>> {
  const [firstLine = ''] = head.trimStart().split('\n', 1);
  try {
    const value: unknown = parseJsonWithDoubles(firstLine);
    return Array.isArray(value) ? { useJsonNodeReader: true } : {};
  } catch {
    return { useJsonNodeReader: true };
  }
}

/** The delimiter that the first line has most of, quoted fields aside. */
function delimiterOf(head: string): (typeof DELIMITERS)[number] | undefined {
  const [firstLine = ''] = head.trimStart().split('\n', 1);
  const bare = firstLine.replace(/"[^"]*"/g, '');
  const counts = DELIMITERS.map((delimiter) => bare.split(delimiter).length - 1);
  const most = highest(counts);
  return most === 0 ? undefined : DELIMITERS[counts.indexOf(most)];
}

/** Finds the delimiter, and whether the first row names the columns. */
async function inferDelimited(probe: Probe, inputFormat: InferredFormat['inputFormat'], head: string): Promise<InferredFormat> {
  const usual = inputFormat.type === 'csv' ? ',' : '\t';
  const delimiter = delimiterOf(head) ?? usual;
  const found = delimiter === usual ? inputFormat : { ...inputFormat, delimiter };
  const notes = delimiter === usual ? [] : [`fields are delimited by ${JSON.stringify(delimiter)}`];
  const [firstLine = ''] = head.split('\n', 1);
  const placeholders = firstLine
    .replace(/"[^"]*"/g, '')
    .split(delimiter)
    .map((_, column) => `column_${column + 1}`);
  const first = await firstRow(probe, { ...found, findColumnsFromHeader: false, columns: placeholders });
  if (first === undefined) return { inputFormat: found, notes };
  if (first.some(isData)) {
    notes.push(`the first line is data, not names: columns are ${placeholders.join(', ')}`);
    return { inputFormat: { ...found, findColumnsFromHeader: false, columns: placeholders }, notes };
  }
  const names = first.map((name, column) => name?.trim() || `column_${column + 1}`);
  const distinct = distinctNames(names);
  const renamed = distinct.filter((name, column) => name !== names[column]);
  if (renamed.length === 0) return { inputFormat: found, notes };
  notes.push(`the header names columns twice: read as ${renamed.join(', ')}`);
  return { inputFormat: { ...found, findColumnsFromHeader: false, columns: distinct, skipHeaderRows: 1 }, notes };
}

/** The fields of the first row that can be read. */
async function firstRow(probe: Probe, inputFormat: InferredFormat['inputFormat']): Promise<readonly (string | null)[] | undefined> {
  for await (const row of probe.rows(inputFormat, () => undefined)) {
    return [...row.values()].map((value) => (typeof value === 'string' ? value : null));
  }
  return undefined;
}

/** Numbers and times are values; columns are hardly ever called so. */
function isData(field: string | null): boolean {
  return field !== null && (/^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$/.test(field) || readsAsTime(field));
}

/** `a, b, a` → `a, b, a_2`. */
function distinctNames(names: readonly string[]): readonly string[] {
  const taken = new Set(names);
  const seen = new Set<string>();
  return names.map((name) => {
    let free = name;
    for (let count = 2; seen.has(free) || (free !== name && taken.has(free)); count++) free = `${name}_${count}`;
    seen.add(free);
    return free;
  });
}
