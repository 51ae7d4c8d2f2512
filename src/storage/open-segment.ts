// An open segment and its columns in memory.

import { assert, ServiceError } from '../base/errors.js';
import type { Interval } from '../base/instant.js';
import type { ColumnSchema } from '../model/schema.js';
import type { SegmentAnalysis, SegmentDescriptor } from '../model/segment.js';
import { segmentIdText } from '../model/segment-id.js';
import { analyzeFooter } from './analysis.js';
import type { BufferPool, Resident } from './buffer-pool.js';
import type { SegmentFile } from './codecs/array-decoder.js';
import { uploadOf, viewOfStored } from './columns/views.js';
import type { UnloadedColumn } from './contract.js';
import { columnOfField, fieldName } from './field-name.js';
import { type Footer, type StoredColumn, schemaOf, storedBytes } from './format.js';
import type { GlobalDictionary } from './global-dictionaries.js';
import type { RunStorageJob } from './jobs.js';
import type { OpenFiles } from './open-files.js';
import type { PinnedColumn } from './read-segment.js';
import type { StoreSegment } from './store-segment.js';
import type { ColumnView, DictionaryView } from './view.js';

/** Segments of more rows are worth reading by themselves. */
const SMALL_ROWS = 4096;

/** A column that is asked for more often is loaded: scanning its ids in memory costs less than its index in the file. */
const INDEX_USES_MAX = 3;

/** Segment files that were ever opened in this process. */
let opened = 0;

/** A verified segment file and its columns in kernel memory. Closed when nobody uses it any more. */
export class OpenSegment implements StoreSegment {
  readonly id: string;
  /** Differs from that of any segment that was ever open in this process. */
  readonly serial = opened++;
  readonly descriptor: SegmentDescriptor;
  readonly footer: Footer;
  readonly #file: string;
  readonly #files: OpenFiles;
  readonly #onDamage: (error: ServiceError) => void;
  readonly #resident: BufferPool;
  readonly #run: RunStorageJob;
  readonly #columns: ReadonlyMap<string, StoredColumn>;
  readonly #views = new WeakMap<Resident, ColumnView>();
  readonly #keys = new Map<string, string>();
  /** Number of times the index of a column was used instead of the column, since it was loaded last. */
  readonly #indexUses = new Map<string, number>();
  #users = 0;
  #isOpen = true;
  #onUnused: (() => void) | null = null;

  constructor(parts: {
    readonly descriptor: SegmentDescriptor;
    readonly footer: Footer;
    readonly file: string;
    readonly files: OpenFiles;
    readonly resident: BufferPool;
    readonly run: RunStorageJob;
    /** Called when the file is damaged or gone. */
    readonly onDamage: (error: ServiceError) => void;
  }) {
    this.id = segmentIdText(parts.descriptor.id);
    this.descriptor = parts.descriptor;
    this.footer = parts.footer;
    this.#file = parts.file;
    this.#files = parts.files;
    this.#onDamage = parts.onDamage;
    this.#resident = parts.resident;
    this.#run = parts.run;
    const fields = (parts.footer.fields ?? []).flatMap(({ of, path, uses, column }) =>
      uses.map((use) => [fieldName(of, path, use), column] as const),
    );
    this.#columns = new Map([...fields, ...parts.footer.columns.map((column) => [column.name, column] as const)]);
  }

  /** Whether the segment is not being closed. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Whether somebody keeps it open. */
  get isUsed(): boolean {
    return this.#users > 0;
  }

  get schema(): ColumnSchema[] {
    return this.footer.columns.map((column) => schemaOf(column, this.footer.rowCount));
  }

  get dataSource(): string {
    return this.descriptor.id.dataSource;
  }

  get interval(): Interval {
    return this.descriptor.id.interval;
  }

  get rowCount(): number {
    return this.footer.rowCount;
  }

  /** Whether it is better read together with its neighbours (`combined/`). */
  get isSmall(): boolean {
    return this.footer.rowCount <= SMALL_ROWS;
  }

  get timeMin(): number {
    return this.footer.timeMin;
  }

  get timeMax(): number {
    return this.footer.timeMax;
  }

  kindOf(name: string): StoredColumn['kind'] | undefined {
    return this.#columns.get(name)?.kind;
  }

  /** Type of a stored column, of all its kinds; undefined when it has no such column. */
  typeOf(name: string): string | undefined {
    const column = this.#columns.get(name);
    if (column === undefined) return undefined;
    return column.kind === 'number' ? column.type : (column.type ?? 'STRING');
  }

  isAmong(segmentIds: ReadonlySet<string>): boolean {
    return segmentIds.has(this.id);
  }

  /** See `ReadSegment.pin`. */
  pin(name: string): Promise<PinnedColumn> {
    const column = this.#columns.get(name);
    assert(column !== undefined, `segment ${this.id} has a column ${name}`);
    return this.pinColumn(column);
  }

  /** Whether every row does. */
  liesIn(intervals: readonly Interval[]): boolean {
    const { timeMin, timeMax } = this.footer;
    return intervals.some(({ start, end }) => start <= timeMin && end > timeMax);
  }

  /** Keeps the segment open until the matching `letGo`. */
  use(): void {
    this.#users++;
  }

  letGo(): void {
    if (--this.#users === 0) this.#onUnused?.();
  }

  /** `undefined` when the segment has no such column or field. */
  find(column: string): StoredColumn | undefined {
    return this.#columns.get(column);
  }

  /** The stored column to read for a name: the column, the field, or the JSON column that would hold the field. */
  nameToRead(name: string): string {
    return this.#columns.has(name) ? name : (columnOfField(name) ?? name);
  }

  analyze(columns: readonly string[] | 'all', analyses: readonly string[]): SegmentAnalysis {
    return analyzeFooter(this.footer, this.descriptor, columns, analyses);
  }

  /** Loads a column unless it is resident; pinned for the caller. */
  async pinColumn(column: StoredColumn): Promise<PinnedColumn> {
    const { rowCount } = this.footer;
    let bytesRead = 0;
    const resident = await this.#resident.pin(this.#key('column', column.name), uploadOf(column, rowCount).bytes, async (address) => {
      // The bitmap index stays in the file.
      bytesRead = storedBytes(column.kind === 'string' ? { ...column, index: null } : column);
      this.#indexUses.delete(column.name);
      await this.#read((source) => this.#run('loadColumn', { source, rowCount, column, address }));
    });
    const view = this.#views.get(resident) ?? viewOfStored(column, rowCount, resident.address);
    this.#views.set(resident, view);
    return { resident, view, bytesRead };
  }

  /** u32 [dictionary count]: datasource-wide ids of a column that the caller has pinned; pinned too. */
  pinRemap(column: string, dictionary: DictionaryView, global: GlobalDictionary): Promise<Resident> {
    return global.pinRemap(this.#key('remap', column), dictionary);
  }

  /** See `SegmentStore.unloaded`. */
  unloaded(name: string): UnloadedColumn | null {
    const column = this.#columns.get(name);
    // Its columns are read as a whole, with those of its neighbours, sooner than an index could be.
    if (this.isSmall) return null;
    if (column?.kind !== 'string' || column.type !== undefined || this.#resident.has(this.#key('column', name))) return null;
    const { min, max, dictionary, index } = column;
    const prefersIndex = index !== null && (this.#indexUses.get(name) ?? 0) < INDEX_USES_MAX;
    return { min, max, valueCount: dictionary.count, prefersIndex };
  }

  /** See `SegmentStore.findStrings`. */
  async findStrings(name: string, texts: readonly string[]): Promise<Uint32Array> {
    const column = this.#columns.get(name);
    assert(column?.kind === 'string' && column.index !== null, `column ${name} has a bitmap index`);
    this.#indexUses.set(name, (this.#indexUses.get(name) ?? 0) + 1);
    return await this.#read((source) => this.#run('findStrings', { source, column, texts }));
  }

  /** Ascending rows of which some value is among the local dictionary `ids`; null when the column has no bitmap index. */
  async findRows(column: string, ids: readonly number[]): Promise<Uint32Array | null> {
    const stored = this.#columns.get(column);
    if (stored?.kind !== 'string' || stored.index === null) return null;
    const { index } = stored;
    return await this.#read((source) => this.#run('findRows', { source, column, index, ids }));
  }

  /** Nobody begins to use it from now on. */
  end(): void {
    this.#isOpen = false;
  }

  /** Waits for its users, then frees its columns and closes the file. */
  async close(): Promise<void> {
    this.end();
    if (this.#users > 0) await new Promise<void>((resolve) => (this.#onUnused = resolve));
    for (const { name } of this.#columns.values()) {
      this.#resident.drop(this.#key('column', name));
      this.#resident.drop(this.#key('remap', name));
    }
    this.#files.forget(this.#file);
  }

  /** Every byte was verified when the segment was opened, so the file was changed or removed since: not what the query asked for. */
  async #read<Result>(read: (source: SegmentFile) => Promise<Result>): Promise<Result> {
    try {
      return await this.#files.use(this.#file, read);
    } catch (error) {
      if (!(error instanceof ServiceError) || (error.code !== 'segment_corrupt' && error.code !== 'not_found')) throw error;
      this.#onDamage(error);
      throw new ServiceError('segments_unavailable', `segment ${this.id} was damaged on disk and is not served: ${error.message}`, error);
    }
  }

  #key(kind: 'column' | 'remap', column: string): string {
    const name = `${kind} ${column}`;
    const known = this.#keys.get(name) ?? JSON.stringify([this.id, kind, column]);
    this.#keys.set(name, known);
    return known;
  }
}
