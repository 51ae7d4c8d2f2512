// Table of the input sources.

import { ServiceError } from '../../base/errors.js';
import type { ObjectReader } from '../../base/json-reader.js';
import { parseKind } from '../parse-kind.js';
import { combining } from './combining.js';
import { SQL } from './database/sql-source.js';
import { DRUID } from './druid.js';
import { HTTP } from './http.js';
import { INLINE } from './inline.js';
import { LOCAL } from './local.js';
import { S3 } from './s3.js';
import type { InputPart, InputSource, InputSourceKind, SourceLimits } from './source-kind.js';

/** Every input source: a file and a row here. */
const INPUT_SOURCES: readonly InputSourceKind[] = [INLINE, LOCAL, HTTP, S3, SQL, DRUID, combining((fields) => parseInputSource(fields))];

const NO_CLIENT = 'no client of such storage is built in: give URLs that http can read, or copy the files below an allowed directory';
const NO_TABLE_FORMAT = 'no reader of such tables is built in: name their Parquet files';

/** Druid's other sources, and why they are refused. */
const DOCUMENTED: Readonly<Record<string, string>> = {
  google: NO_CLIENT,
  azure: NO_CLIENT,
  azureStorage: NO_CLIENT,
  hdfs: NO_CLIENT,
  iceberg: NO_TABLE_FORMAT,
  delta: NO_TABLE_FORMAT,
};

/** @throws ServiceError that names the field */
export function parseInputSource(fields: ObjectReader): InputSource {
  return parseKind(fields, INPUT_SOURCES, DOCUMENTED);
}

/**
 * The parts of a source, in the order in which their rows are numbered.
 * @throws ServiceError `input_unreadable` when there is none, `forbidden` outside the allowed directories
 */
export async function inputParts(source: InputSource, limits: SourceLimits): Promise<readonly InputPart[]> {
  const parts = await source.parts(limits);
  if (parts.length === 0) throw new ServiceError('input_unreadable', 'the input source names no input');
  return parts;
}
