// Rows that are in memory only, as a segment of a store: those of a live segment.

import { assert, ServiceError } from '../base/errors.js';
import type { Interval } from '../base/instant.js';
import type { KernelMemory } from '../kernels/memory.js';
import type { ColumnSchema } from '../model/schema.js';
import type { SegmentAnalysis, SegmentDescriptor, SegmentId } from '../model/segment.js';
import { segmentIdText } from '../model/segment-id.js';
import { analyzeFooter } from './analysis.js';
import type { BufferPool, Resident } from './buffer-pool.js';
import { extremesOf } from './columns/dictionary.js';
import { type PhysicalColumn, toPhysical } from './columns/physical.js';
import type { SegmentInput, UnloadedColumn } from './contract.js';
import { columnOfField } from './field-name.js';
import { type Footer, type StoredArray, type StoredColumn, schemaOf } from './format.js';
import type { GlobalDictionary } from './global-dictionaries.js';
import type { PinnedColumn } from './read-segment.js';
import { footerOf, rowsInOrder } from './segment-writer.js';
import type { StoreSegment } from './store-segment.js';
import { uploadColumn } from './uploaded-frame.js';
import type { ColumnView, DictionaryView } from './view.js';

/** An array of a column that is in no file. */
const NO_ARRAY: StoredArray = { physical: 'U8', length: 0, blockLength: 1, start: 0, bytes: [], checksums: [] };

/** Memory that columns of held rows are brought into when they are read. */
export interface HeldRowsParts {
  readonly resident: BufferPool;
  readonly memory: KernelMemory;
}

/**
 * Rows in the form that a file would hold them in, narrowed and with sorted dictionaries, without the file. They do not change: what
 * is added to a live segment comes as further rows. A column is brought into kernel memory when it is first read; when it gives way
 * there to others, it is brought in again.
 */
export class HeldRows implements StoreSegment {
  readonly id: string;
  readonly dataSource: string;
  readonly interval: Interval;
  readonly rowCount: number;
  readonly timeMin: number;
  readonly timeMax: number;
  readonly schema: readonly ColumnSchema[];
  /** Combined segments are made of files. */
  readonly isSmall = false;
  readonly #footer: Footer;
  readonly #columns: ReadonlyMap<string, PhysicalColumn>;
  readonly #resident: BufferPool;
  readonly #memory: KernelMemory;
  readonly #views = new WeakMap<Resident, ColumnView>();
  readonly #described: SegmentId;
  #users = 0;
  #isOpen = true;
  #onUnused: (() => void) | null = null;

  /** @param id  nobody else's in this process */
  constructor(id: SegmentId, input: SegmentInput, parts: HeldRowsParts) {
    const columns = rowsInOrder(input).map((column) => toPhysical(column, false));
    this.#columns = new Map(columns.map((column) => [column.name, column]));
    this.#footer = footerOf(input, columns.map(factsOf), []);
    this.#described = id;
    this.#resident = parts.resident;
    this.#memory = parts.memory;
    this.id = segmentIdText(id);
    this.dataSource = id.dataSource;
    this.interval = id.interval;
    this.rowCount = input.frame.rowCount;
    this.timeMin = this.#footer.timeMin;
    this.timeMax = this.#footer.timeMax;
    this.schema = this.#footer.columns.map((column) => schemaOf(column, this.rowCount));
  }

  /** Bytes that the rows take outside of kernel memory. */
  get heldBytes(): number {
    let bytes = 0;
    for (const column of this.#columns.values())
      bytes +=
        column.kind === 'number'
          ? column.values.byteLength + (column.nulls?.byteLength ?? 0)
          : column.ids.byteLength + (column.ends?.byteLength ?? 0) + column.dictionary.bytes.length + column.dictionary.ends.byteLength;
    return bytes;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get isUsed(): boolean {
    return this.#users > 0;
  }

  kindOf(name: string): StoredColumn['kind'] | undefined {
    return this.#columns.get(name)?.kind;
  }

  nameToRead(name: string): string {
    return this.#columns.has(name) ? name : (columnOfField(name) ?? name);
  }

  isAmong(segmentIds: ReadonlySet<string>): boolean {
    return segmentIds.has(this.id);
  }

  liesIn(intervals: readonly Interval[]): boolean {
    return intervals.some(({ start, end }) => start <= this.timeMin && end > this.timeMax);
  }

  async pin(name: string): Promise<PinnedColumn> {
    const column = this.#columns.get(name);
    assert(column !== undefined, `segment ${this.id} has a column ${name}`);
    const key = this.#key('column', name);
    const resident = this.#resident.find(key);
    const known = resident && this.#views.get(resident);
    if (resident !== undefined && known !== undefined) return { resident, view: known, bytesRead: 0 };
    return this.#upload(key, column);
  }

  pinRemap(name: string, dictionary: DictionaryView, global: GlobalDictionary): Promise<Resident> {
    return global.pinRemap(this.#key('remap', name), dictionary);
  }

  unloaded(): UnloadedColumn | null {
    return null;
  }

  async findRows(): Promise<Uint32Array | null> {
    return null;
  }

  async findStrings(name: string): Promise<Uint32Array> {
    throw new ServiceError('internal', `column ${name} of segment ${this.id} has no bitmap index`);
  }

  analyze(columns: readonly string[] | 'all', analyses: readonly string[]): SegmentAnalysis {
    return analyzeFooter(this.#footer, { id: this.#described, sizeBytes: 0 } as SegmentDescriptor, columns, analyses);
  }

  use(): void {
    this.#users++;
  }

  letGo(): void {
    if (--this.#users === 0) this.#onUnused?.();
  }

  end(): void {
    this.#isOpen = false;
  }

  async close(): Promise<void> {
    this.end();
    if (this.#users > 0) await new Promise<void>((resolve) => (this.#onUnused = resolve));
    for (const name of this.#columns.keys()) {
      this.#resident.drop(this.#key('column', name));
      this.#resident.drop(this.#key('remap', name));
    }
  }

  #upload(key: string, column: PhysicalColumn): PinnedColumn {
    let reserved = 0;
    const take = (bytes: number): number => {
      this.#resident.reserve(bytes);
      reserved = bytes;
      return this.#memory.allocate(bytes);
    };
    try {
      const { view, address, bytes } = uploadColumn(column, this.rowCount, this.#memory, take);
      reserved = 0;
      const resident = this.#resident.adopt(key, address, bytes);
      this.#views.set(resident, view);
      return { resident, view, bytesRead: 0 };
    } finally {
      this.#resident.unreserve(reserved);
    }
  }

  #key(kind: 'column' | 'remap', column: string): string {
    return JSON.stringify([this.id, kind, column]);
  }
}

/** The description of a column as a file has it, of arrays that take no bytes. */
function factsOf(column: PhysicalColumn): StoredColumn {
  if (column.kind === 'number') {
    const { name, type, base, power, min, max, nulls } = column;
    const [least, greatest] = [min, max].map((value) => (value === null ? null : String(value)));
    const mask = nulls === null ? null : NO_ARRAY;
    return {
      kind: 'number',
      name,
      type,
      base: String(base),
      power,
      min: least ?? null,
      max: greatest ?? null,
      values: NO_ARRAY,
      nulls: mask,
      ranges: NO_ARRAY,
    };
  }
  const { name, type, hasNulls, ends, dictionary } = column;
  const { count, hasNull } = dictionary;
  return {
    kind: 'string',
    name,
    ...(type === 'STRING' ? {} : { type }),
    hasNulls,
    ...extremesOf(dictionary),
    ids: NO_ARRAY,
    ends: ends === null ? null : NO_ARRAY,
    dictionary: { count, hasNull, ends: NO_ARRAY, text: NO_ARRAY },
    index: null,
  };
}
