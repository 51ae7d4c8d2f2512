// Table of the input sources.

import { ServiceError } from '../../base/errors.js';
import type { ObjectReader } from '../../base/json-reader.js';
import { parseKind } from '../parse-kind.js';
import { HTTP } from './http.js';
import { INLINE } from './inline.js';
import { LOCAL } from './local.js';
import type { InputEntity, InputSource, InputSourceKind, SourceLimits } from './source-kind.js';

/** Every input source: a file and a row here. */
const INPUT_SOURCES: readonly InputSourceKind[] = [
  INLINE,
  LOCAL,
  HTTP, //
];

/** Druid's other sources are refused as unsupported, not as unknown. */
const DOCUMENTED = ['s3', 'google', 'azure', 'azureStorage', 'hdfs', 'sql', 'combining', 'druid', 'iceberg', 'delta'];

/** @throws ServiceError that names the field */
export function parseInputSource(fields: ObjectReader): InputSource {
  return parseKind(fields, INPUT_SOURCES, DOCUMENTED);
}

/**
 * The entities of a source, in the order in which their rows are numbered.
 * @throws ServiceError `input_unreadable` when there is none, `forbidden` outside the allowed directories
 */
export async function inputEntities(source: InputSource, limits: SourceLimits): Promise<readonly InputEntity[]> {
  const entities = await source.entities(limits);
  if (entities.length === 0) throw new ServiceError('input_unreadable', 'the input source names no input');
  return entities;
}
