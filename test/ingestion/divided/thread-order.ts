import { statSync } from 'node:fs';
import type { ReaderSetting, ReadOrder } from '../../../src/ingestion/batch/divided/part-reader.js';
import { DECOMPRESSION } from '../blocks.js';
import { specOf } from './divided-run.js';

/** The setting of a thread that reads a file of CSV. */
export function settingOf(file: string, folder: string, share: ReaderSetting['share']): ReaderSetting {
  const { source, isParallel } = specOf([file], {
    files: [],
    inputFormat: { type: 'csv', findColumnsFromHeader: true },
    tuning: { maxRowsInMemory: 9000 },
  });
  const inputLimits = { maxColumns: 1000, maxRowBytes: 1 << 20, decompression: DECOMPRESSION };
  return { spec: source, isParallel, rules: { workDirectory: folder, maxBytesInMemory: 1 << 28, inputLimits, kernels: 'simd' }, share };
}

/** The order to read all of a file, as one part of it. */
export function orderOf(file: string): ReadOrder {
  const { size: fileBytes, mtimeMs: modifiedMs } = statSync(file);
  const part = { from: 0, to: fileBytes, isAtRow: true, fileBytes, modifiedMs };
  return { work: { file: { name: file, path: file }, part, isWhole: false }, exceptionsBefore: 0, passed: { records: 0, lines: 0 } };
}
