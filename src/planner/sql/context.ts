// Reads the context of a SQL statement.

import { findZone } from '../../base/calendar.js';
import { ServiceError } from '../../base/errors.js';
import { describeValue, parseJson } from '../../base/json.js';
import { ObjectReader, readContextOf } from '../../base/json-reader.js';
import { own } from '../../base/names.js';
import { refusedKeys } from '../context-keys.js';
import { type QueryContext, readContext, readQueryId } from '../native/context.js';
import { readRulesOff } from './relation/rules/rules-off.js';

/** The context of a SQL statement: what `readContext` reads of any query, and what SQL adds. */
export interface SqlContext extends QueryContext {
  /** Null: one is to be made. */
  readonly sqlQueryId: string | null;
  /** Time zone of TIMESTAMP literals, of days, and of results. */
  readonly timeZone: string;
  /** Results have arrays as their text. */
  readonly stringifyArrays: boolean;
}

/** Keys that change plans: a cached plan is found only under the same values of them. */
export const PLANNING_KEYS: readonly string[] = [
  ...['sqlTimeZone', 'sqlOuterLimit', 'plannerRulesOff', 'skipEmptyBuckets', 'finalizeAggregations', 'groupByEnableMultiValueUnnesting'],
  ...['maxSubqueryRows', 'maxSubqueryBytes', 'maxRowsMaterializedInWindow'],
];

const REFUSED_KEYS: ReadonlyMap<string, readonly unknown[]> = new Map(refusedKeys('sql'));

/** @throws ServiceError `query_invalid` or `unsupported` naming the key */
export function readSqlContext(context: Readonly<Record<string, unknown>>): SqlContext {
  const common = readContext(new ObjectReader({ context }, '', readContextOf('query_invalid', 'query')));
  for (const [key, given] of Object.entries(context)) {
    const accepted = REFUSED_KEYS.get(key);
    if (accepted !== undefined && given !== null && !accepted.some((value) => String(value) === String(given)))
      throw new ServiceError(
        'unsupported',
        `context.${key}: ${describeValue(given)} is not supported${accepted.length === 0 ? '' : `; accepted: ${accepted.join(', ')}`}`,
      );
  }
  readRulesOff(context['plannerRulesOff']);
  sqlOuterLimit(context);
  sqlNativeExplain(context);
  sqlStoredForm(context);
  sqlWindowRows(context);
  const sqlQueryId = readQueryId(context, 'sqlQueryId');
  // The object is extended in place: copying thirty fields costs more than reading them.
  return Object.assign(common, {
    sqlQueryId,
    timeZone: sqlTimeZone(context),
    stringifyArrays: isOn(context, 'sqlStringifyArrays'),
  });
}

/** Value of a key that defaults to true. */
function isOn(context: Readonly<Record<string, unknown>>, key: string): boolean {
  const value = own(context, key) ?? true;
  if (!['true', 'false'].includes(String(value)))
    throw new ServiceError('query_invalid', `context.${key}: expected true or false, found ${describeValue(value)}`);
  return String(value) === 'true';
}

/** Most rows that the outermost query puts out, whatever LIMIT it has; null: as many as there are. */
export function sqlOuterLimit(context: Readonly<Record<string, unknown>>): number | null {
  const value = context['sqlOuterLimit'] ?? null;
  if (value === null) return null;
  const limit = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  if (typeof limit === 'number' && Number.isSafeInteger(limit) && limit >= 0) return limit;
  throw new ServiceError('query_invalid', `context.sqlOuterLimit: expected an integer of at least 0, found ${describeValue(value)}`);
}

/** Rows that a partition of a window may have; null: as many as memory holds. */
export function sqlWindowRows(context: Readonly<Record<string, unknown>>): number | null {
  const value = context['maxRowsMaterializedInWindow'] ?? null;
  if (value === null) return null;
  const rows = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  if (typeof rows === 'number' && Number.isSafeInteger(rows) && rows >= 1) return rows;
  throw new ServiceError(
    'query_invalid',
    `context.maxRowsMaterializedInWindow: expected an integer of at least 1, found ${describeValue(value)}`,
  );
}

/** Names under a key: an array of them, the same as JSON, or text with commas between them; null: the key is not there. */
export function sqlNames(context: Readonly<Record<string, unknown>>, key: string): readonly string[] | null {
  const value = own(context, key) ?? null;
  if (value === null || value === '') return null;
  const names = typeof value === 'string' && value.startsWith('[') ? jsonOrNull(value) : value;
  if (typeof names === 'string') return names.split(',').map((name) => name.trim());
  if (Array.isArray(names) && names.every((name) => typeof name === 'string')) return names;
  throw new ServiceError('query_invalid', `context.${key}: expected names of columns, found ${describeValue(value)}`);
}

function jsonOrNull(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}

/** EXPLAIN PLAN FOR answers with the native query where there is one, rather than with the text of the plan. */
export function sqlNativeExplain(context: Readonly<Record<string, unknown>>): boolean {
  return isOn(context, 'useNativeQueryExplain');
}

/** States are stored where results are not to be finalized; keys of several values, which rows would be multiplied by, are no rollup's. */
export function sqlStoredForm(context: Readonly<Record<string, unknown>>): { readonly finalizes: boolean; readonly rollsUp: boolean } {
  const finalizes = isOn(context, 'finalizeAggregations');
  return { finalizes, rollsUp: !finalizes && !sqlUnnestsMultiValues(context) };
}

/** A row of several values counts in the group of each; else it is an error. */
export function sqlUnnestsMultiValues(context: Readonly<Record<string, unknown>>): boolean {
  return isOn(context, 'groupByEnableMultiValueUnnesting');
}

export function sqlTimeZone(context: Readonly<Record<string, unknown>>): string {
  const zone = context['sqlTimeZone'] ?? 'UTC';
  if (typeof zone === 'string' && findZone(zone) !== undefined) return zone;
  throw new ServiceError(
    'query_invalid',
    `context.sqlTimeZone: expected a time zone such as America/Los_Angeles or an offset such as +01:00, found ${JSON.stringify(zone)}`,
  );
}
