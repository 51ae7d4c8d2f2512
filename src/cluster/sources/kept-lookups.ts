// Right sides of joins that are lookups, and rows of these, as they lie in memory between queries.

import type { CancelSignal } from '../../base/cancel-signal.js';
import { ServiceError } from '../../base/errors.js';
import type { Engine, RunOptions, UploadedRows } from '../../execution/run/engine.js';
import { printExpression } from '../../expression/print.js';
import type { Frame } from '../../model/frame.js';
import type { JoinSource, RowSource } from '../../model/row-source.js';
import type { BuildRequest } from '../../model/upload.js';
import type { LookupRows } from '../lookups/lookup-store.js';
import type { KeptUploads } from './kept-uploads.js';
import { BYTES_LIMIT, unlessFull } from './row-limits.js';

export interface KeepingLookups {
  readonly engine: Pick<Engine, 'build'>;
  /** Rows of a lookup; throws `query_invalid` when there is none of the name. */
  readonly lookup: (name: string) => LookupRows;
  /** Keeps rows of lookups in memory between queries; left out: nobody does. */
  readonly kept?: KeptUploads;
  readonly runOptions: Omit<RunOptions, 'ending'>;
  readonly signal: CancelSignal;
}

/**
 * The right side of a join that is a lookup by itself; undefined for any other.
 * @param rows  those of the side, read where it is not kept already
 */
export async function keptSide(
  { engine, kept, lookup, runOptions, signal }: KeepingLookups,
  { right, keys, needed }: JoinSource & { readonly needed: readonly string[] },
  side: BuildRequest,
  rows: () => AsyncIterable<Frame>,
): Promise<UploadedRows | undefined> {
  if (kept === undefined || right.kind !== 'lookup') return undefined;
  const parts = keys.flatMap(({ right: key, type }) => (key.kind === 'column' && type === 'STRING' ? [key.name] : []));
  if (parts.length < keys.length) return undefined;
  const orders = (side.ranges ?? []).map(({ build, probe, operator, type }) => [
    printExpression(build),
    printExpression(probe),
    operator,
    type,
  ]);
  const form = JSON.stringify([parts, keys.map(({ nullsMeet }) => nullsMeet === true), needed, orders, side.keysOnly]);
  for (;;) {
    const digest = lookup(right.name).table?.digest;
    if (digest === undefined) return undefined;
    let hasChanged = false;
    const make = async (): Promise<UploadedRows> => {
      const built = await engine.build(rows(), side, { ...runOptions, ending: 'final' }, signal);
      hasChanged = lookup(right.name).table?.digest !== digest;
      if (!hasChanged) return built;
      built.release();
      throw new ServiceError('unavailable', `the lookup ${right.name} has changed while it was read`);
    };
    try {
      return await kept.take({ name: right.name, digest }, form, make, signal);
    } catch (error) {
      if (!hasChanged) throw error;
    }
  }
}

/** All rows of a lookup; undefined where rows begin with something else, or do not fit into so many bytes. */
export async function keptEntries(
  { engine, kept, lookup, runOptions, signal }: KeepingLookups,
  base: RowSource,
  bytesMax: number,
): Promise<UploadedRows | undefined> {
  if (kept === undefined || base.kind !== 'lookup') return undefined;
  const { table, frames } = lookup(base.name);
  if (table === undefined) return undefined;
  const side = { keys: [], keysOnly: false, marked: false, bytesMax, limit: BYTES_LIMIT };
  const make = () => engine.build(frames(), side, { ...runOptions, ending: 'final' }, signal);
  // They can be read chunk by chunk as well.
  return unlessFull(() => kept.take({ name: base.name, digest: table.digest }, 'entries', make, signal));
}
