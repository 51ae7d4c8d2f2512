// Reads the spec of a supervisor.

import { isRecord } from '../../base/json.js';
import { ObjectReader, readContextOf } from '../../base/json-reader.js';
import type { StreamKind } from '../../model/stream/offsets.js';
import { parseDataSchema } from '../task-spec/data-schema.js';
import { parseStreamTuning, type StreamTuning, type SupervisorTuning } from './stream-tuning.js';
import { parseSupervisorIo, type SupervisorIo } from './supervisor-io.js';

export interface SupervisorSpec {
  readonly id: string;
  readonly kind: StreamKind;
  readonly dataSource: string;
  readonly suspended: boolean;
  readonly io: SupervisorIo;
  readonly tuning: StreamTuning & SupervisorTuning;
  readonly context: Readonly<Record<string, unknown>>;
  /** Parts as they were sent. */
  readonly source: {
    readonly dataSchema: Readonly<Record<string, unknown>>;
    readonly ioConfig: Readonly<Record<string, unknown>>;
    readonly tuningConfig: Readonly<Record<string, unknown>>;
  };
}

const KEYS = ['type', 'id', 'spec', 'dataSchema', 'ioConfig', 'tuningConfig', 'context', 'suspended', 'source', 'dataSources'];
/** Supervisors of the original that read no stream that is known here. */
const DOCUMENTED = ['rabbit', 'noop', 'materialized_view', 'scheduled_batch'];

/** Characters of an id: it stands in paths and in the names of tasks. */
const ID = /^(?! )[^/\\\p{Cc}\p{Zl}\p{Zp}]{1,200}(?<! )$/u;

/** @throws ServiceError `input_invalid` or `unsupported` naming the field */
export function parseSupervisorSpec(value: unknown): SupervisorSpec {
  const fields = new ObjectReader(value, '', readContextOf('input_invalid', 'the supervisor'));
  const kind = fields.type(['kafka', 'kinesis'], { documented: DOCUMENTED });
  fields.accept(KEYS);
  const spec = fields.optionalObject('spec') ?? fields;
  if (spec !== fields) spec.accept(['dataSchema', 'ioConfig', 'tuningConfig']);
  const { dataSource } = parseDataSchema(spec.object('dataSchema'));
  const id = fields.optionalString('id') ?? dataSource;
  if (!ID.test(id) || id === '.' || id === '..')
    throw fields.mismatch('id', '1 to 200 characters without / and \\, no space at either end');
  return {
    id,
    kind,
    dataSource,
    suspended: fields.boolean('suspended', false),
    io: parseSupervisorIo(kind, spec.object('ioConfig')),
    tuning: parseStreamTuning(spec.optionalObject('tuningConfig'), kind, 'supervisor'),
    context: parseContext(fields.optionalObject('context')),
    source: {
      dataSchema: recordOf(spec, 'dataSchema'),
      ioConfig: recordOf(spec, 'ioConfig'),
      tuningConfig: recordOf(spec, 'tuningConfig'),
    },
  };
}

const PRIORITY_MAX = 2 ** 31 - 1;

/** The context of its tasks, none of which would be taken with another priority. */
function parseContext(context: ObjectReader | undefined): SupervisorSpec['context'] {
  context?.optionalInteger('priority', -PRIORITY_MAX, PRIORITY_MAX);
  return context?.members ?? {};
}

function recordOf(fields: ObjectReader, key: string): Readonly<Record<string, unknown>> {
  const value = fields.raw(key);
  return isRecord(value) ? value : {};
}

/** The spec as it is stored and shown: its parts under `spec`, and beside it, where older clients look for them. */
export function supervisorDocument({ id, kind, context, suspended, source }: SupervisorSpec): Readonly<Record<string, unknown>> {
  const { dataSchema, ioConfig } = source;
  const tuningConfig = { ...source.tuningConfig, type: kind };
  return { type: kind, id, spec: { dataSchema, ioConfig, tuningConfig }, dataSchema, ioConfig, tuningConfig, context, suspended };
}
