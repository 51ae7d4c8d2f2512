// Offsets at which a group of tasks begins.

import { ServiceError } from '../../../base/errors.js';
import type { SupervisorSpec } from '../../../ingestion/stream/supervisor-spec.js';
import { fencedTransaction } from '../../../metadata/leadership.js';
import { claimOffsets, findOffsets, resetOffsets } from '../../../metadata/stream-offsets.js';
import { KINESIS_END_OF_SHARD, type Offsets, type StreamPosition, startAfter, without } from '../../../model/stream/offsets.js';
import type { SupervisorHost } from './contract.js';
import type { StreamView } from './stream-view.js';

interface Parts {
  readonly spec: SupervisorSpec;
  readonly host: SupervisorHost;
}

/**
 * Beginning of a group: behind groups that publish, else at the stored offsets, else where the spec says, which is stored before anything
 * is read: so what is published first must begin there.
 * @param next  ends of groups that publish
 * @throws ServiceError when stored offsets are gone from the stream, after they were forgotten where the spec asks for that
 */
export async function startOf(
  partitions: readonly string[],
  stored: StreamPosition | undefined,
  next: Offsets,
  { spec, host, stream: view }: Parts & { readonly stream: StreamView },
): Promise<StreamPosition> {
  const { id, dataSource, kind, io, tuning } = spec;
  const { stream } = io.source;
  const isSame = stored !== undefined && stored.stream === stream && stored.kind === kind;
  const ended: StreamPosition = { kind, stream, offsets: pick(partitions, next), exclusive: new Set() };
  const rest = partitions.filter((partition) => !ended.offsets.has(partition));
  const kept: StreamPosition = { ...ended, offsets: isSame ? pick(rest, stored.offsets) : new Map() };
  if (!tuning.skipOffsetCheck) await checkStored(kept.offsets, view, { spec, host });
  const fresh = rest.filter((partition) => !kept.offsets.has(partition));
  const first = startAfter({ ...ended, offsets: fresh.length === 0 ? new Map() : await view.firstOffsets(fresh) });
  if (first.offsets.size > 0)
    await fencedTransaction(host.database, host.fence(), (queries) => claimOffsets(queries, id, dataSource, first));
  const exclusive = new Set([...startAfter(ended).exclusive, ...(isSame ? stored.exclusive : []), ...first.exclusive]);
  const offsets = new Map([...ended.offsets, ...kept.offsets, ...first.offsets]);
  for (const [partition, offset] of offsets) if (offset === KINESIS_END_OF_SHARD) offsets.delete(partition);
  return { kind, stream, offsets, exclusive: new Set([...exclusive].filter((partition) => offsets.has(partition))) };
}

async function checkStored(offsets: Offsets, view: StreamView, parts: Parts): Promise<void> {
  const gone = offsets.size === 0 ? [] : await view.gone(offsets);
  if (gone.length === 0) return;
  const places = gone.map((partition) => `${offsets.get(partition)} of partition ${partition}`).join(', ');
  const text = `the stream does not have the stored offset ${places} any more`;
  if (!parts.spec.tuning.resetOffsetAutomatically)
    throw new ServiceError('input_unreadable', `${text}; reset the supervisor, or set resetOffsetAutomatically`);
  await forgetOffsets(gone, parts);
  throw new ServiceError('input_unreadable', `${text}; it is forgotten (resetOffsetAutomatically)`);
}

/** Removes the stored offsets of partitions. */
export async function forgetOffsets(partitions: Iterable<string>, { spec: { id, dataSource }, host }: Parts): Promise<void> {
  const lost = [...partitions];
  await fencedTransaction(host.database, host.fence(), async (queries) => {
    const stored = await findOffsets(queries, id);
    if (stored !== undefined) await resetOffsets(queries, id, dataSource, without(stored, lost));
  });
}

function pick(partitions: readonly string[], offsets: Offsets): Map<string, string> {
  const picked = new Map<string, string>();
  for (const partition of partitions) {
    const offset = offsets.get(partition);
    if (offset !== undefined) picked.set(partition, offset);
  }
  return picked;
}
