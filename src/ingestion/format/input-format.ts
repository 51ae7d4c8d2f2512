// Table of the input formats.

import type { ObjectReader } from '../../base/json-reader.js';
import { parseKind } from '../parse-kind.js';
import { CSV, TSV } from './delimited.js';
import type { InputFormat, InputFormatKind } from './format-kind.js';
import { JSON_FORMAT } from './json.js';
import { LINES } from './lines.js';
import { PARQUET } from './parquet.js';
import { REGEX } from './regex.js';

/** Every input format: a file and a row here. */
export const INPUT_FORMATS: readonly InputFormatKind[] = [JSON_FORMAT, CSV, TSV, PARQUET, LINES, REGEX];

/** Druid's other formats are refused as unsupported, not as unknown. */
const DOCUMENTED = ['javascript', 'orc', 'avro_stream', 'avro_ocf', 'protobuf', 'kafka', 'kinesis', 'thrift'];

/** @throws ServiceError that names the field */
export function parseInputFormat(fields: ObjectReader): InputFormat {
  return parseKind(fields, INPUT_FORMATS, DOCUMENTED);
}
