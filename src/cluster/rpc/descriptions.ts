// Table of the methods that roles offer to each other, with their transport.

import type { PartedLists } from './parts.js';
import type {
  BrokerService,
  CoordinatorService,
  HistoricalService,
  MiddleManagerService,
  OverlordService,
  RunPlanRequest,
  TaskQueryRequest,
  TaskService,
} from './services.js';

/** The services by the role that offers them. */
export interface RpcServices {
  readonly historical: HistoricalService;
  readonly broker: BrokerService;
  readonly coordinator: CoordinatorService;
  readonly overlord: OverlordService;
  readonly middleManager: MiddleManagerService;
  readonly task: TaskService;
}

export type RpcRole = keyof RpcServices;

/** Transport of a method: whether it returns one value, which may travel in parts, or a stream, and how long it may take. */
export type MethodDescription = {
  /** Answered at once, whatever else the peer has to do: it does not queue behind calls that take long. */
  readonly isShort?: true;
  /** Absolute epoch milliseconds at which the caller stops waiting. */
  deadlineMs(args: readonly unknown[], nowMs: number): number;
} & (
  | { readonly reply: 'value' | 'stream' }
  /** `silenceMs`: the caller waits no longer than that for each part. */
  | { readonly reply: 'parts'; readonly lists: PartedLists; readonly silenceMs: number }
);

export type ServiceDescription<Service> = { readonly [Method in keyof Service]: MethodDescription };

const CALL_TIMEOUT_MS = 30_000;
/** Loads, publishes and kills write to disk before they answer. */
const LONG_CALL_TIMEOUT_MS = 600_000;

const call: MethodDescription = { reply: 'value', isShort: true, deadlineMs: (_args, nowMs) => nowMs + CALL_TIMEOUT_MS };
const longCall: MethodDescription = { reply: 'value', deadlineMs: (_args, nowMs) => nowMs + LONG_CALL_TIMEOUT_MS };
/** Lists grow with the catalogue: as long as parts of them come, the caller waits. */
const partedCall = (lists: PartedLists): MethodDescription => ({
  reply: 'parts',
  isShort: true,
  lists,
  silenceMs: CALL_TIMEOUT_MS,
  deadlineMs: (_args, nowMs) => nowMs + LONG_CALL_TIMEOUT_MS,
});
const inventoryCall = partedCall({ segmentIds: 'values', loading: 'values' });
const snapshotCall = partedCall({ segments: 'segments', copies: 'values', others: 'segments', overshadowed: 'values' });
const planDeadline = (args: readonly unknown[]): number => (args[0] as RunPlanRequest).deadlineMs;

/** A method without a row does not compile; a row is all that the HTTP transport needs of it. */
export const DESCRIPTIONS: { readonly [Role in RpcRole]: ServiceDescription<RpcServices[Role]> } = {
  historical: {
    runPlan: { reply: 'stream', deadlineMs: planDeadline },
    runNamed: { reply: 'stream', deadlineMs: planDeadline },
    analyzeSegments: { reply: 'value', deadlineMs: planDeadline },
    inventory: inventoryCall,
    inventoryAfter: inventoryCall,
    loadSegments: call,
    dropSegments: call,
    lookupReport: call,
  },
  broker: {
    lookupReport: call,
    revisionsInUse: call,
    wake: call,
    look: call,
    runForTask: { reply: 'stream', deadlineMs: (args) => (args[0] as TaskQueryRequest).deadlineMs },
  },
  coordinator: {
    snapshot: snapshotCall,
    snapshotAfter: snapshotCall,
    usedSegments: call,
    lookupsAfter: call,
    wake: call,
    cleanUp: call,
    compactionReport: call,
    simulateCompaction: call,
    wakeCompaction: call,
  },
  overlord: {
    submit: call,
    tasks: call,
    finishedDataSources: call,
    task: call,
    liveReport: call,
    visibleSegments: call,
    pinnedSegments: call,
    publish: longCall,
    submitChildren: call,
    children: call,
    childDocuments: call,
    lookAtChildren: call,
    stopChild: call,
    claimChild: call,
    taskEnded: call,
    taskReturned: call,
    shutdownTask: call,
    allocateSegment: call,
    supervisorList: call,
    checkpointStream: call,
    streamOffsetsLost: call,
    kill: longCall,
  },
  task: {
    runPlan: { reply: 'stream', deadlineMs: planDeadline },
    analyzeSegments: { reply: 'value', deadlineMs: planDeadline },
    liveAfter: call,
  },
  middleManager: {
    status: call,
    assign: call,
    shutdownTask: call,
    progress: call,
    readLog: { reply: 'stream', deadlineMs: (_args, nowMs) => nowMs + LONG_CALL_TIMEOUT_MS },
    chat: call,
  },
};
