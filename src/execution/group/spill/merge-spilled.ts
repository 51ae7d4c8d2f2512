// Merges tables that have spilled, partition by partition (decision 10).

import { assert } from '../../../base/errors.js';
import { SpillFile } from '../../spill/spill-file.js';
import type { GroupTableParts, SpilledChunk } from '../table/group-parts.js';
import { GroupTable } from '../table/group-table.js';
import { freeParts, mergeTable } from '../table/merge-tables.js';
import { bytesWith } from '../table/table-bytes.js';
import { GroupSpill, pairBytes, pooledBytes, readChunk } from './group-spill.js';
import { PARTITIONS } from './partition.js';

/** Partitions of partitions of ...: each level divides what did not fit once more. */
const LEVELS_MAX = 6;

/** Chunks of one file. */
interface ChunkSource {
  readonly file: SpillFile;
  readonly chunks: readonly SpilledChunk[];
}

/**
 * The groups of tables of which some have spilled, as one table per partition: each group is in one of them. A table is
 * to be used before the next is asked for. Frees `others`; `table` stays the caller's and is empty afterwards.
 */
export function* mergeSpilled(table: GroupTable, others: readonly GroupTableParts[]): Generator<GroupTable> {
  const { context, layout } = table;
  const { spill } = context;
  assert(spill !== undefined, 'groups that were spilled have a place to be spilled to');
  const waiting = [...others];
  const files: SpillFile[] = [];
  const sources: ChunkSource[] = [];
  try {
    for (let parts = waiting.shift(); parts !== undefined; parts = waiting.shift()) {
      try {
        if (parts.spilled !== null) {
          const file = SpillFile.open(parts.spilled.path, spill);
          files.push(file);
          sources.push({ file, chunks: parts.spilled.chunks });
        }
        const rest = new GroupSpill(layout, context, spill);
        files.push(rest.file);
        rest.write(parts, 0);
        sources.push({ file: rest.file, chunks: rest.chunks });
      } finally {
        freeParts(context, parts);
      }
    }
    const own = table.spill(0);
    table.freeMemory();
    sources.push({ file: own.file, chunks: own.chunks });
    for (let partition = 0; partition < PARTITIONS; partition++) {
      const found = sources.map((source) => ({ ...source, chunks: source.chunks.filter((chunk) => chunk.partition === partition) }));
      yield* mergePartition(table, found, 1);
    }
  } finally {
    for (const parts of waiting) freeParts(context, parts);
    for (const file of files) file.remove();
  }
}

/** A table of few groups takes up to so much: to partition these again would make room by nothing. */
const SMALLEST_TABLE_BYTES = 2 << 20;

/** @param level  how many times the groups were partitioned before */
function* mergePartition({ layout, context }: GroupTable, sources: readonly ChunkSource[], level: number): Generator<GroupTable> {
  if (sources.every(({ chunks }) => chunks.length === 0)) return;
  const table = new GroupTable(layout, context);
  const bytesMax = Math.max(context.groupBytesMax, SMALLEST_TABLE_BYTES);
  try {
    for (const { file, chunks } of sources) {
      for (const chunk of chunks) {
        context.check();
        const values = [...chunk.pools, ...chunk.distinctPools].reduce((most, pool) => Math.max(most, pool?.count ?? 0), 0);
        const content = pairBytes(layout, chunk.pairCounts) + pooledBytes(chunk);
        const isTooMuch = bytesWith(table, chunk.groupCount, { content, values }) > bytesMax;
        if (isTooMuch && table.canSpill && level < LEVELS_MAX) table.spill(level);
        mergeTable(table, readChunk(layout, context, file, chunk));
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
      yield* mergePartition(table, [{ file, chunks: found }], level + 1);
    }
  } finally {
    table.free();
  }
}
