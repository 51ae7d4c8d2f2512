// Rows of blocks of which a filter leaves few: they wait, and are grouped together as a view of their own.

import type { Address } from '../../base/layout.js';
import { own } from '../../base/names.js';
import type { Arena } from '../../kernels/arena.js';
import type { Filter } from '../../model/filter.js';
import type { GroupPlan } from '../../model/plan.js';
import type { ColumnView, SegmentView } from '../../storage/view.js';
import { type Block, type RunContext, takeBits, wordsOf } from '../block/context.js';
import { pickRows, rowBytes } from '../block/view-rows.js';
import { columnsOfPlan, columnsRead } from '../expression/columns-of-plan.js';
import type { SegmentScope } from '../expression/scope.js';
import { bindFilter } from '../filter/bind.js';
import { conditionsOf, isComputed } from '../filter/plan-filter.js';
import { ALL, type Match, NONE, type Predicate } from '../filter/predicate.js';

/*
 * Kernels compute what a plan makes of rows for whole blocks. Where a filter leaves few rows of a block, most of that is in vain: the columns
 * of such rows are gathered, those of many blocks together, and the plan reads these. Conditions that compute something are asked last, of the
 * rows that the others leave.
 */

/** Rows of a block are few up to this part of it: gathering them takes about as long as two or three operations on the whole block. */
const FEW_PART = 8;
/** Bytes of the columns of the rows that wait, about, and bounds of their number. */
const WAITING_BYTES = 1 << 21;
const WAITING_MIN = 1 << 14;
const WAITING_MAX = 1 << 17;

/** Rows of a segment that wait on one thread. */
export class FewRows {
  readonly view: SegmentView;
  readonly #context: RunContext;
  readonly #arena: Arena;
  readonly #columns: ReadonlySet<string>;
  readonly #rest: Filter | null;
  readonly #most: number;
  #rows: Address = 0;
  #count = 0;
  #areTested = true;

  /** @param rest  conditions that rows may have to meet yet */
  constructor(context: RunContext, view: SegmentView, plan: GroupPlan, rest: Filter | null) {
    this.#context = context;
    this.view = view;
    this.#rest = rest;
    this.#columns = columnsOf(plan, rest);
    this.#most = Math.min(WAITING_MAX, Math.max(WAITING_MIN, Math.floor(WAITING_BYTES / rowBytes(view, this.#columns))));
    this.#arena = context.memory.arena();
  }

  /** Whether so many of `rows` rows are few. */
  static areFew(count: number, rows: number): boolean {
    return count * FEW_PART <= rows;
  }

  get count(): number {
    return this.#count;
  }

  /** Different strings that the rows may have, of all columns. */
  get stringsMax(): number {
    let strings = 0;
    for (const name of this.#columns) {
      const column = columnOf(this, name);
      if (column?.kind === 'string') strings += Math.min(this.#count, column.dictionary.count);
    }
    return strings;
  }

  /** Whether the rows of another segment have the same columns of the same types, single values all of them, and the same conditions to meet. */
  isLike(other: FewRows): boolean {
    const [rest, others] = [conditionsLeft(this.#rest), conditionsLeft(other.#rest)];
    if (rest.length !== others.length || !rest.every((each, at) => each === others[at])) return false;
    for (const name of new Set([...this.#columns, ...other.#columns])) {
      const [column, same] = [columnOf(this, name), columnOf(other, name)];
      if (column?.kind !== same?.kind || column?.type !== same?.type || isMulti(column) || isMulti(same)) return false;
    }
    return true;
  }

  /** Whether the rows of another block may have no room. */
  get isFull(): boolean {
    return this.#count > this.#most;
  }

  /** Adds `count` rows [start, end) of a block, those in `match`. @param areTested  whether they have met all conditions */
  add(block: Block, start: number, end: number, match: Match, count: number, areTested: boolean): void {
    const { kernels, memory } = this.#context;
    // Room for the block that comes before anybody looks whether they are the most.
    if (this.#rows === 0) this.#rows = this.#arena.take((this.#most + block.rows) * 4);
    const at = this.#rows + this.#count * 4;
    kernels.bitsToRows(match, start, end, at);
    const rows = memory.u32(at, count);
    for (let row = 0; row < count; row++) rows[row] = (rows[row] ?? 0) + block.start;
    this.#count += count;
    this.#areTested &&= areTested;
  }

  /** The rows as a view in the arena, and the conditions that they have to meet yet; none wait any more. */
  take(arena: Arena): { readonly view: SegmentView; readonly filter: Filter | null } {
    const rows = { at: this.#rows, count: this.#count };
    const { selection, ...view } = pickRows(this.#context, arena, this.view, rows, this.#columns);
    const filter = this.#areTested ? null : this.#rest;
    this.#count = 0;
    this.#areTested = true;
    return { view, filter };
  }

  close(): void {
    this.#arena.release();
  }
}

function conditionsLeft(rest: Filter | null): readonly Filter[] {
  return rest === null ? [] : conditionsOf(rest);
}

function columnOf({ view: { columns } }: FewRows, name: string): ColumnView | undefined {
  return Object.hasOwn(columns, name) ? own(columns, name) : undefined;
}

function isMulti(column: ColumnView | undefined): boolean {
  return column?.kind === 'string' && column.offsets !== 0;
}

const COLUMNS = new WeakMap<GroupPlan, { readonly rest: readonly Filter[]; readonly columns: ReadonlySet<string> }>();

/** Columns that a plan may read of a segment once it has met all conditions but `rest`: mostly the same ones for all segments. */
function columnsOf(plan: GroupPlan, rest: Filter | null): ReadonlySet<string> {
  const conditions = conditionsLeft(rest);
  const known = COLUMNS.get(plan);
  if (known?.rest.length === conditions.length && conditions.every((each, at) => each === known.rest[at])) return known.columns;
  const left = { ...plan, filter: rest };
  // A segment has fields of JSON columns or these columns themselves.
  const columns = new Set([...columnsOfPlan(left).columns, ...columnsRead(left)]);
  COLUMNS.set(plan, { rest: conditions, columns });
  return columns;
}

/** Whether a plan computes something of each row that it groups. */
export function computesOfRows(scope: SegmentScope, { keys, aggregators }: GroupPlan): boolean {
  const isMade = (name: string): boolean => {
    const computation = scope.computation(name);
    return computation !== undefined && isComputed(scope, { kind: 'expression', expression: computation.expression });
  };
  return (
    keys.some((key) => key.kind === 'column' && isMade(key.column)) ||
    aggregators.some((each) => {
      if (each.filter !== null && isComputed(scope, each.filter)) return true;
      if (each.kind === 'count') return false;
      return each.kind === 'state' ? each.columns.some(isMade) : isMade(each.column);
    })
  );
}

/** A filter as a condition of the rows of a block that others have left. */
export function conditionAfter(scope: SegmentScope, filter: Filter): (block: Block, match: Match) => Match {
  const { kernels } = scope.context;
  let predicate: Predicate | undefined;
  let out: Address = 0;
  return (block, match) => {
    predicate ??= bindFilter(scope, filter, false);
    if (match === ALL) return predicate.test(block);
    out ||= takeBits(scope.arena);
    const words = wordsOf(block);
    // Bits of a predicate may be those of a vector, which is computed anew for other rows.
    kernels.bitsAnd(match, match, words, out);
    const found = predicate.test({ start: block.start, rows: block.rows, selection: out });
    if (found === NONE) return NONE;
    if (found !== ALL) kernels.bitsAnd(found, out, words, out);
    return out;
  };
}
