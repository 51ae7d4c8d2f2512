// Reads what the workers of a stage have left in durable storage.

import type { Frame } from '../../../model/frame.js';
import type { TaskContext } from '../../contract.js';
import type { PartitionSlice, StageOutput } from './contract.js';
import { type FileRange, framesAt, type PartitionIndex, readIndex } from './stage-output.js';

type Storage = Pick<TaskContext['storage'], 'read'>;

/** The rows of partitions from all outputs of a stage, partition after partition. */
export async function* stageFrames(
  outputs: readonly StageOutput[],
  partitions: readonly PartitionSlice[],
  storage: Storage,
): AsyncGenerator<Frame> {
  for await (const { frame } of sliceFrames(outputs, partitions, storage)) yield frame;
}

/** The same, each frame with the slice that it was read for: all rows of a partition come for slices of its ranges. */
export async function* sliceFrames(
  outputs: readonly StageOutput[],
  partitions: readonly PartitionSlice[],
  storage: Storage,
): AsyncGenerator<{ readonly frame: Frame; readonly of: PartitionSlice }> {
  const opened = await Promise.all(outputs.map((output) => openOutput(output, storage)));
  for (const of of partitions) {
    const { partition, slice, slices } = of;
    let before = 0;
    for (const { index, read } of opened) {
      const first = before;
      const all = index.get(partition)?.frames ?? [];
      before += all.length;
      const own = all.filter((_, at) => (first + at) % slices === slice);
      for await (const frame of framesAt(own, read)) yield { frame, of };
    }
  }
}

/** All of a partition. */
export function wholePartition(partition: number): PartitionSlice {
  return { partition, slice: 0, slices: 1 };
}

/** The partitions of all outputs of a stage, ascending, with their rows. */
export async function partitionsIn(
  outputs: readonly StageOutput[],
  storage: Storage,
): Promise<readonly { readonly partition: number; readonly rowCount: number }[]> {
  const rows = new Map<number, number>();
  for (const output of outputs) {
    const { index } = await openOutput(output, storage);
    for (const [partition, { rowCount }] of index) rows.set(partition, (rows.get(partition) ?? 0) + rowCount);
  }
  return [...rows].sort(([a], [b]) => a - b).map(([partition, rowCount]) => ({ partition, rowCount }));
}

export async function bytesOf(storage: Storage, loadSpec: StageOutput['loadSpec'], range: FileRange): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of storage.read(loadSpec, range)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function openOutput(
  { loadSpec, index }: StageOutput,
  storage: Storage,
): Promise<{ readonly index: PartitionIndex; readonly read: (range: FileRange) => Promise<Uint8Array> }> {
  const read = (range: FileRange): Promise<Uint8Array> => bytesOf(storage, loadSpec, range);
  return { index: await readIndex(index, read), read };
}
