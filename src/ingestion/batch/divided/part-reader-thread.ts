// Entry module of a thread that reads parts of files.

import { parentPort, workerData } from 'node:worker_threads';
import { ObjectReader, readContextOf } from '../../../base/json-reader.js';
import type { HandedFile } from '../../builder/chunk-store.js';
import type { ReadCounts } from '../../report/row-statistics.js';
import { parseIndexSpec } from '../../task-spec/index-spec.js';
import { type PartOutput, PartReader, type ReaderRules, type ReadOrder } from './part-reader.js';

/** Setting of a thread; plain data. */
export interface ReaderSetting {
  /** Spec with defaults written out. */
  readonly spec: Readonly<Record<string, unknown>>;
  readonly isParallel: boolean;
  readonly rules: ReaderRules;
  readonly share: { readonly of: number; readonly number: number };
}

export type ToReader = { readonly kind: 'read'; readonly order: ReadOrder } | { readonly kind: 'finish' };

export type FromReader =
  | { readonly kind: 'counted'; readonly counts: ReadCounts }
  | { readonly kind: 'read'; readonly output: PartOutput }
  | { readonly kind: 'finished'; readonly file: HandedFile };

const COUNTS_EVERY_MS = 200;

const { spec: fields, isParallel, rules, share } = workerData as ReaderSetting;
const spec = parseIndexSpec(
  new ObjectReader(fields, 'spec', readContextOf('input_invalid', 'the task')),
  isParallel ? 'index_parallel' : 'index',
);
// Whoever started the thread ends it when the task is cancelled.
const reader = new PartReader(spec, rules, share, new AbortController().signal);
let toldMs = 0;

parentPort?.on('message', async (message: ToReader) => {
  if (message.kind === 'finish') return answer({ kind: 'finished', file: await reader.finish() });
  answer({ kind: 'read', output: await reader.read(message.order, tell) });
});

function tell(counts: ReadCounts): void {
  const now = performance.now();
  if (now - toldMs < COUNTS_EVERY_MS) return;
  toldMs = now;
  answer({ kind: 'counted', counts });
}

function answer(message: FromReader): void {
  parentPort?.postMessage(message);
}
