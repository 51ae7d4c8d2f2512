// Table of the formats of exported files.

import type { ExportFormat } from '../../../model/statement.js';
import { openArrow } from './arrow-rows.js';
import { openParquet } from './parquet-rows.js';
import type { OpenEncoder } from './rows-encoder.js';
import { openCsv, openJson } from './text-rows.js';

export const ENCODERS: Readonly<Record<ExportFormat, OpenEncoder>> = {
  csv: openCsv,
  json: openJson,
  parquet: openParquet,
  arrow: openArrow,
};
