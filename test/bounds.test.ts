import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

// Reads src and finds constants that bound what a cache keeps or a queue holds: such a bound is a property, which whoever
// runs the server can set, or stands here with the reason why nobody needs to.

/** Reasons for bounds that are not properties, by file and name of the constant. */
const CONSTANTS: Readonly<Record<string, string>> = {
  'base/sent-once.ts REMEMBERED_MAX': 'references to data that is kept elsewhere, a few bytes each',
  'cli/practice/practised-cluster.ts CACHE_BYTES': 'columns of three small segments, until practice ends',
  'cli/practice/practised-cluster.ts PLANS_BYTES_MAX': 'plans of a few hundred queries, until practice ends',
  'cli/practice/practised-cluster.ts RUNS_AT_A_TIME': 'one is run after the other',
  'cluster/access/login-throttle.ts BUCKETS_MAX': 'counters of failed logins, a few bytes each; the ones used least recently give way',
  'cluster/broker/missing.ts INTERVALS_LISTED_MAX': 'names in one message, which counts all',
  'cluster/broker/result-cache.ts INTERVALS_KEPT': 'digests of one view, which go with the view',
  'cluster/broker/retries/read-times.ts KINDS_KEPT': 'two numbers each; the ones used least recently give way',
  'cluster/broker/scatter.ts INTERVALS_KEPT': 'lists of segments of one view, which go with the view',
  'cluster/sources/source-plans.ts KEPT_BYTES_MAX': 'joined rows of one query, in its memory; others are made anew for each plan',
  'cluster/change-log.ts REMEMBERED': 'names of what is in memory anyway; who missed more is told everything',
  'cluster/coordinator/assignment.ts LOADS_AHEAD': 'of one server: more are asked for as it loads them',
  'cluster/historical/local-segments.ts BYTES_AHEAD': 'of files that are read ahead at the start alone',
  'cluster/historical/local-segments.ts FILES_AHEAD': 'of files that are read ahead at the start alone',
  'cluster/historical/run-gate.ts CROWD_MAX': 'a ratio to the slots, which follow svc.processing.numThreads',
  'cluster/broker/scatter.ts CHUNKS_LISTED_MAX': 'length of a key: of more chunks the intervals are the key',
  'cluster/overlord/task-look.ts FINISHED_LISTED_MAX': 'rows of one answer; clients ask for fewer with max',
  'cluster/overlord/supervisor/supervisor-state.ts ERRORS_KEPT':
    'messages of one supervisor that its status lists; each is in the log as well',
  'execution/aggregate-state/referred-column.ts REMEMBERED_MAX': 'slots of one loop over the groups of a result, of 32 KiB',
  'execution/aggregate-state/sketch/stored-hashes.ts WAITING_BLOCKS_MAX': 'blocks of one segment, counted in the memory of the query',
  'base/pattern/pattern-automaton.ts KEPT_BYTES_MAX': 'automata of patterns, which are made anew otherwise',
  'execution/expression/time/function.ts COMPUTED_BYTES_MAX': 'values of functions of time by bucket, which are computed anew otherwise',
  'execution/expression/remembered-results.ts BYTES_MAX': 'within one query, whose memory svc.query.maxMemoryBytes bounds',
  'execution/group/bound-segment.ts CACHED_GROUPS': 'groups of one segment, in the memory of the query',
  'execution/group/few-rows.ts WAITING_BYTES': 'columns of rows of one segment, in the memory of the query',
  'execution/group/few-rows.ts WAITING_MAX': 'numbers of rows of one segment, in the memory of the query',
  'execution/join/stage-run.ts WAITING_ROWS': 'row numbers of one stretch, in the memory of the query',
  'execution/post/parts.ts HELD_ROWS_MAX': 'rows between two steps of work; they are counted in the memory of the query',
  'execution/post/stream.ts HELD_ROWS': 'rows between two steps of work; they are counted in the memory of the query',
  'execution/post/sort.ts TEXTS_HELD_MAX': 'of one sort of a result that is in memory; more are decoded as they are compared',
  'execution/scan/text-numbers.ts TEXTS_HELD_MAX': 'of one column of one query; others are decoded again',
  'execution/run/build-store.ts ROWS_AHEAD': 'of one query, before it is decided where it runs',
  'execution/run/run-controls.ts DEFAULT_HELD_ROWS': 'default of svc.query.scan.maxRowsQueuedForOrdering, where there is no configuration',
  'execution/run/row-feed.ts FRAMES_AHEAD': 'frames of one query that are under way to a thread',
  'expression/functions/time.ts COMPILED_KEPT': 'compiled calls of one expression, a few hundred bytes each',
  'ingestion/column/byte-dictionary.ts CACHED_LENGTH_MAX': 'of a text; svc.indexer.task.maxBytesInMemory bounds the task',
  'ingestion/column/byte-dictionary.ts TEXT_CACHE_MAX': 'svc.indexer.task.maxBytesInMemory bounds the task',
  'ingestion/builder/partitions.ts KEYS_KEPT': 'keys of one time chunk of a task: ten megabytes, beside its rows',
  'ingestion/source/local.ts CHUNKS_AHEAD': 'of one file that is read, a megabyte each',
  'ingestion/sql/stages/source-rows.ts HELD_BYTES_MAX': 'of one side of a join, before its rows go to a file of their part',
  'ingestion/stream/kafka/fetches.ts AHEAD_BYTES_ALL': 'of all partitions of one streaming task, 64 MiB',
  'ingestion/stream/kafka/fetches.ts AHEAD_BYTES': 'of one partition: messages that a streaming task has not taken yet',
  'ingestion/stream/live/live-rows.ts WAITING_BYTES_MAX': 'rows of one part; tuningConfig.maxBytesInMemory bounds the task',
  'ingestion/stream/live/live-rows.ts WAITING_MS': 'time until rows without a reader become a part of their segment',
  'ingestion/stream/live/live-rows.ts WAITING_ROWS_MAX': 'rows of one part; tuningConfig.maxBytesInMemory bounds the task',
  'cluster/lookups/named-lookups.ts LACKING_COUNT':
    'states of lookups that servers lack, by both: a hundred bytes each; others are asked about again',
  'metadata/leadership.ts AHEAD_MS_MAX': 'milliseconds of a clock that stepped back; nothing is kept',
  'metadata/faults.ts FAULTS_MAX': 'documents set aside that are listed for a person; each is in the log as well',
  'metadata/shared-parts.ts SHARED_PARTS_KEPT': 'parts of descriptors that are in memory anyway; those beyond are not shared',
  'metadata/shared-parts.ts ENDS_KEPT': 'intervals of descriptors that are in memory anyway; those beyond are not shared',
  'model/segment-id.ts PRINTED_INSTANTS_KEPT': 'instants as texts; those beyond are printed again',
  'model/access/basic-authorizer.ts DECISIONS_KEPT_MAX': 'of one revision of users and roles, a few bytes each; others are found anew',
  'planner/sql/bind/bind-set.ts HELD_BYTES_MAX':
    'rows of a set operation, as they are estimated, that are found by their keys in memory; more are grouped, which may go to disk',
  'planner/sql/relation/rules/swap-join-sides.ts HELD_BYTES_MAX':
    'an estimate that chooses a plan; context.maxSubqueryBytes bounds what is held',
  'ingestion/stream/kinesis/kinesis-reader.ts BYTES_AHEAD': 'of one reader: beyond what keeps a task at work they would only wait',
  'server/tracing/otlp-tracer.ts WAITING_MAX':
    'spans that a collector has not taken yet, some hundred bytes each; further ones are left out',
  'server/avatica/logins.ts KNOWN_MAX': 'users of connections by id; a connection beyond them is opened again by its driver',
  'server/dispatch.ts REMEMBERED_LENGTH_MAX': 'longer paths are searched anew: 128 KiB are remembered at most',
  'server/dispatch.ts REMEMBERED_PATHS_MAX': 'others are searched anew: 128 KiB are remembered at most',
  'server/queries/sql-body.ts CONTEXTS_MAX': 'contexts of at most a thousand characters, read',
  'server/queries/sql-body.ts KEPT_BODY_BYTES_MAX': 'of one body; svc.broker.requests.maxBytes bounds all',
  'server/results/native/by-segment.ts LENGTH_AHEAD': 'characters of one result, beside the eight that are made',
  'server/results/native/by-segment.ts SEGMENTS_AHEAD': 'of one query: beyond what keeps servers at work they would only wait',
  'server/routes/submissions.ts SUBMISSIONS_LISTED_MAX': 'rows of one answer; clients ask for fewer with count',
  'storage/combined/combined-segment.ts ASKED_COUNT': 'names of runs that were read, a hundred bytes each',
  'storage/pin-cache.ts KEPT_COUNT': 'pins that let go as soon as svc.processing.columnCacheBytes are needed',
  'storage/s3/s3-client.ts PARTS_AT_A_TIME': 'of one file, svc.storage.transfer.minimumUploadPartSize bytes each',
  'storage/s3/s3-deep-storage.ts FILES_AT_A_TIME': 'of one push; svc.s3.maxConnections bounds what goes out at once',
  'storage/segment-pin.ts LOADS_AT_A_TIME': 'of one query: beyond what keeps all threads at work they would only wait',
};

const SRC = fileURLToPath(new URL('../../src', import.meta.url));
/** Words by which constants are called that bound what is kept or waits. */
const BOUND =
  /^(?:export )?const ([A-Z_]*(?:REMEMBERED|KEPT|HELD|QUEUE|WAITING|CACHE|AT_A_TIME|PLANS|BODIES|(?<!DE)FAULTS|CROWD|LISTED|AHEAD)[A-Z_]*) = (?:[\d{]|1 <<)/gm;
/** Constants that are handed to a cache, and such as are called a bound of bytes in a file that remembers. */
const OF_CACHE = /new \w*Cache(?:<[^(]*>)?\(\s*([A-Z_]{3,})/g;
const NO_BOUND = new Set(['WAITING_MIN', 'LISTED_COSTS', 'LISTED_MAX', 'LISTED_LENGTH', 'LISTED_PART', 'NOT_LISTED', 'UNCACHED']);

const bounds = suite('bounds of caches and queues');

const found = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .flatMap((name) => {
    const text = readFileSync(join(SRC, name), 'utf8');
    const remembered = /remembered/.test(name) ? /^const (BYTES_MAX) =/gm : [];
    return [BOUND, OF_CACHE, ...[remembered].flat()]
      .flatMap((pattern) => [...text.matchAll(pattern)].map(([, constant = '']) => constant))
      .filter((constant) => !NO_BOUND.has(constant))
      .map((constant) => `${name.replaceAll('\\', '/')} ${constant}`);
  });

bounds('each is a property, or stands in the list with a reason', () => {
  assert.equal(
    [...new Set(found)].filter((each) => !Object.hasOwn(CONSTANTS, each)),
    [],
  );
});

bounds('the list names no constant that is gone', () => {
  assert.equal(
    Object.keys(CONSTANTS).filter((each) => !found.includes(each)),
    [],
  );
});

bounds.run();
