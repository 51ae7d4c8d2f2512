// Uploads a frame into kernel memory as a segment view.

import { assert, ServiceError } from '../base/errors.js';
import type { Address } from '../base/layout.js';
import type { KernelSet } from '../kernels/contract.js';
import type { KernelMemory } from '../kernels/memory.js';
import type { FrameColumn } from '../model/frame.js';
import { TIME_COLUMN } from '../model/schema.js';
import { physicalOf } from './codecs/elements.js';
import type { PackedColumn, SegmentFrame } from './columns/packed-column.js';
import {
  type PhysicalColumn,
  type PhysicalNumberColumn,
  type PhysicalStringColumn,
  prepareColumns,
  toPhysical,
} from './columns/physical.js';
import { sortByKernel } from './columns/sort-by-kernel.js';
import { type Region, regionsOf, uploadNumbers, uploadStrings } from './columns/upload.js';
import { numberView, stringView } from './columns/views.js';
import { clearPadding } from './jobs/load-column.js';
import { type ColumnView, NO_ROWS, type SegmentView } from './view.js';

export interface UploadedFrame {
  readonly view: SegmentView;
  /** Addresses that `release` frees, for a caller that frees them elsewhere, and their size. */
  readonly addresses: readonly Address[];
  readonly bytes: number;
  /** Frees the columns; exactly once, after which every address is void. */
  release(): void;
}

/**
 * Puts a frame's columns into kernel memory as a segment's would lie there, rows in the order given. Dictionaries
 * become distinct and sorted, numbers narrow. The view has no identity: its id and datasource are empty.
 * @param kernels  sort the strings; left out: they are sorted here
 * @throws ServiceError `resource_limit`; `unsupported` for a `__time` that has nulls or does not ascend, since
 *         execution finds time ranges by binary search
 */
export function uploadFrame(frame: SegmentFrame, memory: KernelMemory, kernels?: KernelSet): UploadedFrame {
  const addresses: Address[] = [];
  let bytes = 0;
  const release = (): void => {
    for (const address of addresses.splice(0)) memory.free(address);
  };
  const take = (size: number): Address => {
    const at = memory.allocate(size);
    addresses.push(at);
    bytes += size;
    return at;
  };
  try {
    const columns = new Map<string, ColumnView>();
    for (const prepared of prepareColumns(frame, kernels && sortByKernel(memory, kernels))) {
      const column = toPhysical(prepared, false);
      if (column.name === TIME_COLUMN) checkTime(column);
      columns.set(column.name, uploadColumn(column, frame.rowCount, memory, take).view);
    }
    const time = columns.get(TIME_COLUMN);
    const times =
      time?.kind === 'number' && time.min !== null && time.max !== null ? { timeMin: Number(time.min), timeMax: Number(time.max) } : {};
    const view = { ...NO_ROWS, ...times, rowCount: frame.rowCount, columns: Object.fromEntries(columns) };
    return { view, addresses, bytes, release };
  } catch (error) {
    release();
    throw error;
  }
}

function checkTime(column: PhysicalColumn): void {
  const isSorted =
    column.kind === 'number' &&
    column.nulls === null &&
    column.values.every((value, row) => row === 0 || value >= (column.values[row - 1] ?? value));
  if (!isSorted)
    throw new ServiceError(
      'unsupported',
      `column ${TIME_COLUMN} of rows that are not in a segment: expected instants that ascend and are never null`,
    );
}

/**
 * One column of such rows, in an allocation of its own that is the caller's to free.
 * @param options.keptForLong  whether doubles are looked at closely (`toPhysical`)
 * @throws ServiceError `resource_limit`
 */
export function uploadFrameColumn(
  column: FrameColumn | PackedColumn,
  rowCount: number,
  memory: KernelMemory,
  { kernels, keptForLong }: { readonly kernels: KernelSet; readonly keptForLong: boolean },
): { readonly view: ColumnView; readonly address: Address; readonly bytes: number } {
  const [prepared] = prepareColumns({ rowCount, columns: [column] }, sortByKernel(memory, kernels));
  assert(prepared !== undefined, 'a frame of one column has one');
  return uploadColumn(toPhysical(prepared, keptForLong), rowCount, memory, (size) => memory.allocate(size));
}

type Take = (bytes: number) => Address;

/**
 * A column in its stored form.
 * @param take  gives the memory, once; it is the caller's to free
 */
export function uploadColumn(
  column: PhysicalColumn,
  rowCount: number,
  memory: KernelMemory,
  take: Take,
): { readonly view: ColumnView; readonly address: Address; readonly bytes: number } {
  let [address, bytes]: [Address, number] = [0, 0];
  const taken = (size: number): Address => {
    bytes = size;
    address = take(size);
    return address;
  };
  const view =
    column.kind === 'number' ? uploadNumberColumn(column, rowCount, memory, taken) : uploadStringColumn(column, rowCount, memory, taken);
  return { view, address, bytes };
}

function uploadNumberColumn(column: PhysicalNumberColumn, rowCount: number, memory: KernelMemory, take: Take): ColumnView {
  const { type, base, power, min, max, values, nulls, ranges } = column;
  const physical = physicalOf(values);
  const placement = uploadNumbers({ physical, rowCount, hasNulls: nulls !== null });
  const at = take(placement.bytes);
  copyTo(memory, at, placement.values, values);
  if (nulls !== null && placement.nulls !== null)
    copyTo(memory, at, placement.nulls, new Uint8Array(nulls.buffer, nulls.byteOffset, placement.nulls.used));
  copyTo(memory, at, placement.ranges, ranges);
  clearPadding(at, regionsOf(placement), memory);
  return numberView({ type, physical, base, power, min, max }, placement, at);
}

function uploadStringColumn(column: PhysicalStringColumn, rowCount: number, memory: KernelMemory, take: Take): ColumnView {
  const { ids, ends, dictionary } = column;
  const { count, hasNull } = dictionary;
  const physical = physicalOf(ids);
  const placement = uploadStrings({
    physical,
    rowCount,
    idCount: ids.length,
    isMultiValue: ends !== null,
    dictionaryCount: count,
    textBytes: dictionary.bytes.length,
  });
  const at = take(placement.bytes);
  clearPadding(at, regionsOf(placement), memory);
  copyTo(memory, at, placement.ids, ids);
  if (ends !== null && placement.offsets !== null) copyOffsets(memory, at + placement.offsets.at, ends);
  copyOffsets(memory, at + placement.dictionaryOffsets.at, dictionary.ends);
  copyTo(memory, at, placement.text, dictionary.bytes);
  return stringView(column.type, physical, { count, hasNull }, placement, at);
}

function copyTo(memory: KernelMemory, column: Address, region: Region, values: ArrayBufferView): void {
  memory.u8(column + region.at, region.used).set(new Uint8Array(values.buffer, values.byteOffset, region.used));
}

function copyOffsets(memory: KernelMemory, at: Address, ends: Uint32Array): void {
  const offsets = memory.u32(at, ends.length + 1);
  offsets[0] = 0;
  offsets.set(ends, 1);
}
