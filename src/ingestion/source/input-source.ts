// Table of the input sources.

import { ServiceError } from '../../base/errors.js';
import type { ObjectReader } from '../../base/json-reader.js';
import { parseKind } from '../parse-kind.js';
import { combining } from './combining.js';
import { DRUID } from './druid.js';
import { HTTP } from './http.js';
import { INLINE } from './inline.js';
import { LOCAL } from './local.js';
import type { InputPart, InputSource, InputSourceKind, SourceLimits } from './source-kind.js';

/** Every input source: a file and a row here. */
const INPUT_SOURCES: readonly InputSourceKind[] = [INLINE, LOCAL, HTTP, DRUID, combining((fields) => parseInputSource(fields))];

/** Druid's other sources are refused as unsupported, not as unknown. */
const DOCUMENTED = ['s3', 'google', 'azure', 'azureStorage', 'hdfs', 'sql', 'iceberg', 'delta'];

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
