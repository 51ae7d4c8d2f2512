// Merges tables that have spilled, partition by partition (decision 10).

import { assert } from '../../../base/errors.js';
import type { Address } from '../../../base/layout.js';
import type { Scratch } from '../../block/context.js';
import { SpillFile } from '../../spill/spill-file.js';
import { NO_VALUES } from '../key/key-pool.js';
import type { GroupTableParts, SpilledChunk } from '../table/group-parts.js';
import { GroupTable } from '../table/group-table.js';
import { freeParts, mergeTable, type Remaps, SAME_IDS } from '../table/merge-tables.js';
import { GroupSpill, pairBytes, readChunk } from './group-spill.js';
import { PARTITIONS } from './partition.js';

/** Partitions of partitions of ...: each level divides what did not fit once more. */
const LEVELS_MAX = 6;

/** Chunks of one file, and what their ids of interned values are in the tables they are merged into. */
interface ChunkSource {
  readonly file: SpillFile;
  readonly chunks: readonly SpilledChunk[];
  readonly remaps: Remaps;
}

/**
 * The groups of tables of which some have spilled, as one table per partition: each group is in one of them. A table is
 * to be used before the next is asked for. Frees `others`; `table` stays the caller's and is empty afterwards.
 */
export function* mergeSpilled(scope: Scratch, table: GroupTable, others: readonly GroupTableParts[]): Generator<GroupTable> {
  const { context, layout } = table;
  const { spill } = context;
  assert(spill !== undefined, 'groups that were spilled have a place to be spilled to');
  const waiting = [...others];
  const files: SpillFile[] = [];
  const sources: ChunkSource[] = [];
  try {
    for (let parts = waiting.shift(); parts !== undefined; parts = waiting.shift()) {
      try {
        const remaps = remapsInto(scope, table, parts);
        if (parts.spilled !== null) {
          const file = SpillFile.open(parts.spilled.path, spill);
          files.push(file);
          sources.push({ file, chunks: parts.spilled.chunks, remaps });
        }
        const rest = new GroupSpill(layout, context, spill);
        files.push(rest.file);
        rest.write(parts, 0);
        sources.push({ file: rest.file, chunks: rest.chunks, remaps });
      } finally {
        freeParts(context, parts);
      }
    }
    const own = table.spill(0);
    table.freeMemory();
    sources.push({ file: own.file, chunks: own.chunks, remaps: SAME_IDS });
    for (let partition = 0; partition < PARTITIONS; partition++) {
      const found = sources.map((source) => ({ ...source, chunks: source.chunks.filter((chunk) => chunk.partition === partition) }));
      yield* mergePartition(scope, table, found, 1);
    }
  } finally {
    for (const parts of waiting) freeParts(context, parts);
    for (const file of files) file.remove();
  }
}

/** @param level  how many times the groups were partitioned before */
function* mergePartition(scope: Scratch, like: GroupTable, sources: readonly ChunkSource[], level: number): Generator<GroupTable> {
  if (sources.every(({ chunks }) => chunks.length === 0)) return;
  const { context, layout } = like;
  const table = new GroupTable(layout, context, like);
  try {
    for (const { file, chunks, remaps } of sources) {
      for (const chunk of chunks) {
        context.check();
        const isTooMuch = table.bytesWith(chunk.groupCount, pairBytes(layout, chunk.pairCounts)) > context.groupBytesMax;
        if (isTooMuch && table.canSpill && level < LEVELS_MAX) table.spill(level);
        mergeTable(table, readChunk(layout, context, file, chunk), remaps);
      }
    }
    if (!table.hasSpilled) {
      yield table;
      return;
    }
    const { file, chunks } = table.spill(level);
    table.freeMemory();
    for (let partition = 0; partition < PARTITIONS; partition++) {
      const found = chunks.filter((chunk) => chunk.partition === partition);
      yield* mergePartition(scope, like, [{ file, chunks: found, remaps: SAME_IDS }], level + 1);
    }
  } finally {
    table.free();
  }
}

/** Ids in `table` of the values that another thread interned. */
function remapsInto(scope: Scratch, table: GroupTable, parts: GroupTableParts): Remaps {
  const { layout } = table;
  const keys = layout.keys.map(
    (key, index): Address => (key.domain.kind === 'interned' ? (table.pools[index]?.add(scope, parts.pools[index] ?? NO_VALUES) ?? 0) : 0),
  );
  const distinct = layout.aggregators.map(
    (aggregator, index): Address =>
      aggregator.kind === 'distinct' && aggregator.domain.kind === 'interned'
        ? (table.distinctPools[index]?.add(scope, parts.distinctPools[index] ?? NO_VALUES) ?? 0)
        : 0,
  );
  return { keys: (index) => keys[index] ?? 0, distinct: (index) => distinct[index] ?? 0 };
}
