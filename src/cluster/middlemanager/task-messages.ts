// Messages between the middle manager and a task's child process.

import type { ErrorCode } from '../../base/errors.js';
import type { Interval } from '../../base/instant.js';
import type { ChatRequest, TableQuery, TaskCalls, TaskOutcome, TaskProgress, TaskRules } from '../../ingestion/contract.js';
import type { Frame } from '../../model/frame.js';
import type { PublishRequest } from '../../model/publication.js';
import type { VisibleSegment } from '../../model/segment.js';
import type { StoragePlace } from '../../storage/deep/open-deep-storage.js';
import type { DeepStoragePlaces } from '../../storage/deep/storage-places.js';
import type { PlainServiceError } from '../rpc/message.js';
import type { KeyStore } from '../rpc/tls-material.js';

/** Settings that a task's child process receives from this process. */
export interface TaskSettings extends TaskRules {
  /** Deep storage: new files go to the first. */
  readonly storagePlaces: DeepStoragePlaces;
  /** JavaScript heap of its process. */
  readonly maxHeapBytes: number;
  /** Durable storage of results; null: there is none. */
  readonly resultPlace: StoragePlace | null;
  /** Way in which its process can be called by others, if it serves anything. */
  readonly serving: ServingSettings;
  /** Bytes that the log of the task may take. */
  readonly logBytesMax: number;
}

/** Address and port that a task's process may listen at, and the key of the cluster. */
export interface ServingSettings {
  readonly address: string;
  /** 0: any that is free. */
  readonly port: number;
  readonly clusterKey: string;
  /** Certificate and key of its port; null: without TLS. */
  readonly tls: KeyStore | null;
}

/** Message from the middle manager to the child. */
export type ToTask =
  | {
      readonly kind: 'run';
      /** Program: a task, or the sampler, whose outcome has the answer as its report. */
      readonly program: 'task' | 'sampler';
      readonly taskId: string;
      readonly attempt: number;
      readonly parentId: string | null;
      readonly payload: unknown;
      readonly settings: TaskSettings;
    }
  /** A request of a client, answered by `chatAnswer` or `chatFailed` of the same number. */
  | { readonly kind: 'chat'; readonly chat: number; readonly request: ChatRequest }
  /** The answer to a call of this number. */
  | { readonly kind: 'answer'; readonly call: number; readonly value: unknown }
  | { readonly kind: 'callFailed'; readonly call: number; readonly code: ErrorCode; readonly message: string }
  | { readonly kind: 'published'; readonly ids: readonly string[] }
  | { readonly kind: 'publishFailed'; readonly code: ErrorCode; readonly message: string }
  /** The segments it asked for. */
  | { readonly kind: 'segments'; readonly segments: readonly VisibleSegment[] }
  | { readonly kind: 'segmentsFailed'; readonly code: ErrorCode; readonly message: string }
  /** Frame of the query it asked for; null after the last. */
  | { readonly kind: 'frame'; readonly frame: Frame | null }
  | { readonly kind: 'queryFailed'; readonly error: PlainServiceError };

/** Message from the child to the middle manager. `outcome` is the last one. */
export type FromTask =
  | { readonly kind: 'progress'; readonly progress: TaskProgress }
  /** It answers queries at this port, and is to be announced; null: not any more. */
  | { readonly kind: 'serving'; readonly port: number | null }
  | { readonly kind: 'liveChanged' }
  | { readonly kind: 'publish'; readonly request: PublishRequest }
  | { readonly kind: 'chatAnswer'; readonly chat: number; readonly body: unknown }
  | { readonly kind: 'chatFailed'; readonly chat: number; readonly code: ErrorCode; readonly message: string }
  /** Calls a method of `TaskCalls`; several may be under way. */
  | { readonly kind: 'call'; readonly call: number; readonly method: keyof TaskCalls; readonly args: readonly unknown[] }
  /** Asks for the visible segments of a datasource that meet one of the intervals. */
  | { readonly kind: 'findSegments'; readonly dataSource: string; readonly intervals: readonly Interval[] }
  /** Begins a query of the task, after the end of the one before; frames come one at a time, each when it is asked for. */
  | { readonly kind: 'query'; readonly query: TableQuery }
  | { readonly kind: 'nextFrame' }
  | { readonly kind: 'endQuery' }
  | { readonly kind: 'outcome'; readonly outcome: TaskOutcome };
