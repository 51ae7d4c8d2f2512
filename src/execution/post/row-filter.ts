// Post-processing step that filters result rows (HAVING).

import { likeTest, parseLike } from '../../base/like-pattern.js';
import { compileExpression } from '../../expression/evaluate.js';
import { inferType, type TypeOf } from '../../expression/expression-type.js';
import { STRING_ORDERINGS } from '../../expression/ordering.js';
import { compareValues, convert, textOfValue, toText, toTruth, type Value } from '../../expression/value.js';
import type { Expression } from '../../model/expression.js';
import type { Filter } from '../../model/filter.js';
import type { ColumnType } from '../../model/schema.js';
import { type FilterValue, hasNull, valuesOf } from '../../model/value-list.js';
import { checkedLoop } from '../block/checked-loops.js';
import { columnNamed, type ResultTable, typeOfResult, valueAt } from '../block/result-table.js';
import { typedComparison } from '../filter/typed-comparison.js';
import { computedNumbers } from './computed-numbers.js';
import type { LeafResult } from './leaf-result.js';
import { comparedNumbers, TRUE, UNKNOWN } from './number-comparison.js';

/** true, false, or null for unknown. */
type Truth = boolean | null;

type Rows = Pick<LeafResult, 'check' | 'context'>;

/** The rows that pass a filter. */
export function rowsThatPass(table: ResultTable, filter: Filter, leaf: Rows): Uint32Array {
  const { check } = leaf;
  const rows = new Uint32Array(table.rowCount);
  let count = 0;
  const marks = comparedNumbers(table, filter, check);
  const keeps = marks === undefined ? truthOf(table, filter, leaf) : undefined;
  checkedLoop(table.rowCount, check, (start, end) => {
    if (marks !== undefined) {
      let next = count;
      for (let row = start; row < end; row++) if (marks[row] === TRUE) rows[next++] = row;
      count = next;
    } else for (let row = start; row < end; row++) if (keeps?.(row) === true) rows[count++] = row;
  });
  return rows.subarray(0, count);
}

/** A filter over result rows (HAVING), row by row. */
export function rowFilter(table: ResultTable, filter: Filter, leaf: Rows): (row: number) => Truth {
  const marks = comparedNumbers(table, filter, leaf.check);
  return marks === undefined ? truthOf(table, filter, leaf) : (row) => (marks[row] === UNKNOWN ? null : marks[row] === TRUE);
}

/** A filter that has more to compare than numbers; its parts may not. */
function truthOf(table: ResultTable, filter: Filter, leaf: Rows): (row: number) => Truth {
  switch (filter.kind) {
    case 'true':
    case 'false':
      return () => filter.kind === 'true';
    case 'isTrue': {
      const inner = rowFilter(table, filter.filter, leaf);
      return (row) => inner(row) === true;
    }
    case 'not': {
      const inner = rowFilter(table, filter.filter, leaf);
      return (row) => {
        const truth = inner(row);
        return truth === null ? null : !truth;
      };
    }
    case 'and':
    case 'or': {
      const parts = filter.filters.map((part) => rowFilter(table, part, leaf));
      const decisive = filter.kind === 'or';
      return (row) => {
        let result: Truth = !decisive;
        for (const part of parts) {
          const truth = part(row);
          if (truth === decisive) return decisive;
          if (truth === null) result = null;
        }
        return result;
      };
    }
    case 'expression': {
      const typeOf = (name: string): ColumnType | undefined => table.columns.filter((column) => column.name === name).map(typeOfResult)[0];
      const truths = truthsOf(table, filter.expression, typeOf, leaf);
      if (truths !== undefined) return truths;
      const evaluate = compileExpression(filter.expression, typeOf);
      let current = 0;
      const read = (name: string): Value => {
        const column = table.columns.find((each) => each.name === name);
        return column === undefined ? null : valueAt(column, current);
      };
      return (row) => {
        current = row;
        return toTruth(evaluate(read));
      };
    }
    default: {
      const column = columnNamed(table, filter.column);
      if (filter.kind === 'null') return (row) => valueAt(column, row) === null;
      const test = structuredTest(filter, typeOfResult(column)) ?? valueTest(filter);
      const matchesNull = filter.kind === 'in' && hasNull(filter.values);
      return (row) => {
        const value = valueAt(column, row);
        return value === null ? matchesNull || null : test(value);
      };
    }
  }
}

/** A condition on numbers, computed of all rows at once; undefined: it is on something else. */
function truthsOf(table: ResultTable, expression: Expression, typeOf: TypeOf, { context }: Rows): ((row: number) => Truth) | undefined {
  if (context === undefined || inferType(expression, typeOf) !== 'LONG') return undefined;
  const truths = computedNumbers(context, table, { name: '', type: 'LONG', expression });
  if (truths === undefined) return undefined;
  const { values, nulls } = truths;
  const halves = new Int32Array(values.buffer, values.byteOffset, values.length * 2);
  return (row) => {
    if (nulls !== null && nulls[row] === 1) return null;
    const high = halves[row * 2 + 1] ?? 0;
    return high > 0 || (high === 0 && halves[row * 2] !== 0);
  };
}

type Comparison = Extract<Filter, { kind: 'equals' | 'in' | 'range' | 'like' }>;

/** Comparison of arrays or JSON: the same test of strings that filters segments. */
function structuredTest(filter: Comparison, column: ColumnType): ((value: Exclude<Value, null>) => Truth) | undefined {
  const typed = typedComparison(filter, column);
  switch (typed?.kind) {
    case undefined:
      return undefined;
    case 'nothing':
      return () => false;
    case 'texts': {
      const test = valueTest(typed.filter);
      return (value) => test(textOfValue(value, column) ?? '');
    }
    case 'converted':
      return (value) => typed.test(textOfValue(value, typed.type) ?? '');
  }
}

function valueTest(filter: Comparison): (value: Exclude<Value, null>) => Truth {
  switch (filter.kind) {
    case 'equals':
    case 'in': {
      const wanted = filter.kind === 'equals' ? [filter.value] : valuesOf(filter.values);
      const values = wanted.flatMap((value) => {
        const found = toType(value, filter.type);
        return found === null ? [] : [found];
      });
      return (value) => {
        const converted = toType(value, filter.type);
        return converted === null ? null : values.some((each) => compareValues(each, converted) === 0);
      };
    }
    case 'range': {
      const text = filter.type === 'STRING';
      const { type } = filter;
      const compare = text
        ? (a: Exclude<Value, null>, b: Exclude<Value, null>) => STRING_ORDERINGS[filter.ordering](toText(a) ?? '', toText(b) ?? '')
        : compareValues;
      const bound = (value: FilterValue) => (text && value !== null ? toText(value) : value);
      const lower = bound(filter.lower);
      const upper = bound(filter.upper);
      return (value) => {
        const converted = text || typeof value === 'string' ? toType(value, type) : value;
        if (converted === null) return null;
        const below = lower === null ? 1 : (compare(converted, lower) ?? -1);
        const above = upper === null ? -1 : (compare(converted, upper) ?? 1);
        return (
          (filter.lowerStrict || lower === null ? below > 0 : below >= 0) && (filter.upperStrict || upper === null ? above < 0 : above <= 0)
        );
      };
    }
    case 'like': {
      const matches = likeTest(parseLike(filter.pattern, filter.escape));
      return (value) => matches(String(convert(value, 'STRING')));
    }
  }
}

function toType(value: Value, type: ColumnType): Value {
  // A number compared as another type of number keeps its value: 2.5 is not the LONG 2.
  if (typeof value === 'number' && type === 'LONG') return value;
  if (typeof value === 'bigint' && type !== 'STRING' && type !== 'FLOAT') return value;
  if (typeof value === 'string' && type === 'LONG') return convert(value, 'DOUBLE') === null ? null : exactNumber(value);
  return convert(value, type);
}

function exactNumber(text: string): number | bigint | null {
  const double = convert(text, 'DOUBLE');
  return typeof double === 'number' && Number.isInteger(double) ? convertLong(text) : typeof double === 'number' ? double : null;
}

function convertLong(text: string): bigint | null {
  const long = convert(text, 'LONG');
  return typeof long === 'bigint' ? long : null;
}
