// The input source `druid`.

import type { Interval } from '../../base/instant.js';
import { condenseIntervals, formatInterval, intersect, parseInterval } from '../../base/interval.js';
import { acceptWithInert, INERT_KEYS } from '../task-spec/inert-keys.js';
import { filterOf } from '../task-spec/native-parts.js';
import type { InputSourceKind, SourceUnit, StoredRows, UnitLimits, UnitOrigin } from './source-kind.js';

/** Rows of a datasource, their time as the number `__time` of milliseconds. */
export const DRUID: InputSourceKind = {
  type: 'druid',
  open(fields) {
    acceptWithInert(fields, ['dataSource', 'interval', 'filter', 'segments'], INERT_KEYS.druidSource);
    if (fields.has('segments')) throw fields.unsupported('segments', 'give an interval');
    const dataSource = fields.string('dataSource');
    const text = fields.string('interval');
    const interval = parseInterval(text);
    if (interval === undefined) throw fields.invalid('interval', `expected an interval such as 2015-09-12/2015-09-13, found "${text}"`);
    const rows: StoredRows = { name: `datasource ${dataSource}`, dataSource, interval, filter: filterOf(fields, 'filter') };
    return { type: 'druid', needsFormat: false, parts: async () => [rows], units: (limits) => chunksOf(rows, fields.members, limits) };
  },
};

/** The stretches of time that visible segments answer for, each with the size of its segments. */
async function chunksOf(
  { dataSource, interval }: StoredRows,
  written: Readonly<Record<string, unknown>>,
  limits: UnitLimits,
): Promise<readonly SourceUnit[]> {
  const origin: UnitOrigin = {
    specsOf: (items) => condenseIntervals(items as readonly Interval[]).map((each) => ({ ...written, interval: formatInterval(each) })),
  };
  const chunks = new Map<string, { readonly interval: Interval; sizeBytes: number }>();
  for (const { segment, visible } of await limits.visibleSegments(dataSource, [interval]))
    for (const each of visible) {
      const read = intersect(each, interval);
      if (read === undefined) continue;
      const key = formatInterval(read);
      const chunk = chunks.get(key) ?? { interval: read, sizeBytes: 0 };
      chunk.sizeBytes += segment.sizeBytes;
      chunks.set(key, chunk);
    }
  return [...chunks.values()]
    .sort((a, b) => a.interval.start - b.interval.start)
    .map(({ interval: item, sizeBytes }) => ({ sizeBytes, origin, item }));
}
