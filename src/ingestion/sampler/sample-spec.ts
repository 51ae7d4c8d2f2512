// Reads the body of a request to the sampler.

import { Buffer } from 'node:buffer';
import { ServiceError } from '../../base/errors.js';
import { parseJson } from '../../base/json.js';
import { ObjectReader, readContextOf } from '../../base/json-reader.js';
import { type IndexSpec, parseIndexSpec } from '../task-spec/index-spec.js';

export interface SampleSpec extends Pick<IndexSpec, 'dataSchema' | 'inputSource' | 'inputFormat'> {
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
  const type = fields.type(['index', 'index_parallel'], { documented: ['kafka', 'kinesis'] });
  fields.accept(['spec', 'samplerConfig']);
  const spec = fields.object('spec');
  spec.accept(['dataSchema', 'ioConfig', 'tuningConfig']);
  const io = spec.object('ioConfig');
  const format = io.optionalObject('inputFormat');
  const { keepNullColumns: _, ...inputFormat } = format?.members ?? {};
  const index = parseIndexSpec(
    fields.reader(
      {
        dataSchema: { ...DEFAULT_SCHEMA, ...withoutNulls(spec.optionalObject('dataSchema')?.members ?? {}) },
        ioConfig: format === undefined ? io.members : { ...io.members, inputFormat },
        tuningConfig: spec.raw('tuningConfig'),
      },
      'spec',
    ),
    type,
  );
  return {
    dataSchema: index.dataSchema,
    inputSource: index.inputSource,
    inputFormat: index.inputFormat,
    keepsNullColumns: format?.boolean('keepNullColumns', false) ?? false,
    limits: parseLimits(fields.optionalObject('samplerConfig') ?? fields.reader({}, 'samplerConfig')),
  };
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
