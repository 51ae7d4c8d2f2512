// Writes the answer of the sampler.

import { Buffer } from 'node:buffer';
import { stringifyJson } from '../../base/json.js';
import { shallowJsonText } from '../../expression/functions/json-size.js';
import { type ColumnType, JSON_TYPE, TIME_COLUMN } from '../../model/schema.js';
import type { SampledColumn } from './sample-columns.js';
import type { SampleLimits } from './sample-spec.js';
import type { SampledRow } from './sampled-rows.js';

interface SampleParts {
  readonly rows: readonly SampledRow[];
  readonly columns: readonly SampledColumn[];
  /** The elements of `dimensionsSpec.dimensions` as they were sent. */
  readonly dimensions: readonly unknown[];
  readonly limits: SampleLimits;
}

/**
 * The answer: rows in order up to the limits, each with its input, how it would be stored, and what is wrong with it. The
 * row that crosses the limit of bytes is the last one.
 */
export function sampleText({ rows, columns, dimensions, limits }: SampleParts): string {
  const texts: string[] = [];
  let bytes = 0;
  let read = 0;
  let indexed = 0;
  for (const row of rows.slice(0, limits.numRows)) {
    read++;
    if (row.error === null) indexed++;
    // Rolled up into a row before.
    if (row.parsed === null && row.error === null) continue;
    const text = rowText(row);
    texts.push(text);
    bytes += Buffer.byteLength(text);
    if (bytes > limits.maxResponseBytes) break;
  }
  const stored = columns.filter(({ origin }) => origin !== 'metric');
  const sent = new Map(dimensions.map((dimension) => [nameOf(dimension), dimension]));
  const head = stringifyJson({
    numRowsRead: read,
    numRowsIndexed: indexed,
    logicalDimensions: stored.map((column) =>
      column.origin === 'declared' ? declaredSchema(column, sent.get(column.name)) : schemaOf(column.name, logicalType(column.type)),
    ),
    physicalDimensions: stored.map((column) => schemaOf(column.name, column.isAuto ? 'auto' : logicalType(column.type))),
    logicalSegmentSchema: [{ name: TIME_COLUMN, type: 'LONG' }, ...columns.map(({ name, type }) => ({ name, type }))],
  });
  return `${head.slice(0, -1)},"data":[${texts.join(',')}]}`;
}

function rowText({ input, parsed, error }: SampledRow): string {
  const shown = {
    ...(input === null ? {} : { input }),
    ...(parsed === null ? {} : { parsed }),
    ...(error === null ? {} : { unparseable: true, error }),
  };
  return shallowJsonText(shown) ?? stringifyJson({ unparseable: true, error: 'the row is nested too deeply to be shown' });
}

function nameOf(dimension: unknown): unknown {
  return typeof dimension === 'object' && dimension !== null && 'name' in dimension ? dimension.name : dimension;
}

/** The schema as it was sent, with its defaults written out. */
function declaredSchema({ name }: SampledColumn, sent: unknown): Readonly<Record<string, unknown>> {
  if (typeof sent !== 'object' || sent === null) return schemaOf(name, 'string');
  const members = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== null));
  const type = 'type' in sent && typeof sent.type === 'string' ? sent.type : 'string';
  return type === 'spatial' ? members : { ...schemaOf(name, type), ...members };
}

/** Only numbers have no index unless they are asked for one. */
function schemaOf(name: string, type: string): Readonly<Record<string, unknown>> {
  const createBitmapIndex = !['long', 'float', 'double'].includes(type);
  return { type, name, multiValueHandling: 'SORTED_ARRAY', createBitmapIndex };
}

function logicalType(type: ColumnType): string {
  if (type === 'STRING' || type === 'LONG' || type === 'FLOAT' || type === 'DOUBLE') return type.toLowerCase();
  return type === JSON_TYPE ? 'json' : 'auto';
}
