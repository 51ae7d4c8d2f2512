// Reads the payload of a `compact` task.

import { type EpochMs, ETERNITY, type Interval } from '../../base/instant.js';
import { condenseIntervals, formatInterval, parseInterval } from '../../base/interval.js';
import type { ObjectReader } from '../../base/json-reader.js';
import { bucketsOf, type Granularity, parseGranularity } from '../../model/granularity.js';
import { parseSegmentId } from '../../model/segment-id.js';
import type { ColumnPlan } from '../builder/run-buffer.js';
import { checkNames, fitsInto, parseDataSource, parseDimension } from '../task-spec/data-schema.js';
import { parseMetric } from '../task-spec/metric.js';
import { filterOf } from '../task-spec/native-parts.js';
import { parseTuningConfig } from '../task-spec/tuning-config.js';
import { requestedState } from './compaction-state.js';
import type { CompactInput, CompactSpec } from './contract.js';
import { checkMsq } from './msq-rules.js';

const ENGINES = ['native', 'msq'] as const;

const KEYS = [
  'id',
  'groupId',
  'resource',
  'context',
  'dataSource',
  'interval',
  'segments',
  'ioConfig',
  'dimensions',
  'dimensionsSpec',
  'transformSpec',
  'metricsSpec',
  'segmentGranularity',
  'granularitySpec',
  'projections',
  'tuningConfig',
  'compactionRunner',
];

/** @throws ServiceError `input_invalid` or `unsupported` naming the field */
export function parseCompactSpec(fields: ObjectReader): CompactSpec {
  fields.accept(KEYS);
  for (const key of ['segments', 'dimensions'])
    if (fields.has(key)) throw fields.unsupported(key, key === 'segments' ? 'give ioConfig.inputSpec' : 'give a dimensionsSpec');
  if (fields.has('projections')) throw fields.unsupported('projections', 'segments have no projections');
  const input = parseInput(fields);
  const granularity = parseGranularities(fields, input);
  const dimensionsSpec = fields.optionalObject('dimensionsSpec');
  dimensionsSpec?.accept(['dimensions', 'dimensionExclusions']);
  const metrics = fields.has('metricsSpec') ? fields.objects('metricsSpec').map((each) => parseMetric(each)) : null;
  const dimensions = parseDimensions(dimensionsSpec);
  checkNames(fields, dimensions ?? [], metrics ?? []);
  const transformSpec = fields.optionalObject('transformSpec');
  transformSpec?.accept(['filter', 'transforms', 'virtualColumns']);
  for (const key of ['transforms', 'virtualColumns'])
    if (transformSpec?.has(key) === true && transformSpec.array(key).length > 0)
      throw transformSpec.unsupported(key, 'a compaction filters rows and changes none');
  const runner = fields.optionalObject('compactionRunner');
  runner?.accept([]);
  const context = fields.optionalObject('context');
  const spec: Omit<CompactSpec, 'state'> = {
    dataSource: parseDataSource(fields, 'dataSource'),
    input,
    ...granularity,
    dimensions,
    dimensionExclusions: dimensions === null ? (dimensionsSpec?.strings('dimensionExclusions') ?? []) : [],
    metrics,
    aggregators: metrics === null ? null : fields.array('metricsSpec'),
    filter: transformSpec === undefined ? null : filterOf(transformSpec, 'filter'),
    engine: runner?.type(ENGINES) ?? 'native',
    tuning: parseTuningConfig(fields.optionalObject('tuningConfig'), 'index_parallel'),
    storesState: context?.boolean('storeCompactionState', true) ?? true,
  };
  if (spec.engine === 'msq') checkMsq(fields, spec);
  return { ...spec, state: requestedState(fields, spec) };
}

/** The payload with its defaults written out, as the payload endpoint shows it. */
export function writtenPayload(fields: ObjectReader): Readonly<Record<string, unknown>> {
  const {
    type: _type,
    id: _id,
    groupId: _group,
    resource: _resource,
    context: _context,
    dataSource: _dataSource,
    ...rest
  } = fields.members;
  return rest;
}

function parseDimensions(spec: ObjectReader | undefined): readonly ColumnPlan[] | null {
  const listed = spec?.array('dimensions') ?? [];
  if (spec === undefined || listed.length === 0) return null;
  return listed.map((value, position) =>
    parseDimension(spec.reader(typeof value === 'string' ? { name: value } : value, `${spec.at('dimensions')}[${position}]`)),
  );
}

function parseInput(fields: ObjectReader): CompactInput {
  const io = fields.optionalObject('ioConfig');
  if (io === undefined) {
    if (!fields.has('interval')) throw fields.mismatch('ioConfig', 'an object with an inputSpec');
    return ofInterval(readInterval(fields), null);
  }
  if (fields.has('interval')) throw fields.invalid('interval', 'cannot be given beside ioConfig');
  io.type(['compact'], { otherwise: 'compact' });
  io.accept(['inputSpec', 'dropExisting', 'allowNonAlignedInterval']);
  // Segments that were read are replaced as a whole, whether or not rows are left of them.
  io.boolean('dropExisting', false);
  if (io.boolean('allowNonAlignedInterval', false))
    throw io.unsupported('allowNonAlignedInterval', 'rows beside the interval would be lost; expected an interval of whole time chunks');
  const input = io.object('inputSpec');
  if (input.type(['interval', 'segments'], { documented: ['minor'] }) === 'interval') {
    input.accept(['interval', 'sha256OfSortedSegmentIds', 'uncompactedSegments']);
    if (input.has('uncompactedSegments')) throw input.unsupported('uncompactedSegments', 'an interval is compacted as a whole');
    return ofInterval(readInterval(input), input.optionalString('sha256OfSortedSegmentIds') ?? null);
  }
  input.accept(['segments']);
  const segments = input.strings('segments');
  const intervals = segments.map((id, position) => {
    const parsed = parseSegmentId(id);
    if (parsed === undefined || parsed.dataSource !== fields.string('dataSource'))
      throw input.invalid('segments', `[${position}] is not the id of a segment of the datasource: ${JSON.stringify(id)}`);
    return parsed.interval;
  });
  if (segments.length === 0) throw input.invalid('segments', 'expected at least one segment id');
  return { intervals: condenseIntervals(intervals), segments, digest: null };
}

function ofInterval(interval: Interval, digest: string | null): CompactInput {
  return { intervals: [interval], segments: null, digest };
}

function readInterval(fields: ObjectReader): Interval {
  const text = fields.string('interval');
  const interval = parseInterval(text);
  if (interval === undefined || interval.start >= interval.end)
    throw fields.invalid('interval', `expected an interval such as 2015-09-12/2015-09-13, found "${text}"`);
  return interval;
}

function parseGranularities(
  fields: ObjectReader,
  input: CompactInput,
): Pick<CompactSpec, 'segmentGranularity' | 'queryGranularity' | 'queryGranularityText' | 'rollup'> {
  const spec = fields.optionalObject('granularitySpec');
  spec?.accept(['segmentGranularity', 'queryGranularity', 'rollup', 'intervals']);
  spec?.type(['uniform'], { otherwise: 'uniform' });
  if (spec?.has('intervals') === true) throw spec.unsupported('intervals', 'the inputSpec says what is compacted');
  const read = (from: ObjectReader | undefined, key: string): Granularity | null =>
    from?.has(key) === true ? parseGranularity(from.raw(key), from.at(key), 'input_invalid') : null;
  const older = read(fields, 'segmentGranularity');
  const newer = read(spec, 'segmentGranularity');
  if (older !== null && newer !== null && JSON.stringify(older) !== JSON.stringify(newer))
    throw fields.invalid('segmentGranularity', 'differs from granularitySpec.segmentGranularity; give only that');
  const segmentGranularity = newer ?? older;
  const queryGranularity = read(spec, 'queryGranularity');
  if (segmentGranularity?.kind === 'none') throw fields.unsupported('granularitySpec', 'a segment for every millisecond');
  if (segmentGranularity !== null && queryGranularity !== null && !fitsInto(queryGranularity, segmentGranularity))
    throw (spec ?? fields).invalid(
      'queryGranularity',
      'its buckets do not fit into those of segmentGranularity; expected a finer or equal one',
    );
  const crossing = segmentGranularity === null ? undefined : input.intervals.find((interval) => !isAligned(interval, segmentGranularity));
  if (crossing !== undefined)
    throw fields.invalid(
      'ioConfig',
      `the interval ${formatInterval(crossing)} cuts time chunks of granularitySpec.segmentGranularity in two; widen it to whole chunks`,
    );
  return {
    segmentGranularity,
    queryGranularity,
    queryGranularityText: spec?.raw('queryGranularity') ?? null,
    rollup: spec?.has('rollup') === true ? spec.boolean('rollup', false) : null,
  };
}

function isAligned({ start, end }: Interval, granularity: Granularity): boolean {
  const { floor } = bucketsOf(granularity);
  const isBound = (instant: EpochMs): boolean => instant <= ETERNITY.start || instant >= ETERNITY.end || floor(instant) === instant;
  return isBound(start) && isBound(end) && (granularity.kind !== 'all' || (start <= ETERNITY.start && end >= ETERNITY.end));
}
