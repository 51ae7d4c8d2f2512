import { DAY_MS, findZone } from '../../../src/base/calendar.js';
import { parseInstant } from '../../../src/base/time.js';
import type { Difference, DifferentialCase, Json, Mute } from '../case.js';

/** Messages of the original's planner for statements that have no native query there. */
const PLANNER_LIMITS =
  /could not be planned|No match found for function signature|should be an identifier expression|Cannot apply '|does not support type|Cannot coerce field|limit >= 0|while converting|Invalid expression|Time-ordering on scan queries|length must be strictly positive/;

/** Covers statements that the original refuses in these words. */
const refusedThere =
  (words: RegExp) =>
  ({ case: { kind }, dolmen, original }: Difference): boolean =>
    kind === 'sql' && dolmen.state === 'rows' && original.state === 'refused' && words.test(original.message);

/** Covers statements like this where both answer with other rows. */
const answersOf =
  (statement: RegExp) =>
  ({ case: one, dolmen, original, where }: Difference): boolean =>
    dolmen.state === 'rows' && original.state === 'rows' && !/^(names|types)/.test(where) && statement.test(queryOf(one));

/** A cast of a column that is compared with literals, or cast once more. */
const DROPPED_CAST =
  /CAST\(\w+ AS (BIGINT|DOUBLE|INTEGER)\) ((=|<>|<|<=|>|>=) (TIMESTAMP )?['\d-]|(NOT )?(IN \(['\d-]|BETWEEN ['\d-]))|CAST\(CAST\(\w+ AS \w+\) AS/;

/** Differences of SQL that are meant: see `Mute`. */
export const SQL_MUTES: readonly Mute[] = [
  { id: 'sql-answered-here-only', covers: refusedThere(PLANNER_LIMITS) },
  { id: 'division-by-zero', covers: refusedThere(/ by zero/) },
  { id: 'dropped-casts', covers: answersOf(DROPPED_CAST) },
  { id: 'offset-of-subquery', covers: answersOf(/ORDER BY (?:[^()]|\([^()]*\))* OFFSET \d+\)/) },
  { id: 'repeated-times', equate: withoutOffsetsOfRepeatedTimes },
  { id: 'json-numbers', equate: (rows, one) => (/JSON_/.test(queryOf(one)) ? withPlainNumbers(rows) : rows) },
];

function queryOf(one: DifferentialCase): string {
  return one.kind === 'sql' ? String(one.request['query']) : '';
}

const LOCAL_TIME = /^(-?\d{4,}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3})(?:Z|[+-][\d:]+)$/;

/** Timestamps on the clock of a zone without their offsets, where that clock shows the same time twice. */
function withoutOffsetsOfRepeatedTimes(rows: Json, one: DifferentialCase): Json {
  const context = one.kind === 'sql' ? one.request['context'] : undefined;
  const { sqlTimeZone } = (context ?? {}) as { readonly sqlTimeZone?: string };
  const zone = sqlTimeZone === undefined ? undefined : findZone(sqlTimeZone);
  if (zone === undefined || !Array.isArray(rows)) return rows;
  const shorten = (cell: Json): Json => {
    const local = typeof cell === 'string' ? LOCAL_TIME.exec(cell)?.[1] : undefined;
    const localMs = local === undefined ? undefined : parseInstant(`${local}Z`);
    if (local === undefined || localMs === undefined) return cell;
    const instants = [-DAY_MS, DAY_MS].map((away) => zone.fromLocal(localMs, zone.offsetAt(localMs + away)));
    return instants[0] === instants[1] ? cell : local;
  };
  return (rows as Json[]).map((row) => (Array.isArray(row) ? row.map(shorten) : row));
}

/** Numbers inside of strings in the shortest notation: `1.0E300` is `1e+300`. */
function withPlainNumbers(value: Json): Json {
  if (Array.isArray(value)) return value.map(withPlainNumbers);
  return typeof value === 'string' ? value.replace(/-?\d+(?:\.\d+)?[eE][+-]?\d+/g, (number) => String(Number(number))) : value;
}
