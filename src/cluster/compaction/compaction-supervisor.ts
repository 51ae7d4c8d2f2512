// The spec of a supervisor that compacts a datasource.

import { isRecord, parseJson } from '../../base/json.js';
import { ObjectReader, readContextOf } from '../../base/json-reader.js';
import type { Queries } from '../../metadata/database.js';
import { activeSupervisors } from '../../metadata/supervisors.js';
import { type CompactionConfig, parseCompactionConfig } from './compaction-config.js';

export const COMPACTION_SUPERVISOR = 'autocompact';
export const ID_PREFIX = 'autocompact__';

/** A supervisor of type `autocompact`; there is one for a datasource at most, which its id tells. */
export interface CompactionSupervisor {
  readonly id: string;
  readonly suspended: boolean;
  readonly config: CompactionConfig;
}

/** Whether a spec of a supervisor is one that compacts. */
export function isCompactionSpec(value: unknown): boolean {
  return isRecord(value) && value['type'] === COMPACTION_SUPERVISOR;
}

/** @throws ServiceError `input_invalid` or `unsupported` naming the field */
export function parseCompactionSupervisor(value: unknown): CompactionSupervisor {
  const fields = new ObjectReader(value, '', readContextOf('input_invalid', 'the supervisor'));
  fields.type([COMPACTION_SUPERVISOR]);
  // A spec that was shown may be sent again.
  fields.accept(['spec', 'id', 'suspended', 'dataSources']);
  const config = parseCompactionConfig(fields.object('spec'));
  const id = ID_PREFIX + config.dataSource;
  if ((fields.optionalString('id') ?? id) !== id) throw fields.invalid('id', `the datasource decides it: expected "${id}"`);
  if (fields.strings('dataSources').some((name) => name !== config.dataSource))
    throw fields.invalid('dataSources', `expected that of the spec alone, "${config.dataSource}"`);
  return { id, suspended: fields.boolean('suspended', false), config };
}

/** The spec as it is stored and shown. */
export function compactionDocument({ id, suspended, config }: CompactionSupervisor): Readonly<Record<string, unknown>> {
  return { type: COMPACTION_SUPERVISOR, id, spec: config, suspended, dataSources: [config.dataSource] };
}

/** Supervisors that were not terminated, by id. One whose document cannot be read is a fault of the metadata. */
export async function activeCompactionSupervisors(queries: Queries): Promise<readonly CompactionSupervisor[]> {
  return (await activeSupervisors(queries)).flatMap(({ id, document }) => {
    if (document === null || !document.includes(COMPACTION_SUPERVISOR)) return [];
    const read = (value: unknown): CompactionSupervisor | null => (isCompactionSpec(value) ? parseCompactionSupervisor(value) : null);
    return queries.faults.read({ table: 'supervisors', column: 'payload', key: id }, document, read, parseJson) ?? [];
  });
}
