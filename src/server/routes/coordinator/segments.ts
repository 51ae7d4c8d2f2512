// Routes that mark segments used or unused, and remove unused ones.

import { ServiceError } from '../../../base/errors.js';
import type { Interval } from '../../../base/instant.js';
import { describeValue } from '../../../base/json.js';
import type { SegmentMarking } from '../../../cluster/segment-marking.js';
import type { MarkTarget } from '../../../metadata/segments.js';
import type { HttpRequest, Route } from '../../http.types.js';
import { DATASOURCE_WRITE, isTrue, json, readInterval, readObject, route } from '../exchange.js';

export interface SegmentRoutesOptions {
  /** Marking as done by the role that answers. */
  readonly marking: Pick<SegmentMarking, 'mark'>;
  kill(dataSource: string, interval: Interval): Promise<string>;
}

/**
 * Marking segments used and unused, and removing unused ones for good. The Coordinator and the Overlord both answer.
 * @param base  `/svc/coordinator/v1/datasources` or the Overlord's
 */
export function segmentRoutes(base: string, { marking, kill: killInterval }: SegmentRoutesOptions): readonly Route[] {
  const kill = (dataSource: string, interval: string) => killInterval(dataSource, readInterval('interval', interval));

  const marked = (path: string, use: 'used' | 'unused'): Route =>
    route('POST', `${base}/{dataSource}/${path}`, DATASOURCE_WRITE, async (request, { dataSource = '' }) => {
      if (!isDataSourceName(dataSource)) return { status: 204 };
      return json(200, { numChangedSegments: await marking.mark(use, dataSource, readTarget(request)) });
    });

  return [
    marked('markUsed', 'used'),
    marked('markUnused', 'unused'),
    route('POST', `${base}/{dataSource}`, DATASOURCE_WRITE, async (_request, { dataSource = '' }) =>
      json(200, { numChangedSegments: await marking.mark('used', dataSource, { kind: 'all' }) }),
    ),
    route('DELETE', `${base}/{dataSource}`, DATASOURCE_WRITE, async (request, { dataSource = '' }) => {
      if (!isTrue(request, 'kill')) return json(200, { numChangedSegments: await marking.mark('unused', dataSource, { kind: 'all' }) });
      const interval = request.query.get('interval');
      if (interval === null)
        throw new ServiceError('input_invalid', 'interval: found nothing, expected an interval together with kill=true');
      await kill(dataSource, interval);
      return { status: 200 };
    }),
    route('DELETE', `${base}/{dataSource}/intervals/{interval}`, DATASOURCE_WRITE, async (_request, { dataSource = '', interval = '' }) => {
      await kill(dataSource, interval);
      return { status: 200 };
    }),
    route('POST', `${base}/{dataSource}/segments/{segmentId}`, DATASOURCE_WRITE, async (_request, { dataSource = '', segmentId = '' }) =>
      json(200, { segmentStateChanged: (await marking.mark('used', dataSource, { kind: 'ids', ids: [segmentId] })) > 0 }),
    ),
    route('DELETE', `${base}/{dataSource}/segments/{segmentId}`, DATASOURCE_WRITE, async (_request, { dataSource = '', segmentId = '' }) =>
      json(200, { segmentStateChanged: (await marking.mark('unused', dataSource, { kind: 'ids', ids: [segmentId] })) > 0 }),
    ),
  ];
}

function isDataSourceName(name: string): boolean {
  return name.trim() !== '' && !/[\p{Cc}/]/u.test(name);
}

/** Either `interval` or `segmentIds`. */
function readTarget(request: HttpRequest): MarkTarget {
  const fields = readObject(request);
  const stranger = [...fields.keys()].find((name) => name !== 'interval' && name !== 'segmentIds');
  if (stranger !== undefined && !request.viaAlias)
    throw new ServiceError('input_invalid', `${stranger}: unknown field; accepted are interval and segmentIds`);
  const interval = fields.get('interval') ?? null;
  const ids = fields.get('segmentIds') ?? null;
  if ((interval === null) === (ids === null))
    throw new ServiceError(
      'input_invalid',
      `body: found ${interval === null ? 'neither interval nor' : 'both interval and'} segmentIds, expected exactly one of them`,
    );
  if (interval !== null) {
    if (typeof interval !== 'string')
      throw new ServiceError('input_invalid', `interval: found ${describeValue(interval)}, expected a string`);
    return { kind: 'within', interval: readInterval('interval', interval) };
  }
  if (!Array.isArray(ids) || !ids.every((id) => typeof id === 'string'))
    throw new ServiceError('input_invalid', 'segmentIds: expected an array of segment ids');
  return { kind: 'ids', ids };
}
