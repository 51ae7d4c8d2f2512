// Interned values of groups that are spilled: each chunk has those that its own groups refer to.

import { deserialize, serialize } from 'node:v8';
import type { Address } from '../../../base/layout.js';
import type { Scalar } from '../../../expression/value.js';
import type { Arena } from '../../../kernels/arena.js';
import type { KernelMemory } from '../../../kernels/memory.js';
import type { RunContext, Scratch } from '../../block/context.js';
import { textsWithoutTable } from '../../block/interned-texts.js';
import type { SpilledBytes, SpillFile } from '../../spill/spill-file.js';
import type { PooledValues } from '../key/key-pool.js';

/** Values in a file: `texts` as references (u64 each), whose addresses count from the first byte behind them, and the bytes; else serialised. */
export interface SpilledValues extends SpilledBytes {
  readonly kind: PooledValues['kind'];
  readonly count: number;
}

/** Values of a pool that a chunk keeps: ids of the pool by the ids in the chunk. Null comes first. */
export interface KeptValues {
  readonly pooled: PooledValues;
  readonly ids: readonly number[];
}

const IDS_PER_CHECK = 4096;

/** The values of a pool, of which each chunk keeps some. */
export class ChunkValues {
  readonly #context: RunContext;
  readonly #pooled: PooledValues;
  /** Ids in the chunk by those of the pool; 0 for none yet. */
  readonly #idInChunk: Uint32Array;

  constructor(context: RunContext, pooled: PooledValues) {
    this.#context = context;
    this.#pooled = pooled;
    this.#idInChunk = new Uint32Array(pooled.kind === 'texts' ? pooled.count : pooled.values.length);
  }

  /** Keeps the values that ids[first], ids[first + step] and so on stand for, and replaces these by the ids in the chunk. */
  keep(ids: Uint32Array, first: number, step: number): KeptValues {
    const kept = [0];
    for (let at = first, seen = 0; at < ids.length; at += step, seen++) {
      if (seen % IDS_PER_CHECK === 0) this.#context.check();
      const id = ids[at] ?? 0;
      if (id === 0) continue;
      if (this.#idInChunk[id] === 0) this.#idInChunk[id] = kept.push(id) - 1;
      ids[at] = this.#idInChunk[id] ?? 0;
    }
    for (const id of kept) this.#idInChunk[id] = 0;
    return { pooled: this.#pooled, ids: kept };
  }
}

export function writeValues({ context, arena }: Scratch, file: SpillFile, { pooled, ids }: KeptValues): SpilledValues {
  if (pooled.kind === 'values')
    return { kind: 'values', count: ids.length, ...file.append(serialize(ids.map((id) => pooled.values[id] ?? null))) };
  const { kernels, memory } = context;
  const count = ids.length;
  const [listed, references, part] = [arena.take(count * 4), arena.take(count * 8), arena.take(8)];
  memory.u32(listed, count).set(ids);
  kernels.gather64(pooled.entries, listed, count, references);
  const bytes = kernels.textBytes(references, count);
  // The references lie before the bytes that they refer to.
  const at = arena.take(count * 8 + bytes + 16);
  const start = at + count * 8;
  memory.u32(part, 2).set([references, 8]);
  kernels.textConcat(part, 1, count, at, start);
  moveReferences(memory, at, count, -start);
  return { kind: 'texts', count, ...file.append(memory.u8(at, count * 8 + bytes)) };
}

/** Reads values back into memory of `arena`. */
export function readValues(
  { memory, arena }: { readonly memory: KernelMemory; readonly arena: Arena },
  file: SpillFile,
  { kind, count, ...place }: SpilledValues,
): PooledValues {
  if (kind === 'values') return { kind, values: deserialize(new Uint8Array(file.read(place))) as Scalar[] };
  const entries = arena.take(place.bytes + 16);
  file.readInto(place.at, memory.u8(entries, place.bytes));
  moveReferences(memory, entries, count, entries + count * 8);
  return { kind, ...textsWithoutTable(entries, count) };
}

/** Adds to the addresses of all references but the first, which is null. */
function moveReferences(memory: KernelMemory, references: Address, count: number, by: number): void {
  const halves = memory.u32(references, count * 2);
  for (let at = 2; at < halves.length; at += 2) halves[at] = (halves[at] ?? 0) + by;
}
