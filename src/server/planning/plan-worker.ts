// Entry module of the plan thread.

import { parentPort } from 'node:worker_threads';
import { type ErrorCode, ServiceError } from '../../base/errors.js';
import type { EpochMs } from '../../base/instant.js';
import { parseJson } from '../../base/json.js';
import { own } from '../../base/names.js';
import { type DataReference, ReceivedOnce } from '../../base/sent-once.js';
import type { TaskRead } from '../../cluster/overlord/submission.js';
import type { ColumnSchema } from '../../model/schema.js';
import type { PlannedStatement } from '../../model/statement.js';
import { type PlannedNative, planNative } from '../../planner/native/plan-native.js';
import type { TableColumns } from '../../planner/plan.js';
import { type UnknownParameter, unknownParameters } from '../../planner/sql/bind/parameters.js';
import type { SqlTable } from '../../planner/sql/catalog/schema.js';
import { planSql, type SqlRequest } from '../../planner/sql/plan-sql.js';
import { type PlanStage, PlanWatch } from '../../planner/sql/plan-watch.js';
import { AVATICA_CODECS } from '../avatica/codecs.js';
import { asServiceError } from '../errors.js';
import { readSqlBody, type SqlBody, type SqlBodyText } from '../queries/sql-body.js';
import { readSampleLimits, readTask } from './read-task.js';
import { type SchemaSnapshot, schemaOf } from './schema-snapshot.js';

type Columns = readonly ColumnSchema[];

/** A table whose columns the thread is sent once. */
export type SentTable<Table> = readonly [name: string, rest: Omit<Table, 'columns'>, columns: DataReference<Columns>];

type SentSchema = Omit<SchemaSnapshot, 'tables'> & { readonly tables: readonly SentTable<SqlTable>[] };

const known = new ReceivedOnce<Columns>();

function received<Table>(tables: readonly SentTable<Table>[]): ReadonlyMap<string, Omit<Table, 'columns'> & { readonly columns: Columns }> {
  return new Map(tables.map(([name, rest, columns]) => [name, { ...rest, columns: known.resolve(columns) }]));
}

/** Requests and results of the thread, by kind of work. */
interface Kinds {
  sql: {
    readonly needs: { readonly request: Omit<SqlRequest, 'watch'>; readonly schema: SentSchema; readonly now: EpochMs };
    readonly gives: PlannedStatement;
  };
  native: {
    readonly needs: { readonly body: Uint8Array; readonly lenient: boolean; readonly tables: readonly SentTable<TableColumns>[] };
    readonly gives: PlannedNative;
  };
  /** `query` is null where it is the same as `sql`: both may be long. */
  sqlBody: { readonly needs: SqlBodyText; readonly gives: Omit<SqlBody, 'query'> & { readonly query: string | null } };
  /** The path tells the codec. */
  avatica: { readonly needs: { readonly path: string; readonly body: Uint8Array }; readonly gives: object };
  parameters: { readonly needs: string; readonly gives: readonly UnknownParameter[] };
  /** The body of a request to the sampler; gives its limits. */
  sample: { readonly needs: Uint8Array; readonly gives: { readonly timeoutMs: number } };
  task: { readonly needs: { readonly document: string; readonly now: EpochMs }; readonly gives: TaskRead };
}

export type PlanKind = keyof Kinds;
export type PlanNeeds<Kind extends PlanKind> = Kinds[Kind]['needs'];
export type PlanResult<Kind extends PlanKind> = Kinds[Kind]['gives'];

export interface PlanAssignment<Kind extends PlanKind = PlanKind> {
  readonly kind: Kind;
  readonly needs: PlanNeeds<Kind>;
  /** Milliseconds that it may take. */
  readonly remainingMs: number;
}

export type PlanOutcome<Kind extends PlanKind = PlanKind> = { readonly stages: readonly PlanStage[] } & (
  | { readonly result: PlanResult<Kind> }
  | { readonly code: ErrorCode; readonly message: string }
);

const WORK: { readonly [Kind in PlanKind]: (needs: PlanNeeds<Kind>, watch: PlanWatch) => PlanResult<Kind> | Promise<PlanResult<Kind>> } = {
  sql: ({ request, schema, now }, watch) => planSql({ ...request, watch }, schemaOf({ ...schema, tables: received(schema.tables) }), now),
  native: ({ body, lenient, tables: sent }, watch) => {
    const tables = received(sent);
    const query = watch.stage('parse', () => parseJson(Buffer.from(body).toString('utf8')));
    return watch.stage('plan', () => planNative(query, lenient, { table: (name) => tables.get(name) }));
  },
  sqlBody: (text) => {
    const body = readSqlBody(text);
    return { ...body, query: body.query === body.sql ? null : body.query };
  },
  avatica: ({ path, body }) => {
    const codec = own(AVATICA_CODECS, path);
    if (codec === undefined) throw new ServiceError('internal', `${path} has no codec`);
    return codec.read(Buffer.from(body.buffer, body.byteOffset, body.byteLength));
  },
  parameters: unknownParameters,
  sample: readSampleLimits,
  task: ({ document, now }) => readTask(document, now),
};

/** Entry of the thread that reads and plans what is long, one after the other. */
parentPort?.on('message', async (assignment: PlanAssignment) => {
  const outcome = await workOn(assignment);
  try {
    parentPort?.postMessage(outcome);
  } catch (error) {
    parentPort?.postMessage(failure(error, outcome.stages));
  }
});

async function workOn<Kind extends PlanKind>({ kind, needs, remainingMs }: PlanAssignment<Kind>): Promise<PlanOutcome<Kind>> {
  const watch = new PlanWatch(performance.now() + remainingMs);
  try {
    return { result: await WORK[kind](needs, watch), stages: watch.stages };
  } catch (error) {
    return failure(error, watch.stages);
  }
}

function failure(
  error: unknown,
  stages: readonly PlanStage[],
): { readonly code: ErrorCode; readonly message: string; readonly stages: readonly PlanStage[] } {
  const { code, message } = asServiceError(error);
  return { code, message, stages };
}
