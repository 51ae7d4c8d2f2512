// Rows that wait for a step which has to see all of them.

import { assert } from '../../base/errors.js';
import type { Frame } from '../../model/frame.js';
import type { Check } from '../block/checked-loops.js';
import { concatFrames } from '../block/concat-frames.js';
import { frameBytes, tableBytes } from '../block/frame-bytes.js';
import { joinTables } from '../block/join-tables.js';
import { framesOf, type ResultTable, tableOf } from '../block/result-table.js';

/** Rows as frames, or as tables whose strings may be ids; those of one stream are all of one kind. */
export class WaitingRows {
  readonly #counts: boolean;
  #frames: Frame[] = [];
  #tables: ResultTable[] = [];
  #rowCount = 0;
  #bytes = 0;

  /** @param countsBytes  false: nobody asks for them */
  constructor(countsBytes: boolean) {
    this.#counts = countsBytes;
  }

  get isEmpty(): boolean {
    return this.#frames.length + this.#tables.length === 0;
  }

  get rowCount(): number {
    return this.#rowCount;
  }

  /** An estimate. */
  get bytes(): number {
    return this.#bytes;
  }

  addFrame(frame: Frame): void {
    this.#frames.push(frame);
    this.#rowCount += frame.rowCount;
    if (this.#counts) this.#bytes += frameBytes(frame);
  }

  addTable(table: ResultTable): void {
    if (table.rowCount === 0) return;
    this.#tables.push(table);
    this.#rowCount += table.rowCount;
    if (this.#counts) this.#bytes += tableBytes(table);
  }

  whole(check: Check): ResultTable {
    assert(this.#tables.length === 0 || this.#frames.length === 0, 'a stream gives frames or tables');
    return this.#tables.length > 0 ? joinTables(this.#tables, check) : tableOf(concatFrames(this.#frames, check));
  }

  /** Holds these in place of all that there were. */
  replace(table: ResultTable, check: Check): void {
    const areTables = this.#tables.length > 0;
    this.clear();
    if (areTables) this.addTable(table);
    else for (const frame of framesOf(table, check)) this.addFrame(frame);
  }

  clear(): void {
    [this.#frames, this.#tables, this.#rowCount, this.#bytes] = [[], [], 0, 0];
  }
}
