// Applies the transforms and the filter of a spec to batches of rows.

import { ServiceError } from '../../base/errors.js';
import { ETERNITY } from '../../base/instant.js';
import { stringifyJson } from '../../base/json.js';
import { createByName } from '../../base/names.js';
import type { VirtualColumn } from '../../model/aggregator.js';
import { columnsOfExpression, columnsOfFilter } from '../../model/columns-read.js';
import type { Expression } from '../../model/expression.js';
import type { Filter } from '../../model/filter.js';
import { cellAt, type Frame } from '../../model/frame.js';
import type { ScanPlan } from '../../model/plan.js';
import { ARRIVAL_TIME, withArrivalTime } from '../../model/rewrite/arrival-time.js';
import { renameExpression, renameFilter } from '../../model/rewrite/plan-names.js';
import { TIME_COLUMN } from '../../model/schema.js';
import { AutoColumn } from '../column/auto-column.js';
import type { InputBlock } from '../format/input-block.js';
import type { RowPlace } from '../report/row-place.js';
import type { RowAt, RowStatistics } from '../report/row-statistics.js';
import type { FrameEngine } from './frame-engine.js';
import { INPUT_ROW } from './rollup.js';
import { MISFIT, type TimeRange } from './row-collector.js';
import type { RowStore } from './row-store.js';
import { columnPlan, RunBuffer, timesOf } from './run-buffer.js';

export interface TransformSpec {
  readonly transforms: readonly { readonly name: string; readonly expression: Expression }[];
  readonly filter: Filter | null;
}

/** Enough rows that placing them in kernel memory costs little, few enough to fit beside a run. */
const BATCH_ROWS = 1 << 17;
/** Blocks of which it is kept where their rows stand. */
const BATCH_BLOCKS = 2048;
const BATCH_DICTIONARY_BYTES = 32 << 20;

/**
 * Transforms and filter of a spec, a batch of rows at a time, by the engine. A transform reads fields of the input
 * only, never another transform; the filter sees transforms first. `__time` may be transformed too.
 */
export class RowTransformer {
  /** Buffer that rows are appended to; call `relieve` after every block. */
  readonly input: RunBuffer;
  readonly #spec: TransformSpec;
  readonly #sources: ReadonlyMap<string, string>;
  readonly #store: RowStore;
  readonly #range: TimeRange;
  readonly #engine: FrameEngine;
  readonly #statistics: RowStatistics;
  readonly #discovery: { readonly type: 'none' | 'STRING' | 'AUTO'; readonly exclusions: ReadonlySet<string> };
  readonly #virtualNames: ReadonlyMap<string, string>;
  /** Places of the rows of the batch, by the number of the first row of each block. */
  #places: { readonly firstRow: number; readonly placeOf: InputBlock['placeOf'] }[] = [];
  /** Fields that the filter reads, by the names of the columns it reads them from. */
  readonly filterSources: ReadonlyMap<string, string>;

  /** @param options.sources  fields of the input by the name of the stored column, where the two differ */
  constructor(options: {
    readonly spec: TransformSpec;
    readonly sources: ReadonlyMap<string, string>;
    readonly store: RowStore;
    readonly range: TimeRange;
    readonly engine: FrameEngine;
    readonly statistics: RowStatistics;
    readonly discovery: { readonly type: 'none' | 'STRING' | 'AUTO'; readonly exclusions: ReadonlySet<string> };
  }) {
    this.#spec = options.spec;
    this.#sources = options.sources;
    this.#store = options.store;
    this.#range = options.range;
    this.#engine = options.engine;
    this.#statistics = options.statistics;
    this.#discovery = options.discovery;
    this.#virtualNames = new Map(options.spec.transforms.map(({ name }, position) => [name, `transform ${position}: ${name}`]));
    const filterFields = options.spec.filter === null ? [] : [...columnsOfFilter(options.spec.filter)];
    this.filterSources = new Map(
      filterFields.filter((name) => !this.#virtualNames.has(name) && name !== TIME_COLUMN).map((name) => [filterName(name), name]),
    );
    this.input = new RunBuffer(
      [
        ...this.#fieldsRead().map((name) => columnPlan(name, 'AUTO')),
        ...[...this.filterSources.keys()].map((name) => columnPlan(name, 'AUTO_MULTI_VALUE')),
        // Rows at fault are told by their numbers.
        columnPlan(INPUT_ROW, 'LONG'),
      ],
      options.store.bench,
    );
  }

  /** Takes note of where the rows of a block stand, whose first row has this number in the input. */
  note({ placeOf }: InputBlock, firstRow: number): void {
    this.#places.push({ firstRow, placeOf });
  }

  async relieve(): Promise<void> {
    if (this.input.rowCount >= BATCH_ROWS || this.#places.length >= BATCH_BLOCKS) await this.finish();
  }

  /** Sends all rows on. */
  async finish(): Promise<void> {
    if (this.input.rowCount === 0) return;
    const batch = this.input.rowCount;
    const outputs = this.#outputs();
    const plan = this.#plan([...outputs.values(), INPUT_ROW]);
    let kept = 0;
    const input = this.input.toFrame();
    for await (const frame of this.#engine.run(plan, [withArrivalTime(input)])) {
      kept += frame.rowCount;
      await this.#send(frame, outputs, input);
    }
    this.#statistics.thrownAway += batch - kept;
    this.input.clear();
    this.#places = [];
    if (this.input.dictionaryBytes < BATCH_DICTIONARY_BYTES) return;
    this.input.renewDictionaries();
  }

  /** Fields that expressions read, and those that are stored as they come. */
  #fieldsRead(): readonly string[] {
    const { transforms } = this.#spec;
    const names = new Set(transforms.flatMap(({ expression }) => [...columnsOfExpression(expression)]));
    for (const column of this.#store.input.columns) {
      const name = this.#sources.get(column.name) ?? column.name;
      if (!this.#virtualNames.has(name)) names.add(name);
    }
    names.delete(TIME_COLUMN);
    names.delete(INPUT_ROW);
    return [...names];
  }

  /** Engine outputs for `__time` and each stored column. */
  #outputs(): ReadonlyMap<string, string> {
    const { type, exclusions } = this.#discovery;
    if (type !== 'none') {
      for (const name of [...this.input.columns.map((column) => column.name), ...this.#virtualNames.keys()]) {
        const isKnown =
          name === TIME_COLUMN ||
          name === INPUT_ROW ||
          exclusions.has(name) ||
          this.filterSources.has(name) ||
          this.#store.input.column(name) !== undefined;
        const column = this.input.column(name);
        const isEmpty = column instanceof AutoColumn && column.type === null && !this.#virtualNames.has(name);
        if (!isKnown && !isEmpty) this.#store.input.addColumn(columnPlan(name, type));
      }
    }
    const outputs = new Map([[TIME_COLUMN, this.#virtualNames.get(TIME_COLUMN) ?? ARRIVAL_TIME]]);
    for (const { name } of this.#store.input.columns) {
      const source = this.#sources.get(name) ?? name;
      outputs.set(name, this.#virtualNames.get(source) ?? (source === TIME_COLUMN ? ARRIVAL_TIME : source));
    }
    return outputs;
  }

  #plan(columns: readonly string[]): ScanPlan {
    const fieldName = (name: string): string => (name === TIME_COLUMN ? ARRIVAL_TIME : name);
    const virtualColumns = this.#spec.transforms.map(
      ({ name, expression }): VirtualColumn => ({
        name: this.#virtualNames.get(name) ?? name,
        expression: renameExpression(expression, fieldName),
        outputType: null,
      }),
    );
    const filter =
      this.#spec.filter === null
        ? null
        : renameFilter(this.#spec.filter, (name) => {
            const source = filterName(name);
            return this.#virtualNames.get(name) ?? (this.filterSources.has(source) ? source : fieldName(name));
          });
    return {
      operator: 'scan',
      dataSource: 'input',
      intervals: [ETERNITY],
      filter,
      virtualColumns,
      columns: [...new Set(columns)],
      timeOrder: null,
      offset: 0,
      limit: null,
      post: [],
    };
  }

  async #send(frame: Frame, outputs: ReadonlyMap<string, string>, input: Frame): Promise<void> {
    const byName = new Map(frame.columns.map((column) => [column.name, column]));
    const columns = [...outputs].flatMap(([name, source]) => {
      const column = byName.get(source);
      return column === undefined ? [] : [{ ...column, name }];
    });
    const renamed: Frame = { rowCount: frame.rowCount, columns };
    const times = timesOf(renamed);
    const numbers = longsOf(frame, INPUT_ROW);
    const fault = (row: number): { readonly at: RowAt; readonly sample: string } => {
      const number = Number(numbers[row]);
      return { at: { number, place: this.#placeOf(number) }, sample: sampleOf(input, number) };
    };
    const kept = new Int32Array(frame.rowCount);
    let count = 0;
    for (let row = 0; row < frame.rowCount; row++) {
      const time = times?.[row] ?? Number.NaN;
      if (Number.isNaN(time)) {
        const { at, sample } = fault(row);
        this.#statistics.reject('the transformed __time is null or no number', sample, at);
        continue;
      }
      const placed = this.#range.place(time);
      if (placed === undefined) {
        this.#statistics.thrownAway++;
        continue;
      }
      if (times !== undefined) times[row] = placed;
      kept[count++] = row;
    }
    const faults = new Uint8Array(frame.rowCount);
    this.#store.input.appendFrame(renamed, times ?? new Float64Array(0), { rows: kept, count }, faults);
    for (let at = 0; at < count; at++) {
      const row = kept[at] ?? 0;
      if (faults[row] === 0) this.#statistics.processed++;
      else {
        const { at: place, sample } = fault(row);
        this.#statistics.fault(MISFIT, sample, place);
      }
    }
    await this.#store.relieve();
  }

  #placeOf(number: number): RowPlace | undefined {
    const block = this.#places.findLast(({ firstRow }) => firstRow <= number);
    return block?.placeOf?.(number - block.firstRow);
  }
}

/** The fields that are read of a row, as JSON. */
function sampleOf(input: Frame, number: number): string {
  const row = placeIn(longsOf(input, INPUT_ROW), BigInt(number));
  const fields = input.columns.filter(({ name }) => name !== TIME_COLUMN && name !== INPUT_ROW && !name.startsWith(FILTER));
  const record = createByName<unknown>();
  for (const column of fields) record[column.name] = cellAt(column, row);
  return stringifyJson(record);
}

/** Place of a number in an ascending list that has it. */
function placeIn(numbers: BigInt64Array, wanted: bigint): number {
  let [low, high] = [0, numbers.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? wanted) < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

function longsOf({ columns }: Frame, name: string): BigInt64Array {
  const column = columns.find((each) => each.name === name);
  if (column?.kind !== 'long') throw new ServiceError('internal', `the rows have no longs called ${JSON.stringify(name)}`);
  return column.values;
}

const FILTER = 'filter: ';

/** Field as filters see it: a list is several values, of which one must match; to an expression it is an array. */
function filterName(field: string): string {
  return FILTER + field;
}
