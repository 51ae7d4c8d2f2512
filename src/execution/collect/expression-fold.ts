import { ServiceError } from '../../base/errors.js';
import { parseJson, stringifyJson } from '../../base/json.js';
import { compileExpression } from '../../expression/evaluate.js';
import type { Value } from '../../expression/value.js';
import { convert, isArrayValue, toText, valueOfJson } from '../../expression/value.js';
import type { Collector } from '../../model/collector.js';
import type { RowReader } from '../expression/row-reader.js';
import { rowReader } from '../expression/row-reader.js';
import type { SegmentScope } from '../scope.js';
import type { Feed, StateKind } from './state-kind.js';

type ExpressionFold = Extract<Collector, { type: 'expression' }>;

/** What expressions have made of the rows so far; `count` of parts: 0 of no row, 1 of rows of one segment. */
export interface Folded {
  value: Value;
  parts: number;
}

/**
 * States that expressions of the query fold rows into. What comes of several segments is combined in their order, on top of
 * the initial value for that; what comes of one alone stays as it is.
 */
export function expressionFoldKind(collector: ExpressionFold): StateKind<Folded> {
  const { accumulator, name, valueType: type, resultType } = collector;
  const combine = compileExpression(collector.combine, (column) => (column === accumulator || column === name ? type : undefined));
  const finalize = collector.finalize === null ? undefined : compileExpression(collector.finalize, () => type);
  const finished = (value: Value): Value => convert(finalize === undefined ? value : finalize(() => value), resultType);
  const initial = constant(collector.initial);
  const initialCombine = constant(collector.initialCombine);
  const combined = (value: Value, other: Value): Value => {
    if (!collector.combinesNulls && (value === null || other === null)) return value ?? other;
    return limited(
      combine((column) => (column === accumulator ? value : column === name ? other : null)),
      collector,
    );
  };
  return {
    isOrdered: true,
    emptyValue: collector.isNullUnlessAggregated ? null : finished(initial),
    create: () => ({ value: initial, parts: 0 }),
    merge(into, from) {
      if (from.parts === 0) return;
      if (into.parts === 0) into.value = from.value;
      else into.value = combined(into.parts === 1 ? combined(initialCombine, into.value) : into.value, from.value);
      into.parts += from.parts;
    },
    bytes: ({ value }) => 64 + sizeOf(value),
    encode: ({ value, parts }) => `${parts} ${stringifyJson(tagged(value))}`,
    decode(text) {
      const space = text.indexOf(' ');
      return { parts: Number(text.slice(0, space)), value: untagged(parseJson(text.slice(space + 1))) };
    },
    value: ({ value, parts }) => (parts === 0 && collector.isNullUnlessAggregated ? null : finished(value)),
    bind: (scope, columns) => bindRows(scope, collector, columns),
  };
}

function constant(expression: ExpressionFold['initial']): Value {
  return compileExpression(expression, () => undefined)(() => null);
}

/** Row by row, as one value depends on the one before. */
function bindRows(scope: SegmentScope, collector: ExpressionFold, columns: readonly string[]): Feed<Folded> {
  const { memory } = scope.context;
  const { accumulator, fields } = collector;
  const readers = new Map<string, RowReader>();
  columns.forEach((column, index) => {
    const source = scope.source(column);
    if (source.kind === 'string' && source.column.offsets !== 0)
      throw new ServiceError('unsupported', `an expression aggregator over the multi-value column "${column}" is not supported`);
    readers.set(fields[index] ?? '', rowReader(scope, source));
  });
  const typeOf = (name: string) => {
    const at = fields.indexOf(name);
    return name === accumulator ? collector.valueType : at < 0 ? undefined : scope.typeOf(columns[at] ?? '');
  };
  const fold = compileExpression(collector.fold, typeOf);
  return {
    nulls: undefined,
    add(block, rows, groups, n, stateOf) {
      for (const reader of readers.values()) reader.open(block);
      const listed = rows === 0 ? undefined : memory.u32(rows, n).slice();
      const numbers = memory.u32(groups, n).slice();
      for (let i = 0; i < n; i++) {
        const row = listed === undefined ? i : (listed[i] ?? 0);
        const inputs = new Map<string, Value>();
        for (const [field, reader] of readers) inputs.set(field, reader.get(row));
        if (!collector.foldsNulls && [...inputs.values()].includes(null)) continue;
        const state = stateOf(numbers[i] ?? 0);
        const { value } = state;
        state.value = limited(
          fold((name) => (name === accumulator ? value : (inputs.get(name) ?? null))),
          collector,
        );
        state.parts = 1;
      }
    },
  };
}

function limited(value: Value, { name, maxBytes }: ExpressionFold): Value {
  if (typeof value !== 'bigint' && typeof value !== 'number' && sizeOf(value) > maxBytes)
    throw new ServiceError('resource_limit', `the value of aggregator "${name}" grew beyond ${maxBytes} bytes (maxSizeBytes)`);
  return value;
}

function sizeOf(value: Value): number {
  if (value === null || typeof value === 'bigint' || typeof value === 'number') return 8;
  if (isArrayValue(value)) return value.reduce((sum: number, element) => sum + sizeOf(element), 8);
  return Buffer.byteLength(toText(value) ?? '');
}

/** JSON has no LONGs: those are digits in a list of their own. */
function tagged(value: Value): unknown {
  if (typeof value === 'bigint') return { l: String(value) };
  if (typeof value === 'number') return { d: Object.is(value, -0) ? '-0' : String(value) };
  if (typeof value === 'string' || value === null) return value;
  return isArrayValue(value) ? value.map(tagged) : { j: toText(value) };
}

function untagged(data: unknown): Value {
  if (Array.isArray(data)) return data.map(untagged);
  if (typeof data !== 'object' || data === null) return typeof data === 'string' ? data : null;
  if ('l' in data) return BigInt(String(data.l));
  return 'd' in data ? Number(data.d) : valueOfJson(parseJson('j' in data ? String(data.j) : 'null'));
}
