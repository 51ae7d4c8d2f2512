// Helpers for reading query bodies: choices, types and intervals.

import { ServiceError } from '../../base/errors.js';
import type { Interval } from '../../base/instant.js';
import { parseInterval } from '../../base/interval.js';
import { mismatch, type ObjectReader } from '../../base/json-reader.js';
import { own } from '../../base/names.js';
import { nearestName } from '../../base/nearest-name.js';
import type { SegmentSlice } from '../../model/segment.js';

/** Refuses a value of a query body. */
export function refuse(path: string, expected: string, found: unknown): never {
  throw mismatch('query_invalid', path, expected, found);
}

/** One of a few names, upper and lower case alike. */
export function readChoice<Name extends string>(value: unknown, path: string, names: readonly Name[]): Name {
  const found = typeof value === 'string' ? names.find((name) => name.toLowerCase() === value.toLowerCase()) : undefined;
  return found ?? refuse(path, `one of ${names.join(', ')}`, value);
}

/** Reads an object by its `type` from a table; names outside of it are told apart into documented and unknown ones. */
export function readByType<Result>(
  reader: ObjectReader,
  table: Readonly<Record<string, (reader: ObjectReader) => Result>>,
  unsupported: readonly string[],
  what: string,
): Result {
  const type = reader.string('type');
  const read = Object.hasOwn(table, type) ? own(table, type) : undefined;
  if (read === undefined) {
    if (unsupported.includes(type)) {
      const why = type === 'javascript' ? ': JavaScript is disabled, and code that comes with a query is never run' : '';
      throw new ServiceError('unsupported', `${reader.at('type')}: ${what} "${type}" is not supported${why}`);
    }
    const nearest = nearestName(type, Object.keys(table));
    throw new ServiceError(
      'query_invalid',
      `${reader.at('type')}: unknown ${what} "${type}"${nearest === undefined ? '' : ` (did you mean "${nearest}"?)`}; accepted: ${Object.keys(table).join(', ')}`,
    );
  }
  const result = read(reader);
  reader.end();
  return result;
}

/** Intervals of a query, and the segments that it names. */
export interface QueriedTime {
  readonly intervals: readonly Interval[];
  /** Absent: all segments of the intervals. */
  readonly segments?: readonly SegmentSlice[];
}

/** `intervals` of a query: what `readIntervals` takes, or `{type: 'segments', segments: [{itvl, ver, part}, ...]}`. */
export function readQueriedTime(reader: ObjectReader, key: string): QueriedTime | undefined {
  const value = reader.raw(key);
  if (value === undefined) return undefined;
  const path = reader.at(key);
  if (typeof value === 'string' || Array.isArray(value)) return { intervals: readIntervalList(value, path) };
  const spec = reader.reader(value, path);
  const isBySegment = spec.choice('type', ['intervals', 'LegacySegmentSpec', 'segments'], undefined) === 'segments';
  const time = isBySegment ? readSegmentSlices(spec) : { intervals: readListedIntervals(spec) };
  spec.end();
  return time;
}

/** One text or an array of texts, or `{type: 'intervals', intervals: [...]}`. */
export function readIntervals(reader: ObjectReader, key: string): readonly Interval[] | undefined {
  const value = reader.raw(key);
  if (value === undefined) return undefined;
  const path = reader.at(key);
  if (typeof value === 'string' || Array.isArray(value)) return readIntervalList(value, path);
  const spec = reader.reader(value, path);
  spec.choice('type', ['intervals', 'LegacySegmentSpec'], undefined);
  const intervals = readListedIntervals(spec);
  spec.end();
  return intervals;
}

function readSegmentSlices(spec: ObjectReader): QueriedTime {
  if (!spec.has('segments')) refuse(spec.at('segments'), 'an array of segments', undefined);
  const segments = spec.objects('segments').map((each): SegmentSlice => {
    const interval = parseInterval(each.string('itvl')) ?? refuseInterval(each.at('itvl'), each.raw('itvl'));
    const slice = { interval, version: each.string('ver'), partitionNumber: each.optionalInteger('part', 0) ?? 0 };
    each.end();
    return slice;
  });
  return { intervals: segments.map(({ interval }) => interval), segments };
}

function readListedIntervals(spec: ObjectReader): readonly Interval[] {
  const value = spec.raw('intervals');
  if (typeof value !== 'string' && !Array.isArray(value)) return refuse(spec.at('intervals'), 'an array of intervals', value);
  return readIntervalList(value, spec.at('intervals'));
}

function readIntervalList(value: string | readonly unknown[], path: string): readonly Interval[] {
  if (typeof value === 'string') return value.split(',').map((text) => parseInterval(text.trim()) ?? refuseInterval(path, text));
  return value.map(
    (text: unknown, index) => (typeof text === 'string' ? parseInterval(text) : undefined) ?? refuseInterval(`${path}[${index}]`, text),
  );
}

function refuseInterval(path: string, value: unknown): never {
  return refuse(path, 'an ISO 8601 interval such as "2015-09-12/2015-09-13" that does not end before it starts', value);
}
