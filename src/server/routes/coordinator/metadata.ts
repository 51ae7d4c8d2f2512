// Coordinator routes for segments and datasources in the metadata store.

import { ServiceError } from '../../../base/errors.js';
import { intersect } from '../../../base/interval.js';
import { append } from '../../../base/lists.js';
import { dataSourceNames, findSegment } from '../../../metadata/segments.js';
import type { SegmentDescriptor } from '../../../model/segment.js';
import { idTextOf } from '../../../model/segment-id.js';
import { itself, readable } from '../../access/readable.js';
import type { HttpRequest, Route } from '../../http.types.js';
import { segmentBody } from '../../results/segment-body.js';
import {
  DATASOURCE_READ,
  DATASOURCE_WRITE,
  isFlagged,
  json,
  jsonList,
  kindOf,
  LISTED,
  readInterval,
  readJson,
  route,
} from '../exchange.js';
import type { CoordinatorSource } from './coordinator-source.js';

/** Segments and datasources in the metadata store, served or not. */
export function metadataRoutes({ coordinator, database }: CoordinatorSource): readonly Route[] {
  const { catalog } = coordinator;
  /** Callers expect to see what they just changed. */
  const fresh = async <Result>(read: () => Result): Promise<Result> => {
    await catalog.refresh();
    return read();
  };
  const listing = (request: HttpRequest, segments: readonly SegmentDescriptor[]) =>
    jsonList<SegmentDescriptor>(segments, isFlagged(request, 'full') ? segmentBody : idTextOf);

  return [
    route('GET', '/svc/coordinator/v1/metadata/segments', LISTED, async (request) => {
      const wanted = request.query.getAll('datasources');
      const withOvershadowed = isFlagged(request, 'includeOvershadowedStatus');
      // All of one moment, however long it takes to print them.
      const { segments, hidden } = await fresh(() => {
        const names = readable(request.caller, wanted.length === 0 ? catalog.dataSources() : wanted, itself);
        const used: SegmentDescriptor[] = [];
        const overshadowed = new Set<SegmentDescriptor>();
        for (const name of names) {
          append(used, catalog.used(name));
          if (withOvershadowed) for (const segment of catalog.overshadowed(name)) overshadowed.add(segment);
        }
        return { segments: used, hidden: overshadowed };
      });
      return jsonList(segments, (segment) =>
        withOvershadowed ? { ...segmentBody(segment), overshadowed: hidden.has(segment) } : segmentBody(segment),
      );
    }),
    route('GET', '/svc/coordinator/v1/metadata/datasources', LISTED, async (request) => {
      const { caller } = request;
      if (isFlagged(request, 'full'))
        return json(
          200,
          await fresh(() => readable(caller, catalog.dataSources(), itself).map((name) => dataSourceBody(name, catalog.used(name)))),
        );
      const all = isFlagged(request, 'includeUnused') || isFlagged(request, 'includeDisabled');
      return json(200, readable(caller, await dataSourceNames(database, all ? 'all' : 'used'), itself));
    }),
    route('GET', '/svc/coordinator/v1/metadata/datasources/{dataSource}', DATASOURCE_READ, async (_request, { dataSource = '' }) => {
      const segments = await fresh(() => catalog.used(dataSource));
      if (segments.length === 0) throw new ServiceError('not_found', `datasource ${dataSource} has no used segments`);
      return json(200, dataSourceBody(dataSource, segments));
    }),
    route(
      'GET',
      '/svc/coordinator/v1/metadata/datasources/{dataSource}/segments',
      DATASOURCE_READ,
      async (request, { dataSource = '' }) => {
        const segments = await fresh(() => catalog.used(dataSource));
        return listing(request, request.body.length === 0 ? segments : overlapping(segments, readJson(request)));
      },
    ),
    route(
      'POST',
      '/svc/coordinator/v1/metadata/datasources/{dataSource}/segments',
      DATASOURCE_WRITE,
      async (request, { dataSource = '' }) => {
        const segments = await fresh(() => catalog.used(dataSource));
        return listing(request, overlapping(segments, readJson(request)));
      },
    ),
    route(
      'GET',
      '/svc/coordinator/v1/metadata/datasources/{dataSource}/segments/{segmentId}',
      DATASOURCE_READ,
      async (_request, { dataSource = '', segmentId = '' }) => {
        const found = await findSegment(database, segmentId);
        if (found?.used !== true || found.segment.id.dataSource !== dataSource)
          throw new ServiceError('not_found', `${dataSource} has no used segment ${segmentId}`);
        return json(200, segmentBody(found.segment));
      },
    ),
  ];
}

export function dataSourceBody(name: string, segments: readonly SegmentDescriptor[]): Readonly<Record<string, unknown>> {
  return { name, properties: {}, segments: segments.map(segmentBody) };
}

function overlapping(segments: readonly SegmentDescriptor[], body: unknown): readonly SegmentDescriptor[] {
  if (!Array.isArray(body)) throw new ServiceError('input_invalid', `body: found ${kindOf(body)}, expected an array of intervals`);
  const intervals = body.map((each: unknown, position) => readInterval(`[${position}]`, String(each)));
  return segments.filter((segment) => intervals.some((interval) => intersect(interval, segment.id.interval) !== undefined));
}
