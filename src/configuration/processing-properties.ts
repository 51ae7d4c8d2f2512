// Rows of the table of properties that are about processing queries.

import { resolve } from 'node:path';
import {
  BANK_BYTES_MAX,
  bytes,
  choice,
  DAY_MS,
  flag,
  GIBIBYTE,
  integer,
  limits,
  MEBIBYTE,
  milliseconds,
  optional,
  path,
  type Resources,
  refused,
  text,
  texts,
  wholeMebibytes,
} from './property.js';

const KERNEL_PART = 2 / 3;

/** Shares of `svc.memory.bytes` (docs/decisions/0012). */
const ofBudget = (part: number, most: number) => (resources: Resources) => wholeMebibytes(Math.min(resources.budgetBytes * part, most));

export const PROCESSING_PROPERTIES = {
  'svc.processing.numThreads': integer(
    { min: 0, max: 1024 },
    (machine) => String(machine.cores),
    'Processing threads; 0 runs queries on the event loop.',
  ),
  'svc.processing.kernels': text('simd', 'Kernel set: simd, scalar, reference, or the path of a module with the same exports (--kernels).'),
  'svc.processing.memoryBytes': bytes(
    { min: 16 * MEBIBYTE, max: BANK_BYTES_MAX },
    ofBudget(KERNEL_PART, BANK_BYTES_MAX),
    'Kernel memory: resident columns and the working memory of queries.',
  ),
  'svc.processing.columnCacheBytes': bytes(
    { min: MEBIBYTE, max: BANK_BYTES_MAX },
    ofBudget(KERNEL_PART * 0.75, 0.75 * BANK_BYTES_MAX),
    'Part of the kernel memory that columns may keep while no query uses them; they give way when queries need it.',
  ),
  'svc.query.maxMemoryBytes': bytes(
    { min: MEBIBYTE, max: BANK_BYTES_MAX },
    ofBudget(KERNEL_PART * 0.5, 0.5 * BANK_BYTES_MAX),
    'Kernel memory that one query may hold at once, beside the columns that it reads: groups, scratch, rows placed to be merged.',
  ),
  'svc.query.maxHeldBytes': bytes(
    { min: 1, max: 2 ** 52 },
    ofBudget(1 / 8, 2 ** 48),
    'Heap that the partial results of one query may take on the Broker before they are merged.',
  ),
  'svc.sql.avatica.enable': flag('true', 'Whether the Broker answers JDBC clients at /svc/v2/sql/avatica/.'),
  'svc.sql.avatica.maxConnections': integer({ min: 1, max: 100_000 }, '25', 'JDBC connections that may be open on a Broker.'),
  'svc.sql.avatica.maxStatementsPerConnection': integer(
    { min: 1, max: 10_000 },
    '4',
    'Statements that may be open in one JDBC connection.',
  ),
  'svc.sql.avatica.maxRowsPerFrame': integer(
    { min: -1, max: 10_000_000 },
    '5000',
    'Rows that a JDBC client gets at once, whatever fetch size it asks for; -1 is any number.',
  ),
  'svc.sql.avatica.minRowsPerFrame': integer(
    { min: 1, max: 10_000_000 },
    '100',
    'A smaller fetch size of a JDBC client is raised to it; svc.sql.avatica.maxRowsPerFrame goes first.',
  ),
  'svc.sql.avatica.connectionIdleTimeout': milliseconds(
    { min: 1, max: DAY_MS },
    'PT5M',
    'A JDBC connection that nobody used for so long is closed, with its statements.',
  ),
  'svc.sql.avatica.fetchTimeoutMs': milliseconds(
    { min: 1, max: DAY_MS },
    '5000',
    'A fetch that takes longer gives the rows there are, possibly none, and the JDBC client asks again.',
  ),
  'svc.query.exactSums': flag(
    'false',
    'Whether sums and means of doubles are exact, the same to the last bit for any layout of segments; slower. The context key exactSums says it of a query.',
  ),
  'svc.query.groupBy.maxMemoryBytes': bytes(
    { min: MEBIBYTE, max: BANK_BYTES_MAX },
    ofBudget(KERNEL_PART * 0.25, 0.25 * BANK_BYTES_MAX),
    'Kernel memory that the groups of one query may take, over all processing threads; beyond it they go to disk.',
  ),
  'svc.query.groupBy.maxOnDiskStorage': bytes(
    { min: 0, max: Number.MAX_SAFE_INTEGER },
    '100GiB',
    'Disk space that the groups of one query may take on a server; 0: none. The context key maxOnDiskStorage asks for less.',
  ),
  'svc.query.groupBy.spillDirectory': path(
    'spill',
    'Where groups of running queries go; what a process that died has left there is removed when the next one starts.',
    resolve,
  ),
  'svc.query.scheduler.numThreads': optional(
    integer({ min: 1, max: 2 ** 31 - 1 }, '', 'Queries that a Broker runs at a time; more are answered with 429.'),
  ),
  'svc.query.scheduler.laning.strategy': choice(
    ['none', 'hilo', 'manual'],
    'none',
    'How queries are divided into lanes: hilo by priority (below 0 is low), manual by the lane of their context.',
  ),
  'svc.query.scheduler.laning.maxLowPercent': optional(
    integer({ min: 1, max: 100 }, '', 'hilo: part of numThreads that queries of low priority may take.'),
  ),
  'svc.query.scheduler.laning.lanes': limits('manual: queries that run at a time in each lane.'),
  'svc.query.scheduler.laning.isLimitPercent': flag('false', 'manual: whether these limits are percents of numThreads.'),
  'svc.query.scheduler.prioritization.strategy': choice(
    ['manual', 'threshold'],
    'manual',
    'Where priorities come from: the context alone, or lowered for queries that pass a threshold.',
  ),
  'svc.query.scheduler.prioritization.periodThreshold': optional(
    milliseconds({ min: 0, max: 36500 * DAY_MS }, '', 'threshold: age of the oldest instant that a query reads.'),
  ),
  'svc.query.scheduler.prioritization.durationThreshold': optional(
    milliseconds({ min: 0, max: 36500 * DAY_MS }, '', 'threshold: length of the intervals of a query.'),
  ),
  'svc.query.scheduler.prioritization.segmentCountThreshold': optional(
    integer({ min: 0, max: 2 ** 31 - 1 }, '', 'threshold: segments that a query reads.'),
  ),
  'svc.query.scheduler.prioritization.segmentRangeThreshold': optional(
    milliseconds({ min: 0, max: 36500 * DAY_MS }, '', 'threshold: length of the segments that a query reads.'),
  ),
  'svc.query.scheduler.prioritization.adjustment': integer(
    { min: 0, max: 1_000_000 },
    '5',
    'threshold: what is subtracted from the priority.',
  ),
  'svc.cache.sizeInBytes': bytes(
    { min: 0, max: 2 ** 40 },
    ofBudget(1 / 16, GIBIBYTE / 2),
    'Heap that cached results may take: those of single segments on the Historical, whole ones on the Broker.',
  ),
  'svc.historical.cache.useCache': flag('false', 'Whether the Historical looks for results of single segments in the cache.'),
  'svc.historical.cache.populateCache': flag('false', 'Whether the Historical puts results of single segments in the cache.'),
  'svc.request.logging.type': choice(
    ['noop', 'file', 'slf4j', 'filtered', 'composing', 'switching'],
    'noop',
    'Log of queries, with their text and user: none, files, the log of the process (slf4j), what passes the thresholds below, several, or one for each language.',
  ),
  'svc.request.logging.delegate.type': choice(['noop', 'file', 'slf4j'], 'file', 'filtered: where the lines go.'),
  'svc.request.logging.loggerProviders': text('[]', 'composing: JSON array of loggers, such as [{"type":"file"},{"type":"slf4j"}].'),
  'svc.request.logging.nativeQueryLogger': text('{"type":"noop"}', 'switching: logger of native queries, such as {"type":"file"}.'),
  'svc.request.logging.sqlQueryLogger': text('{"type":"noop"}', 'switching: logger of statements.'),
  'svc.request.logging.feed': refused('lines are emitted to no service; write them to files (svc.request.logging.type=file)'),
  'svc.request.logging.setMDC': refused('the log of the process is JSON: the fields stand in each line'),
  'svc.request.logging.setContextMDC': refused('the log of the process is JSON: the context stands in each line'),
  'svc.request.logging.rollPeriod': refused('a file is as long as its name by svc.request.logging.filePattern'),
  'svc.request.logging.dir': path('log/requests', 'Directory of the files.', resolve),
  'svc.request.logging.filePattern': text("yyyy-MM-dd'.log'", 'Name of a file, as a Joda pattern of the time: a new name is a new file.'),
  'svc.request.logging.durationToRetain': optional(
    milliseconds({ min: 3_600_000, max: 3650 * DAY_MS }, '', 'Files of times before this long ago are removed; nothing: none.'),
  ),
  'svc.request.logging.queryTimeThresholdMs': integer({ min: 0, max: DAY_MS }, '0', 'filtered: shorter native queries are left out.'),
  'svc.request.logging.sqlQueryTimeThresholdMs': integer({ min: 0, max: DAY_MS }, '0', 'filtered: shorter SQL queries are left out.'),
  'svc.request.logging.mutedQueryTypes': texts('[]', 'filtered: types of native queries that are left out.'),
  'svc.broker.cache.useResultLevelCache': flag('false', 'Whether the Broker looks for whole results in the cache.'),
  'svc.broker.cache.populateResultLevelCache': flag('false', 'Whether the Broker puts whole results in the cache.'),
  'svc.query.profile.kept': integer({ min: 0, max: 1_000_000 }, '500', 'Queries of which the Broker keeps the profile, the last ones.'),
  'svc.processing.practiceQueries': integer(
    { min: 0, max: 100_000 },
    '400',
    'Queries over rows of its own that a Broker or Historical runs while nobody asks, so that first queries are as fast as later ones; 0: none.',
  ),
  'svc.query.scan.maxRowsQueuedForOrdering': integer(
    { min: 1, max: 1_000_000_000 },
    '20000000',
    'Rows of a scan that one query may hold to order them by a column other than the time.',
  ),
};
