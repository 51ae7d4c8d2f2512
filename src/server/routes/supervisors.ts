// Routes of supervisors.

import { ServiceError } from '../../base/errors.js';
import { isRecord, parseJson, stringifyJson } from '../../base/json.js';
import { ObjectReader, readContextOf } from '../../base/json-reader.js';
import { createByName } from '../../base/names.js';
import { type CompactionSupervisor, isCompactionSpec } from '../../cluster/compaction/compaction-supervisor.js';
import type { Overlord } from '../../cluster/overlord/overlord.js';
import { changeAll } from '../../cluster/overlord/supervisor/all-supervisors.js';
import { statsBody, statusBody } from '../../cluster/overlord/supervisor/report.js';
import { shownDocument } from '../../cluster/overlord/supervisor/shown-spec.js';
import type { Supervisor } from '../../cluster/overlord/supervisor/supervisor.js';
import type { SupervisorSummary } from '../../cluster/rpc/services.js';
import type { SupervisorSpec } from '../../ingestion/stream/supervisor-spec.js';
import type { Author } from '../../metadata/settings.js';
import type { SupervisorVersion } from '../../metadata/supervisors.js';
import { type Caller, demand } from '../../model/access/authorizer.js';
import { parsePosition, type StreamPosition } from '../../model/stream/offsets.js';
import { resourcesOfStream } from '../../planner/sql/explain/resources.js';
import { demandDataSource, mayWrite, readable } from '../access/readable.js';
import type { HttpRequest, HttpResponse, Route } from '../http.types.js';

import { type CompactionSupervisorSource, compactionAnswers } from './compaction-supervisors.js';
import { formatInstant, found, isFlagged, json, LISTED, readAuthor, readJson, route } from './exchange.js';

const PATH = '/svc/indexer/v1/supervisor';

export function supervisorRoutes(
  overlord: Overlord,
  coordinator: CompactionSupervisorSource['coordinator'],
  now: () => number,
): readonly Route[] {
  const { supervisors } = overlord;
  const compacting = overlord.compactionConfigs.supervisors;
  const answers = compactionAnswers({ supervisors: compacting, coordinator, now });
  const one = (
    method: Route['method'],
    rest: string,
    handle: (request: HttpRequest, supervisor: Supervisor) => Promise<HttpResponse>,
  ): Route =>
    route(method, `${PATH}/{supervisorId}${rest}`, SUPERVISOR, async (request, { supervisorId = '' }) => {
      const right = method === 'GET' ? 'READ' : 'WRITE';
      const compactor = supervisors.find(supervisorId) === undefined ? await compacting.find(supervisorId) : undefined;
      const answer = answers.get(`${method} ${rest}`);
      if (compactor !== undefined && answer !== undefined) {
        demandDataSource(request.caller, compactor.config.dataSource, right);
        return answer(request, compactor);
      }
      const supervisor = supervisors.get(supervisorId);
      demandDataSource(request.caller, supervisor.spec.dataSource, right);
      return handle(request, supervisor);
    });
  /** Does something with every supervisor whose datasource the caller may write. */
  const each = (verb: string, { isDone, work, compact }: Change): Route =>
    route('POST', `${PATH}/${verb}`, LISTED, async (request) => {
      const author = readAuthor(request);
      const isAsked = (dataSource: string, suspended: boolean) => mayWrite(request.caller, dataSource) && !isDone(suspended);
      const streaming = supervisors.list().filter(({ dataSource, suspended }) => isAsked(dataSource, suspended));
      const compactors = (await compacting.list()).filter(({ config, suspended }) => isAsked(config.dataSource, suspended));
      const changes = [
        ...streaming.map(({ id }) => ({ id, change: () => work(id, author), find: async () => supervisors.find(id)?.spec })),
        ...compactors.map((each) => ({ id: each.id, change: () => compact(each, author), find: () => compacting.find(each.id) })),
      ];
      await changeAll(changes, isDone);
      return json(200, { status: 'success' });
    });
  const allSuspended = (suspended: boolean): Change => ({
    isDone: (isSuspended) => isSuspended === suspended,
    work: (id, author) => supervisors.setSuspended(id, suspended, author),
    compact: ({ id }, author) => compacting.setSuspended(id, suspended, author),
  });
  const setSuspended =
    (suspended: boolean) =>
    async (request: HttpRequest, { spec: { id } }: Supervisor) => {
      await supervisors.setSuspended(id, suspended, readAuthor(request));
      return json(200, supervisors.shown(id));
    };
  const terminate = async (request: HttpRequest, { spec: { id } }: Supervisor) => {
    await supervisors.terminate(id, readAuthor(request));
    return json(200, { id });
  };
  return [
    route('POST', PATH, SUPERVISOR, async (request) => {
      const body = readJson(request);
      if (isCompactionSpec(body)) {
        const writes = ({ config }: CompactionSupervisor) => demandDataSource(request.caller, config.dataSource, 'WRITE');
        return json(200, { id: await compacting.submit(body, readAuthor(request), writes) });
      }
      const onlyIfChanged = request.query.get('skipRestartIfUnmodified') === 'true';
      const authorize = (spec: SupervisorSpec) => authorizeSpec(request.caller, spec, supervisors.find(spec.id));
      return json(200, { id: await supervisors.submit(body, readAuthor(request), { onlyIfChanged, authorize }) });
    }),
    route('GET', PATH, LISTED, async (request) => json(200, listBody(await overlord.supervisorList(), request))),
    // Paths of one word come before the ids of supervisors.
    route('GET', `${PATH}/history`, LISTED, async ({ caller }) => {
      const byId = createByName<unknown[]>();
      for (const version of readable(caller, await supervisors.history(null), dataSourceOf)) {
        const ofId = byId[version.id] ?? [];
        ofId.push(versionBody(version));
        byId[version.id] = ofId;
      }
      return json(200, byId);
    }),
    each('suspendAll', allSuspended(true)),
    each('resumeAll', allSuspended(false)),
    each('terminateAll', {
      isDone: () => false,
      work: (id, author) => supervisors.terminate(id, author),
      compact: (supervisor, author) => compacting.terminate(supervisor, author),
    }),
    one('GET', '', async (_request, { spec }) => json(200, supervisors.shown(spec.id))),
    one('GET', '/status', async (_request, supervisor) => json(200, statusBody(supervisor, now()))),
    one('GET', '/health', async (_request, { state: { isHealthy: healthy } }) => json(healthy ? 200 : 503, { healthy })),
    one('GET', '/stats', async (_request, supervisor) => json(200, await statsBody(supervisor))),
    one('GET', '/parseErrors', async (_request, supervisor) => {
      const errors = await supervisor.parseErrors();
      return json(
        200,
        errors.map(({ timeOfExceptionMs, ...error }) => ({ ...error, timeOfExceptionMillis: timeOfExceptionMs })),
      );
    }),
    route('GET', `${PATH}/{supervisorId}/history`, LISTED, async ({ caller }, { supervisorId = '' }) => {
      const versions = readable(caller, await supervisors.history(supervisorId), dataSourceOf);
      if (versions.length === 0) throw new ServiceError('not_found', `No history for [${supervisorId}].`);
      return json(200, versions.map(versionBody));
    }),
    one('POST', '/suspend', setSuspended(true)),
    one('POST', '/resume', setSuspended(false)),
    one('POST', '/terminate', terminate),
    one('POST', '/shutdown', terminate),
    one('POST', '/reset', async (_request, supervisor) => {
      await supervisor.reset();
      return json(200, { id: supervisor.spec.id });
    }),
    one('POST', '/resetOffsets', async (request, supervisor) => {
      await supervisor.resetOffsets(readPosition(request, supervisor.spec.kind));
      return json(200, { id: supervisor.spec.id });
    }),
    one('POST', '/taskGroups/handoff', async (request, supervisor) => {
      supervisor.handOff(readGroupIds(request));
      return { status: 202 };
    }),
  ];
}

const SUPERVISOR = found('supervisor');

/** A change of all supervisors. */
interface Change {
  /** Whether a supervisor is already as it is to be. */
  isDone(isSuspended: boolean): boolean;
  work(id: string, author: Author): Promise<void>;
  compact(supervisor: CompactionSupervisor, author: Author): Promise<unknown>;
}

const dataSourceOf = ({ dataSource }: { readonly dataSource: string }): string => dataSource;

/** @throws ServiceError `forbidden` unless the caller may write the datasource, and that of the spec before, and read the stream */
function authorizeSpec(caller: Caller, { dataSource, kind }: SupervisorSpec, before: Supervisor | undefined): void {
  if (caller.isUnrestricted) return;
  demandDataSource(caller, dataSource, 'WRITE');
  demand(caller, resourcesOfStream(kind));
  if (before !== undefined) demandDataSource(caller, before.spec.dataSource, 'WRITE');
}

function listBody(all: readonly SupervisorSummary[], request: HttpRequest): readonly unknown[] {
  const list = readable(request.caller, all, dataSourceOf);
  const [full, state, system] = [isFlagged(request, 'full'), request.query.get('state') === 'true', isFlagged(request, 'system')];
  if (!full && !state && !system) return list.map(({ id }) => id);
  return list.map(({ spec, type, source, suspended, ...summary }) => ({
    ...summary,
    suspended,
    ...(full ? { spec } : {}),
    ...(system ? { specString: stringifyJson(spec), type, source } : {}),
  }));
}

/** A terminated supervisor is told by a spec that does nothing. */
function versionBody({ id, dataSource, document, createdMs }: SupervisorVersion): Readonly<Record<string, unknown>> {
  const spec =
    document === null
      ? { type: 'NoopSupervisorSpec', id, dataSources: [dataSource], suspended: false, source: null }
      : documentOf(document);
  return { spec, version: formatInstant(createdMs) };
}

function documentOf(text: string): Readonly<Record<string, unknown>> {
  const value = parseJson(text);
  return isRecord(value) ? shownDocument(value) : {};
}

function readPosition(request: HttpRequest, kind: StreamPosition['kind']): StreamPosition {
  const fields = new ObjectReader(readJson(request), '', readContextOf('input_invalid', 'the body'));
  fields.accept(['partitions']);
  fields.type([kind], { otherwise: kind });
  return parsePosition(kind, fields.object('partitions'));
}

function readGroupIds(request: HttpRequest): readonly number[] {
  const fields = new ObjectReader(readJson(request), '', readContextOf('input_invalid', 'the body'));
  fields.accept(['taskGroupIds']);
  const ids = fields.list('taskGroupIds', (value, path) => {
    if (typeof value !== 'number' || !Number.isInteger(value)) throw fields.invalid('taskGroupIds', `${path} is not the number of a group`);
    return value;
  });
  if (ids.length === 0) throw fields.invalid('taskGroupIds', "List of task groups to handoff can't be empty");
  return ids;
}
