import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { segmentIdText } from '../../src/model/segment-id.js';
import type { SegmentPin } from '../../src/storage/contract.js';
import type { RunStorageJob } from '../../src/storage/jobs.js';
import type { GlobalDictionaryView } from '../../src/storage/view.js';
import type { Table } from './table.js';
import { DAY, descriptorOf, type Workbench, writeTable } from './workbench.js';

/** Counts jobs by name, and holds those of one name back until told. */
export function countedJobs(): { counts: Map<string, number>; wrap: (run: RunStorageJob) => RunStorageJob } {
  const counts = new Map<string, number>();
  const wrap =
    (run: RunStorageJob): RunStorageJob =>
    async (name, request) => {
      counts.set(name, (counts.get(name) ?? 0) + 1);
      await new Promise((resolve) => setImmediate(resolve));
      return await run(name, request);
    };
  return { counts, wrap };
}

export async function open(
  bench: Workbench,
  table: Table,
  options: { partitionNumber?: number; dataSource?: string; dimensions?: string[] } = {},
): Promise<string> {
  const file = join(bench.directory, `${options.dataSource ?? 'test'}-${options.partitionNumber ?? 0}.segment`);
  const descriptor = descriptorOf(await writeTable(file, table, options.dimensions ?? []), options);
  await bench.store.open(file, descriptor);
  return segmentIdText(descriptor.id);
}

export const times = (rows: number): Table[string] => ({
  kind: 'long',
  cells: Array.from({ length: rows }, (_, row) => BigInt(DAY.start + row)),
});

export function globalOf(pin: SegmentPin, column = 's'): GlobalDictionaryView {
  const global = pin.dictionaries[column];
  assert.ok(global);
  return global;
}

export async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    assert.instance(error, ServiceError);
    return (error as ServiceError).code;
  }
  return 'none';
}
