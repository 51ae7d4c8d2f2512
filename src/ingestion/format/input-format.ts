// Table of the input formats.

import type { ObjectReader } from '../../base/json-reader.js';
import { parseKind } from '../parse-kind.js';
import { ARROW } from './arrow/arrow.js';
import { AVRO_OCF } from './avro/avro.js';
import { CSV, TSV } from './delimited.js';
import type { InputFormat, InputFormatKind } from './format-kind.js';
import { JSON_FORMAT } from './json.js';
import { LINES } from './lines.js';
import { PARQUET } from './parquet.js';
import { REGEX } from './regex.js';

/** Every input format: a file and a row here. */
export const INPUT_FORMATS: readonly InputFormatKind[] = [JSON_FORMAT, CSV, TSV, PARQUET, AVRO_OCF, ARROW, LINES, REGEX];

const OF_STREAMS = 'it is for streams, whose supervisors and tasks read it';
const OF_CLASSES = 'rows of compiled classes are not read: convert them to JSON';

/** Druid's other formats, and why they are refused. */
const DOCUMENTED: Readonly<Record<string, string>> = {
  javascript: 'scripts of users are not run: use regex, or transforms',
  orc: 'there is no reader of ORC: convert the files to Parquet',
  avro_stream: 'it is for streams with a registry of schemas, which is not asked: write JSON',
  protobuf: OF_CLASSES,
  thrift: OF_CLASSES,
  kafka: OF_STREAMS,
  kinesis: OF_STREAMS,
};

/** @throws ServiceError that names the field */
export function parseInputFormat(fields: ObjectReader): InputFormat {
  return parseKind(fields, INPUT_FORMATS, DOCUMENTED);
}
