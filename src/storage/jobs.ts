// Jobs of storage that processing threads run.

import type { KernelSet } from '../kernels/contract.js';
import type { KernelMemory } from '../kernels/memory.js';
import type { SegmentFile } from './codecs/array-decoder.js';
import type { Footer } from './format.js';
import { type CombineColumnRequest, type CombinedColumn, combineColumn } from './jobs/combine-column.js';
import { type FindRowsRequest, findRows } from './jobs/find-rows.js';
import { type FindTextsRequest, findStrings } from './jobs/find-strings.js';
import { type InternDictionaryRequest, type InternTable, internDictionary } from './jobs/intern-dictionary.js';
import { type LoadColumnRequest, loadColumn } from './jobs/load-column.js';
import type { LookedUp, LookUpRequest } from './jobs/look-up.js';
import { verifySegment } from './jobs/verify-segment.js';

/** Storage jobs for processing threads: requests and responses are plain data, columns stay in kernel memory. */
export interface StorageJobs {
  readonly verifySegment: { readonly request: SegmentFile; readonly response: Footer };
  readonly loadColumn: { readonly request: LoadColumnRequest; readonly response: null };
  readonly internDictionary: { readonly request: InternDictionaryRequest; readonly response: InternTable };
  readonly combineColumn: { readonly request: CombineColumnRequest; readonly response: CombinedColumn };
  readonly lookUp: { readonly request: LookUpRequest; readonly response: LookedUp | null };
  readonly findRows: { readonly request: FindRowsRequest; readonly response: Uint32Array };
  readonly findStrings: { readonly request: FindTextsRequest; readonly response: Uint32Array };
}

export type StorageJobName = keyof StorageJobs;

/** Runs a job on some thread of the process over the memory the store was made with. A job's error comes back as thrown. */
export type RunStorageJob = <Name extends StorageJobName>(
  name: Name,
  request: StorageJobs[Name]['request'],
) => Promise<StorageJobs[Name]['response']>;

/** Jobs that a process can do as soon as it starts; `lookUp` needs expressions, which are most of the modules that run queries. */
export type EarlyJobName = Exclude<StorageJobName, 'lookUp'>;

export const STORAGE_JOBS: {
  readonly [Name in EarlyJobName]: (
    request: StorageJobs[Name]['request'],
    memory: KernelMemory,
    kernels: KernelSet,
  ) => StorageJobs[Name]['response'];
} = { verifySegment, loadColumn, internDictionary, combineColumn, findRows, findStrings };

/** Runs jobs on the thread that asks for them. */
export function runHere(memory: KernelMemory, kernels: () => KernelSet): RunStorageJob {
  return async <Name extends StorageJobName>(name: Name, request: StorageJobs[Name]['request']) => {
    type Job = (request: StorageJobs[Name]['request'], memory: KernelMemory, kernels: KernelSet) => StorageJobs[Name]['response'];
    const job = name === 'lookUp' ? (await import('./jobs/look-up.js')).lookUp : STORAGE_JOBS[name as EarlyJobName];
    return (job as Job)(request, memory, kernels());
  };
}
