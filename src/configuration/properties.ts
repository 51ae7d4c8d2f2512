// Table of all properties: meaning, type and default of each.

import { resolve } from 'node:path';
import { METADATA_PROPERTIES } from './metadata-properties.js';
import { PROCESSING_PROPERTIES } from './processing-properties.js';
import {
  addressRanges,
  BANK_BYTES_MAX,
  bytes,
  choice,
  choices,
  DAY_MS,
  flag,
  formed,
  GIBIBYTE,
  hosts,
  integer,
  type Machine,
  MEBIBYTE,
  milliseconds,
  optional,
  type Property,
  path,
  paths,
  period,
  text,
  texts,
  wholeMebibytes,
} from './property.js';
import { RETENTION_PROPERTIES } from './retention-properties.js';
import { SECURITY_PROPERTIES } from './security-properties.js';
import { STORAGE_PROPERTIES } from './storage-properties.js';

export const ROLES = ['router', 'broker', 'historical', 'coordinator', 'overlord', 'middleManager'] as const;
export type Role = (typeof ROLES)[number];

const PORT = { min: 1, max: 65535 };

const ofMachine = (part: number, most: number) => (machine: Machine) => wholeMebibytes(Math.min(machine.memoryBytes * part, most));

/**
 * Every property there is: what it means, what it accepts, its default. A property is written in a
 * `runtime.properties` file, in the environment (`svc_processing_numThreads`) or as `--property name=value`; a later
 * one of these wins. A new property is one row here, one about queries in `processing-properties.ts`, about who may call in `security-properties.ts`; `configuration.get` knows its type from it.
 */
export const PROPERTIES = {
  // ── the process ────────────────────────────────────────────────────────────────────────────────────────────────
  'svc.host': text('127.0.0.1', 'Address to listen on, and under which other roles reach this process.'),
  'svc.roles': texts(JSON.stringify(ROLES), 'Roles that this process plays (--roles).'),
  'svc.portOffset': integer({ min: 0, max: 60000 }, '0', 'Added to every port (--port-offset).'),
  'svc.data.directory': path('data', 'Data directory, relative to the working directory (--data-dir).', resolve),
  'svc.memory.bytes': bytes(
    { min: 64 * MEBIBYTE, max: 2 ** 48 },
    ofMachine(0.75, 2 ** 48),
    'Memory budget of the process; whatever below is derived from it can also be set by itself.',
  ),
  'svc.log.level': choice(['trace', 'debug', 'info', 'warn', 'error'], 'info', 'Least serious log lines that are written.'),
  'svc.log.file': path('log/dolmen.log', 'File that log lines are appended to.', resolve),
  'svc.log.maxBytes': bytes({ min: 4096, max: 2 ** 40 }, '64MiB', 'Size at which the log file is put aside as <file>.1.'),
  'svc.log.maxFiles': integer({ min: 1, max: 1000 }, '5', 'Log files that are kept, the one being written among them.'),

  'svc.emitter.prometheus.namespace': formed(
    /^[a-zA-Z_:][a-zA-Z0-9_:]*$/,
    'a name of letters, digits, _ and :',
    'druid',
    'Word that names of metrics at /metrics begin with.',
  ),
  'svc.emitter.opentelemetry.endpoint': formed(
    /^(https?:\/\/\S+)?$/,
    'an address such as http://collector:4318/v1/traces',
    '',
    'Address that spans of queries are sent to: OTLP over HTTP, as JSON; empty: nowhere.',
  ),

  // ── ports ──────────────────────────────────────────────────────────────────────────────────────────────────────
  'svc.router.port': integer(PORT, '8888', 'Port of the Router.'),
  'svc.coordinator.port': integer(PORT, '8081', 'Port of the Coordinator.'),
  'svc.overlord.port': integer(PORT, '8081', 'Port of the Overlord; in one process the two may share it.'),
  'svc.broker.port': integer(PORT, '8082', 'Port of the Broker.'),
  'svc.historical.port': integer(PORT, '8083', 'Port of the Historical.'),
  'svc.middleManager.port': integer(PORT, '8091', 'Port of the MiddleManager.'),

  // ── HTTP ───────────────────────────────────────────────────────────────────────────────────────────────────────
  'svc.server.http.maxRequestBytes': bytes(
    { min: 1024, max: GIBIBYTE },
    '64MiB',
    'Largest request body; a larger one is answered with 413.',
  ),
  'svc.server.http.maxRequestBytesInFlight': bytes(
    { min: 1024, max: 2 ** 48 },
    '256MiB',
    'Most that the bodies of all requests in flight hold, unpacked ones counted as well; a request beyond it is answered with 429.',
  ),
  'svc.server.http.allowedHosts': texts(
    '[]',
    'Names in Host and Origin headers that requests may carry beside the own one: of a reverse proxy, of a web page that writes.',
  ),
  'svc.server.http.compressionLevel': integer(
    { min: 0, max: 9 },
    '1',
    'How hard answers are packed for clients that accept gzip, deflate or zstd; 0: never.',
  ),
  'svc.server.http.apiName': text('svc', 'Second word under which paths (/word/v2/...) and X-Word-* headers answer too.'),
  'svc.server.http.apiVersion': text('37.0.0', 'Version that /status tells under another apiName than svc: that of the interface.'),
  'svc.server.http.defaultQueryTimeout': milliseconds(
    { min: 1, max: DAY_MS },
    'PT5M',
    'Time a query may take when its context has no timeout.',
  ),
  'svc.server.http.maxQueryTimeout': milliseconds({ min: 1, max: DAY_MS }, 'P1D', 'Longest timeout that a query may ask for.'),
  'svc.server.http.maxScatterGatherBytes': optional(
    bytes({ min: 1, max: 2 ** 52 }, '', 'Bytes that a Broker gathers from Historicals for one query.'),
  ),
  'svc.server.http.gracefulShutdownTimeout': milliseconds(
    { min: 0, max: DAY_MS },
    'PT30S',
    'Time that running requests have to end after SIGTERM.',
  ),
  'svc.server.http.maxIdleTime': milliseconds(
    { min: 1000, max: DAY_MS },
    'PT5M',
    'Time a client may stop reading a response before its connection is closed.',
  ),
  'svc.server.eventLoop.lateTime': milliseconds(
    { min: 0, max: DAY_MS },
    '200',
    'Time that work may keep all requests waiting before a log line names it; 0: nobody looks.',
  ),
  'svc.server.hiddenProperties': texts(
    '["password","secret","key","token","pwd"]',
    'Fragments of names of properties that /status/properties leaves out; letter case does not matter.',
  ),

  ...PROCESSING_PROPERTIES,
  ...RETENTION_PROPERTIES,
  ...SECURITY_PROPERTIES,
  ...STORAGE_PROPERTIES,

  // ── segments and metadata ───────────────────────────────────────────────────────────────────────────────────────
  'svc.segmentCache.directory': path('segment-cache', 'Local copies of the segments that the Historical serves.', resolve),
  'svc.segmentCache.numLoadingThreads': integer({ min: 1, max: 1024 }, '4', 'Segments that a Historical fetches at a time.'),
  'svc.segmentCache.maxOpenFiles': integer(
    { min: 1, max: 1_000_000 },
    '256',
    'Segment files that a Historical has open at a time; others are opened again when they are read.',
  ),
  ...METADATA_PROPERTIES,
  'svc.lookup.maxBytes': bytes({ min: 1024, max: 2 ** 31 }, '1GiB', 'Keys and values of one lookup together.'),
  'svc.access.jdbc.allowedHosts': hosts(
    '[]',
    'Hosts that jdbc lookups and sql input sources may connect to; *.example.com stands for every name below it. Empty: every host.',
  ),
  'svc.lookup.lookupTier': text('__default', 'Tier of lookups that a Broker or a Historical loads.'),
  'svc.server.tier': text('_default_tier', 'Tier of the Historical.'),
  'svc.server.priority': integer({ min: -1000, max: 1000 }, '0', 'Priority of the Historical among those that serve a segment.'),
  'svc.server.maxSize': bytes({ min: 0, max: 2 ** 52 }, '300GiB', 'Bytes of segments that the Historical takes.'),

  // ── coordination and tasks ─────────────────────────────────────────────────────────────────────────────────────
  'svc.coordinator.period': milliseconds(
    { min: 10, max: DAY_MS },
    'PT1S',
    'Time between two looks of the Coordinator at metadata and servers.',
  ),
  'svc.coordinator.period.indexingPeriod': milliseconds(
    { min: 100, max: DAY_MS },
    'PT1M',
    'Time between two searches for intervals to compact and for segments to remove.',
  ),
  'svc.coordinator.kill.orphanAge': milliseconds(
    { min: 0, max: 365 * DAY_MS },
    'PT1H',
    'Age from which a file in deep storage that no segment and no known task accounts for is removed, once a person confirmed the metadata store.',
  ),
  'svc.coordinator.kill.orphanPeriod': milliseconds({ min: 100, max: DAY_MS }, 'PT1M', 'Time between two searches for such files.'),
  'svc.coordinator.kill.on': flag('false', 'Whether the Coordinator submits kill tasks, which remove unused segments for good.'),
  'svc.coordinator.kill.period': milliseconds({ min: 100, max: DAY_MS }, 'PT1M', 'Time between two searches for segments to remove.'),
  'svc.coordinator.kill.durationToRetain': period(
    'P90D',
    'Segments whose intervals end later than so long before now are kept; negative: later than so long after now.',
  ),
  'svc.coordinator.kill.ignoreDurationToRetain': flag('false', 'Whether segments are removed however late their intervals end.'),
  'svc.coordinator.kill.bufferPeriod': period('P30D', 'Time for which a segment must have been unused before it is removed.'),
  'svc.coordinator.kill.maxSegments': integer({ min: 1, max: 1_000_000 }, '100', 'Segments that one such kill task removes.'),
  'svc.coordinator.kill.maxInterval': period('P30D', 'Longest interval of one such kill task; PT0S: any.'),
  'svc.coordinator.load.retry': milliseconds(
    { min: 0, max: DAY_MS },
    'PT30S',
    'Time before a Historical is asked again for a segment it failed to load.',
  ),
  'svc.historical.queue.maxSize': integer(
    { min: 1, max: 1_000_000 },
    '10000',
    'Runs over many rows that wait on a Historical for their turn; more are answered with 429.',
  ),
  'svc.historical.dropDelay': milliseconds(
    { min: 0, max: DAY_MS },
    'PT5S',
    'Time for which a dropped segment still answers queries under way.',
  ),
  'svc.broker.period': milliseconds(
    { min: 10, max: DAY_MS },
    'PT0.5S',
    'Time between two looks of the Broker at the Coordinator and the Historicals, and of a Historical at the configured lookups.',
  ),
  'svc.broker.plans.maxBytes': bytes(
    { min: 0, max: 2 ** 40 },
    '32MiB',
    'Heap that plans of statements take which are kept to be used again.',
  ),
  'svc.broker.requests.maxBytes': bytes(
    { min: 0, max: 2 ** 40 },
    '8MiB',
    'Heap that bodies of SQL requests take which are kept, as they were read, to be known again.',
  ),
  'svc.broker.planning.maxQueued': integer(
    { min: 1, max: 1_000_000 },
    '200',
    'Long statements, queries and bodies, and specs of tasks, that wait to be read and planned; more are answered with 429.',
  ),
  'svc.broker.retryPolicy.numTries': integer(
    { min: 0, max: 100 },
    '1',
    'How often segments are asked for again, of other Historicals, when theirs is gone or has lost them.',
  ),
  'svc.coordination.heartbeat': milliseconds({ min: 10, max: DAY_MS }, 'PT1S', 'Time between two signs of life of a process.'),
  'svc.coordination.expiry': milliseconds({ min: 100, max: DAY_MS }, 'PT5S', 'Silence after which a process, or a leader, counts as gone.'),
  'svc.coordination.leaderExpiry': milliseconds(
    { min: 100, max: DAY_MS },
    '1500',
    'Silence after which a leader that is connected to PostgreSQL may be replaced; one that is not is at once.',
  ),
  'svc.coordination.stallLimit': milliseconds(
    { min: 100, max: DAY_MS },
    'PT2M',
    'Time that a process whose event loop is blocked still counts as alive, in a cluster.',
  ),
  'svc.audit.manager.auditHistoryMillis': milliseconds(
    { min: 0, max: 3650 * DAY_MS },
    'P7D',
    'How far back histories reach when no interval is given.',
  ),
  'svc.indexer.auditLog.enabled': flag('false', 'Whether a task lists the segments it published.'),
  'svc.indexer.task.directory': path('tasks', 'Working directories of tasks; emptied when a task ends.', resolve),
  'svc.indexer.logs.maxBytes': bytes({ min: 1024, max: 2 ** 40 }, '64MiB', 'Largest log of a task; what it says beyond is left out.'),
  'svc.indexer.task.maxBytesInMemory': bytes(
    { min: MEBIBYTE, max: BANK_BYTES_MAX },
    ofMachine(1 / 6, GIBIBYTE),
    'Memory of a task for rows that are not yet in a segment.',
  ),
  'svc.indexer.task.maxHeapBytes': bytes(
    { min: 64 * MEBIBYTE, max: 2 ** 40 },
    ofMachine(1 / 4, 2 * GIBIBYTE),
    'JavaScript heap of the process of a task, rows and kernels apart; the process ends beyond it, and the task fails.',
  ),
  'svc.indexer.task.maxKernelBytes': bytes(
    { min: 16 * MEBIBYTE, max: BANK_BYTES_MAX },
    ofMachine(1 / 2, BANK_BYTES_MAX),
    'Kernel memory of a task: for rollup, transforms and filters, and the segments that compaction reads.',
  ),
  'svc.indexer.task.ignoreTimestampSpecForDruidInputSource': flag(
    'false',
    'Whether rows of a druid input source keep their __time, whatever the timestampSpec of the task says.',
  ),
  'svc.indexer.task.publishTimeout': milliseconds(
    { min: 0, max: DAY_MS },
    'PT10M',
    'Time that a finished task waits for an Overlord that publishes it, while none leads.',
  ),
  'svc.indexer.queue.maxSize': integer(
    { min: 1, max: 10_000_000 },
    '100000',
    'Unfinished tasks that the Overlord holds; more are answered with 429.',
  ),
  'svc.indexer.runner.taskAssignmentTries': integer(
    { min: 1, max: 1000 },
    '3',
    'How often a task is given to a worker that cannot start it before the task fails.',
  ),
  'svc.indexer.runner.taskAssignmentTimeout': milliseconds(
    { min: 0, max: DAY_MS },
    'PT5M',
    'Time for which a task is given to workers that do not answer before the task fails.',
  ),
  'svc.indexer.runner.taskLossesMax': integer(
    { min: 1, max: 1000 },
    '3',
    'Workers that a task may lose before it fails; until then it is run again from its beginning.',
  ),
  'svc.worker.capacity': integer(
    { min: 1, max: 1024 },
    (machine) => String(Math.max(1, machine.cores - 1)),
    'Tasks that the MiddleManager runs at a time.',
  ),
  'svc.worker.category': text(
    '_default_worker_category',
    'Category of the MiddleManager, for strategies of the Overlord that choose by it.',
  ),
  'svc.ingestion.http.maxBytes': bytes({ min: 1024, max: 2 ** 45 }, '10GiB', 'Largest body that an http input source may send.'),
  'svc.ingestion.http.allowedProtocols': choices(
    ['http', 'https'],
    '["http","https"]',
    'Protocols of the URLs that an http input source may read.',
  ),
  'svc.ingestion.http.allowedHosts': hosts(
    '[]',
    'Hosts that an http input source may read, redirects included; *.example.com stands for every name below it. Empty: every host.',
  ),
  'svc.ingestion.http.allowedAddresses': addressRanges(
    '[]',
    'Addresses and ranges that an http input source may connect to beside public ones: loopback, private networks, this machine.',
  ),
  'svc.ingestion.http.allowedHeaders': texts('[]', 'Headers that an http input source may send (requestHeaders).'),
  'svc.ingestion.passwordVariables': texts(
    '[]',
    'Variables of the environment that passwords of input sources and lookups may come from ({"type": "environment"}).',
  ),
  'svc.ingestion.maxColumns': integer({ min: 1, max: 1_000_000 }, '20000', 'Columns that one load of rows may have; more are refused.'),
  'svc.ingestion.maxRowBytes': bytes({ min: 1024, max: 2 ** 29 }, '64MiB', 'Longest row of a text format that a load may have.'),
  'svc.ingestion.decompression.maxBytes': bytes(
    { min: 1024, max: 2 ** 50 },
    '1TiB',
    'Largest content of a compressed input file, or of all entries of a zip archive.',
  ),
  'svc.ingestion.decompression.maxRatio': integer(
    { min: 1, max: 1_000_000 },
    '1000',
    'How many times as large as it is stored compressed input may become, if that is more than 1 GiB.',
  ),
  'svc.ingestion.decompression.maxEntries': integer({ min: 1, max: 1_000_000 }, '10000', 'Entries that a zip archive of input may have.'),
  'svc.ingestion.local.allowedDirectories': paths('["input"]', 'Directories below which a local input source may read.', resolve),
} satisfies Readonly<Record<string, Property<unknown>>>;

export type PropertyName = keyof typeof PROPERTIES;
export type PropertyValue<Name extends PropertyName> = (typeof PROPERTIES)[Name] extends Property<infer Value> ? Value : never;

export function isPropertyName(name: string): name is PropertyName {
  return Object.hasOwn(PROPERTIES, name);
}

const PORT_PROPERTIES: Readonly<Record<Role, PropertyName & `svc.${Role}.port`>> = {
  router: 'svc.router.port',
  broker: 'svc.broker.port',
  historical: 'svc.historical.port',
  coordinator: 'svc.coordinator.port',
  overlord: 'svc.overlord.port',
  middleManager: 'svc.middleManager.port',
};

export function portProperty(role: Role): PropertyName & `svc.${Role}.port` {
  return PORT_PROPERTIES[role];
}

const TLS_PORT_PROPERTIES: Readonly<Record<Role, PropertyName & `${string}.tlsPort`>> = {
  router: 'svc.router.tlsPort',
  broker: 'svc.broker.tlsPort',
  historical: 'svc.historical.tlsPort',
  coordinator: 'svc.coordinator.tlsPort',
  overlord: 'svc.overlord.tlsPort',
  middleManager: 'svc.middleManager.tlsPort',
};

export function tlsPortProperty(role: Role): PropertyName & `${string}.tlsPort` {
  return TLS_PORT_PROPERTIES[role];
}
