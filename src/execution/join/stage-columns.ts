// Columns of the rows that leave the stages of a plan.

import { type ByName, createByName, extended, own } from '../../base/names.js';
import { expressionType } from '../../expression/expression-type.js';
import { type ColumnSchema, type ColumnType, isNumberType } from '../../model/schema.js';
import type { Stage } from '../../model/stage.js';
import type { ColumnView, GlobalDictionaryView, SegmentView } from '../../storage/view.js';
import { markColumn } from '../block/view-rows.js';
import type { BuildSide } from './build-side.js';
import { buildOf } from './stage-run.js';
import { unnestedType } from './unnest-rows.js';

/*
 * Columns that stages produce, known before any row went through them: views without rows, by which tables
 * of groups are laid out.
 */

/** The view of rows after the stages. */
export function viewAfter(view: SegmentView, stages: readonly Stage[], builds: Readonly<Record<string, BuildSide>>): SegmentView {
  return stages.reduce((current, stage) => {
    switch (stage.kind) {
      case 'filter':
        return current;
      case 'unnest': {
        const { name, expression, outputType } = stage.column;
        const type = outputType ?? expressionType(expression, (column) => typeIn(current, column));
        return withColumns(current, { [name]: columnOf(unnestedType(type)) });
      }
      case 'join': {
        const { view: built } = buildOf(stage, builds);
        const columns = stage.columns.map(({ name, from, type }) => {
          const column = Object.hasOwn(built.columns, from) ? own(built.columns, from) : undefined;
          return [name, column === undefined ? columnOf(type) : asAdded(column, stage.type === 'inner')] as const;
        });
        const marks = stage.mark === undefined ? {} : { [stage.mark]: markColumn(0) };
        const before = stage.type === 'right' || stage.type === 'full' ? withNulls(current) : current;
        return withColumns(before, { ...Object.fromEntries(columns), ...marks }, stage.probePrefix);
      }
    }
  }, view);
}

/** A view of no rows with these columns. */
export function viewOfColumns(columns: readonly ColumnSchema[]): Readonly<Record<string, ColumnView>> {
  return Object.fromEntries(columns.map(({ name, type }) => [name, columnOf(type)]));
}

/** Ids that pieces have in common: those that segments share, and those of build sides for text columns that joins add. */
export function dictionariesAfter(
  stages: readonly Stage[],
  builds: Readonly<Record<string, BuildSide>>,
  segmentIds: readonly string[],
  before: Readonly<Record<string, GlobalDictionaryView>>,
): Readonly<Record<string, GlobalDictionaryView>> {
  // The ids are the same in every piece: there is nothing to be mapped.
  const remaps = Object.fromEntries(segmentIds.map((id) => [id, 0]));
  let dictionaries: ByName<GlobalDictionaryView> = Object.assign(createByName<GlobalDictionaryView>(), before);
  for (const stage of stages) {
    if (stage.kind === 'unnest') delete dictionaries[stage.column.name];
    if (stage.kind !== 'join') continue;
    dictionaries = prefixed(stage.probePrefix, dictionaries);
    const { dictionaries: built } = buildOf(stage, builds);
    for (const { name, from } of stage.columns) {
      const dictionary = own(built, from);
      if (dictionary === undefined) delete dictionaries[name];
      else dictionaries[name] = extended(dictionary, { remaps });
    }
  }
  return dictionaries;
}

function prefixed<Value>(prefix: string, values: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [prefix + name, value]));
}

function withColumns(view: SegmentView, columns: Readonly<Record<string, ColumnView>>, prefix = ''): SegmentView {
  return { ...view, columns: { ...prefixed(prefix, view.columns), ...columns } };
}

/** Rows that only the right side of a join has are without all columns from before it. */
function withNulls(view: SegmentView): SegmentView {
  const columns = Object.entries(view.columns).map(([name, column]) => [name, asAdded(column, false)] as const);
  return { ...view, columns: Object.fromEntries(columns) };
}

function typeIn(view: SegmentView, name: string): ColumnType | undefined {
  return Object.hasOwn(view.columns, name) ? own(view.columns, name)?.type : undefined;
}

/** Only where every row finds a partner are there no more nulls than on the build side. */
function asAdded(column: ColumnView, isInner: boolean): ColumnView {
  if (column.kind === 'string' || isInner || column.nulls !== 0) return column;
  return { ...column, nulls: UNKNOWN };
}

/** An address that is not read: it says that there may be nulls. */
const UNKNOWN = 1;

function columnOf(type: ColumnType): ColumnView {
  if (isNumberType(type))
    return {
      kind: 'number',
      type,
      physical: type === 'LONG' ? 'I64' : 'F64',
      values: 0,
      base: 0n,
      power: 0,
      nulls: UNKNOWN,
      min: null,
      max: null,
      blockRanges: 0,
    };
  return { kind: 'string', type, physical: 'U32', ids: 0, offsets: 0, dictionary: { count: 2, hasNull: true, offsets: 0, bytes: 0 } };
}
