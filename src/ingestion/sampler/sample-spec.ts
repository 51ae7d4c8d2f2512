// Reads the body of a request to the sampler.

import { Buffer } from 'node:buffer';
import { ServiceError } from '../../base/errors.js';
import { parseJson } from '../../base/json.js';
import { ObjectReader, readContextOf } from '../../base/json-reader.js';
import type { StreamKind } from '../../model/stream/offsets.js';
import { parseMessageFormat } from '../stream/kafka-format.js';
import { parseStreamTuning } from '../stream/stream-tuning.js';
import { parseSupervisorIo, supervisorIoKeys } from '../stream/supervisor-io.js';
import { type DataSchema, parseDataSchema } from '../task-spec/data-schema.js';
import { type IndexSpec, parseIndexSpec } from '../task-spec/index-spec.js';
import type { SampledStream } from './sampled-stream.js';

export interface SampledFiles extends Pick<IndexSpec, 'inputSource' | 'inputFormat'> {
  readonly kind: 'files';
}

export interface SampleSpec {
  readonly dataSchema: DataSchema;
  readonly input: SampledFiles | SampledStream;
  /** Whether columns of nothing but nulls are shown. */
  readonly keepsNullColumns: boolean;
  readonly limits: SampleLimits;
}

export interface SampleLimits {
  readonly numRows: number;
  readonly timeoutMs: number;
  readonly maxBytesInMemory: number;
  /** Size of the rows of the answer as text. */
  readonly maxResponseBytes: number;
}

const NUM_ROWS = 200;
const NUM_ROWS_MAX = 5000;
export const TIMEOUT_MS = 10_000;
export const TIMEOUT_MS_MAX = 300_000;
const RESPONSE_BYTES_MAX = 64 * 2 ** 20;

/** Parts of a data schema that may be left out of a sample: `timestamp` as a time of any format, and all fields. */
const DEFAULT_SCHEMA = { dataSource: 'sample', timestampSpec: { column: 'timestamp', format: 'auto' }, dimensionsSpec: {} };

/**
 * The request whose body these bytes are.
 * @throws ServiceError `input_invalid` or `unsupported` naming the field
 */
export function readSampleSpec(body: Uint8Array): SampleSpec {
  const fields = new ObjectReader(jsonOf(body), '', readContextOf('input_invalid', 'the body'));
  const type = fields.type(['index', 'index_parallel', 'kafka', 'kinesis']);
  fields.accept(['spec', 'samplerConfig']);
  const isStream = type === 'kafka' || type === 'kinesis';
  const { dataSchema, input, format } = isStream
    ? readStreamParts(fields.object('spec'), type)
    : readFileParts(fields.object('spec'), type);
  return {
    dataSchema,
    input,
    keepsNullColumns: format?.boolean('keepNullColumns', false) ?? false,
    limits: parseLimits(fields.optionalObject('samplerConfig') ?? fields.reader({}, 'samplerConfig')),
  };
}

interface SampleParts extends Pick<SampleSpec, 'dataSchema' | 'input'> {
  /** Members as they were sent. */
  readonly format: ObjectReader | undefined;
}

function readFileParts(spec: ObjectReader, type: 'index' | 'index_parallel'): SampleParts {
  spec.accept(['dataSchema', 'ioConfig', 'tuningConfig']);
  const io = spec.object('ioConfig');
  const { format, members } = formatOf(io);
  // The console sends rows of a stream again as a text, with the ioConfig of the stream around them.
  const ofStream = new Set([...supervisorIoKeys('kafka'), ...supervisorIoKeys('kinesis')].filter((key) => key !== 'inputFormat'));
  const ioConfig = Object.fromEntries(Object.entries(members).filter(([key]) => !ofStream.has(key)));
  const { dataSchema, inputSource, inputFormat } = parseIndexSpec(
    spec.reader({ dataSchema: schemaMembers(spec), ioConfig, tuningConfig: spec.raw('tuningConfig') }, spec.path),
    type,
  );
  return { dataSchema, input: { kind: 'files', inputSource, inputFormat }, format };
}

/** The spec is that of a supervisor, whose parts may stand in a `spec` of its own. */
function readStreamParts(outer: ObjectReader, kind: StreamKind): SampleParts {
  outer.type([kind], { otherwise: kind });
  outer.accept(['spec', 'dataSchema', 'ioConfig', 'tuningConfig', 'id', 'context', 'suspended']);
  const spec = outer.optionalObject('spec') ?? outer;
  if (spec !== outer) spec.accept(['dataSchema', 'ioConfig', 'tuningConfig']);
  const { format, members } = formatOf(spec.object('ioConfig'));
  const io = spec.reader(members, spec.at('ioConfig'));
  const { source, useEarliest } = parseSupervisorIo(kind, io);
  parseStreamTuning(spec.optionalObject('tuningConfig'), kind, 'supervisor');
  const dataSchema = parseDataSchema(spec.reader(schemaMembers(spec), spec.at('dataSchema')));
  return { dataSchema, input: { kind: 'stream', source, useEarliest, format: parseMessageFormat(io.object('inputFormat')) }, format };
}

/** The members of an `ioConfig` with a format that has nothing but what formats know. */
function formatOf(io: ObjectReader): { readonly format: ObjectReader | undefined; readonly members: ObjectReader['members'] } {
  const format = io.optionalObject('inputFormat');
  if (format === undefined) return { format, members: io.members };
  const { keepNullColumns: _, ...inputFormat } = format.members;
  return { format, members: { ...io.members, inputFormat } };
}

function schemaMembers(spec: ObjectReader): Readonly<Record<string, unknown>> {
  return { ...DEFAULT_SCHEMA, ...withoutNulls(spec.optionalObject('dataSchema')?.members ?? {}) };
}

function withoutNulls(members: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
}

function parseLimits(fields: ObjectReader): SampleLimits {
  fields.accept(['numRows', 'timeoutMs', 'maxBytesInMemory', 'maxClientResponseBytes']);
  const responseBytes = fields.optionalBytes('maxClientResponseBytes') ?? 0;
  return {
    numRows: fields.optionalInteger('numRows', 0, NUM_ROWS_MAX) ?? NUM_ROWS,
    // 0 stands for no limit.
    timeoutMs: fields.optionalInteger('timeoutMs', 0, TIMEOUT_MS_MAX) ?? TIMEOUT_MS,
    maxBytesInMemory: fields.optionalBytes('maxBytesInMemory') ?? Number.MAX_SAFE_INTEGER,
    maxResponseBytes: responseBytes === 0 ? RESPONSE_BYTES_MAX : Math.min(responseBytes, RESPONSE_BYTES_MAX),
  };
}

function jsonOf(body: Uint8Array): unknown {
  try {
    return parseJson(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8'));
  } catch (error) {
    throw new ServiceError('input_invalid', `body: ${error instanceof Error ? error.message : String(error)}`, error);
  }
}
