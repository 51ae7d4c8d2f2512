// Routes of the older description of datasources (`/svc/v2/datasources`).

import { type EpochMs, ETERNITY, type Interval } from '../../base/instant.js';
import { condenseIntervals, formatInterval } from '../../base/interval.js';
import type { BrokerQueries } from '../../cluster/broker/contract.js';
import type { SegmentDescriptor } from '../../model/segment.js';
import { itself, readable } from '../access/readable.js';
import type { HttpRequest, Route } from '../http.types.js';
import { candidatesBody } from '../results/native/candidates.js';
import { DATASOURCE_READ, isFlagged, json, LISTED, readCount, readInterval, route } from './exchange.js';

/** Default interval of the lists: this long before now. */
const HISTORY_MS = 7 * 86_400_000;

/** The older description of what can be queried: `GET /svc/v2/datasources...`. SQL's metadata tables say more. */
export function datasourceRoutes(broker: BrokerQueries, options: { now(): EpochMs }): readonly Route[] {
  const segmentsOf = (dataSource: string, request: HttpRequest): readonly SegmentDescriptor[] => {
    const now = options.now();
    const written = request.query.get('interval');
    const interval = written === null ? { start: now - HISTORY_MS, end: now } : readInterval('interval', written);
    return broker.candidates(dataSource, { intervals: [interval] }).map(({ segment }) => segment);
  };
  const base = '/svc/v2/datasources';
  return [
    route('GET', base, LISTED, async ({ caller }) => json(200, readable(caller, broker.tables(), itself))),
    route('GET', `${base}/{dataSource}`, DATASOURCE_READ, async (request, { dataSource = '' }) => {
      const segments = segmentsOf(dataSource, request);
      return json(200, isFlagged(request, 'full') ? listsByInterval(segments) : columnLists(segments));
    }),
    route('GET', `${base}/{dataSource}/dimensions`, DATASOURCE_READ, async (request, { dataSource = '' }) =>
      json(200, columnLists(segmentsOf(dataSource, request)).dimensions),
    ),
    route('GET', `${base}/{dataSource}/metrics`, DATASOURCE_READ, async (request, { dataSource = '' }) =>
      json(200, columnLists(segmentsOf(dataSource, request)).metrics),
    ),
    route('GET', `${base}/{dataSource}/candidates`, DATASOURCE_READ, async (request, { dataSource = '' }) =>
      json(200, candidatesBody(broker.candidates(dataSource, { intervals: readIntervals(request) }), readCount(request, 'numCandidates'))),
    ),
  ];
}

function readIntervals(request: HttpRequest): readonly Interval[] {
  const written = request.query.get('intervals');
  return written === null ? [ETERNITY] : condenseIntervals(written.split(',').map((text) => readInterval('intervals', text.trim())));
}

function columnLists(segments: readonly SegmentDescriptor[]): {
  readonly dimensions: readonly string[];
  readonly metrics: readonly string[];
} {
  const distinct = (read: (segment: SegmentDescriptor) => readonly string[]): readonly string[] => [...new Set(segments.flatMap(read))];
  return { dimensions: distinct(({ dimensions }) => dimensions), metrics: distinct(({ metrics }) => metrics) };
}

function listsByInterval(segments: readonly SegmentDescriptor[]): Readonly<Record<string, unknown>> {
  const byInterval = new Map<string, SegmentDescriptor[]>();
  for (const segment of segments) {
    const interval = formatInterval(segment.id.interval);
    byInterval.set(interval, [...(byInterval.get(interval) ?? []), segment]);
  }
  return Object.fromEntries([...byInterval].map(([interval, group]) => [interval, columnLists(group)]));
}
