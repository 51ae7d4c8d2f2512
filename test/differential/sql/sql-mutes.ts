import { DAY_MS, findZone } from '../../../src/base/calendar.js';
import { parseInstant } from '../../../src/base/time.js';
import type { Difference, DifferentialCase, Fields, Json, Mute } from '../case.js';

/** Messages of the original's planner for statements that have no native query there. */
const PLANNER_LIMITS =
  /could not be planned|No match found for function signature|should be an identifier expression|Cannot apply '|does not support type|Cannot coerce field|limit >= 0|while converting|Invalid expression|OVER must be applied|Framing of|Encountered a multi value column|Cannot find strategy for type|Parameters must be of the same type|Cast function cannot convert|is not being grouped|Illegal TIMESTAMP constant|Unhandled Query Planning Failure|Joining against ARRAY|Argument to GROUPING|with DISTINCT is not supported|DISTINCT is not supported for window|NULLS (?:FIRST|LAST) is not supported|Joining against a multi-value|expected one element but was|Marker filters shouldn|Time-ordering on scan queries|length must be strictly positive/;

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

/** A cast of a column that is compared with literals, cast once more, averaged, or whose bits are added up. */
const DROPPED_CAST =
  /CAST\(\w+ AS (BIGINT|DOUBLE|INTEGER)\) ((=|<>|<|<=|>|>=) (TIMESTAMP )?['\d-]|(NOT )?(IN \(['\d-]|BETWEEN ['\d-]))|CAST\(CAST\(\w+ AS \w+\) AS|(?:AVG|BIT_X?OR)\(CAST\(\w+ AS/;

/** Differences of SQL that are meant: see `Mute`. */
export const SQL_MUTES: readonly Mute[] = [
  { id: 'sql-answered-here-only', covers: refusedThere(PLANNER_LIMITS) },
  { id: 'division-by-zero', covers: refusedThere(/ by zero/) },
  { id: 'dropped-casts', covers: answersOf(DROPPED_CAST) },
  { id: 'distinct-counts', covers: isCountWithoutEmpty },
  { id: 'offset-of-subquery', covers: answersOf(/ORDER BY (?:[^()]|\([^()]*\))* OFFSET \d+\)/) },
  { id: 'folded-conditions', covers: (found) => answersOf(/\bmv/)(found) && isFolded(queryOf(found.case)) },
  { id: 'overlap-of-nothing', covers: answersOf(/NOT .*MV_OVERLAP\(/) },
  { id: 'contains-beside-null', covers: answersOf(/NOT .*MV_CONTAINS\(/) },
  { id: 'filter-of-subquery', covers: answersOf(/FILTER \(WHERE .*\bmv.* FROM \(SELECT .* LIMIT/) },
  {
    id: 'array-of-nulls',
    covers: (found) => /null|false \| true/.test(found.where) && answersOf(/ARRAY_(APPEND|PREPEND|CONCAT|OVERLAP)\(.*ARRAY\[/)(found),
  },
  {
    id: 'beside-exact-counts',
    covers: (found) =>
      contextOf(found.case)['useApproximateCountDistinct'] === false &&
      answersOf(/COUNT\(DISTINCT/)(found) &&
      answersOf(/_AGG\(DISTINCT.*FILTER|_DS_/)(found),
  },
  // The only origin of generated statements that is within a skipped hour.
  { id: 'hours-before-origin', covers: answersOf(/TIME_(?:FLOOR|CEIL)\(.*TIME_PARSE\('2015-10-25T01:30:00\.007Z'\)/) },
  {
    id: 'format-mismatch',
    covers: (found) => / \| .*%d; /.test(found.where) && answersOf(/STRING_FORMAT\(.*(?:CENTURY|MILLENNIUM)/)(found),
  },
  { id: 'empty-between', covers: (found) => / null \| true$/.test(found.where) && answersOf(/ BETWEEN /)(found) },
  { id: 'limited-lists', covers: answersOf(/ARRAY_CONCAT_AGG.* LIMIT/) },
  { id: 'ties-of-time', covers: answersOf(/(?:EARLIEST|LATEST)_BY\(.*, MILLIS_TO_TIMESTAMP\(ts\)/) },
  { id: 'never-null', covers: answersOf(/COALESCE\(ARRAY_TO_STRING/) },
  { id: 'never-null', covers: answersOf(/\b(\w+) (?:=|<>|<=|>=|<|>|BETWEEN .* AND) \1\b/) },
  { id: 'order-of-joined', covers: answersOf(/STRING_AGG.* ORDER BY/) },
  {
    id: 'extraction-of-numbers',
    covers: answersOf(/(?:SUBSTR(?:ING)?|REGEXP_EXTRACT|LOOKUP|UPPER|LOWER|LEFT|RIGHT|STRLEN|LENGTH)\(JSON_VALUE\(.*(?:GROUP BY)/),
  },
  { id: 'unnest-of-nothing', covers: answersOf(/UNNEST\(MV_TO_ARRAY\(mv2?\)\).*SELECT (?:k|key) FROM/) },
  { id: 'lone-surrogates', equate: (rows, one) => (/JSON_OBJECT/.test(queryOf(one)) ? withoutEscapedHalves(rows) : rows) },
  { id: 'several-windows', covers: (found) => answersOf(/OVER/)(found) && partitionsOf(queryOf(found.case)).size > 1 },
  {
    id: 'unreadable-literals',
    covers: ({ case: { kind }, dolmen }) => kind === 'sql' && dolmen.state === 'refused' && / cannot be read as /.test(dolmen.message),
  },
  { id: 'expressions-answered-here', covers: refusedThere(/[Ii]llegal base64|base64 bytes|enough valid bits|base64 at/) },
  {
    id: 'expressions-answered-here',
    covers: (found) => /DECODE_BASE64/.test(queryOf(found.case)) && refusedThere(/encountered unknown exception/)(found),
  },
  { id: 'json-object-order', equate: (rows, one) => (/JSON_OBJECT/.test(queryOf(one)) ? withSortedKeys(rows) : rows) },
  { id: 'repeated-times', equate: withoutOffsetsOfRepeatedTimes },
  { id: 'json-numbers', equate: (rows, one) => (/JSON_|\bj2?\b/.test(queryOf(one)) ? withPlainNumbers(rows) : rows) },
];

/** Conditions over one multi-value column of which one says something about the other, or about the value of the column. */
function isFolded(query: string): boolean {
  return ['mv', 'mv2'].some((column) => {
    const of = (rest: string): number => [...query.matchAll(new RegExp(`\\b${column}\\b${rest}`, 'g'))].length;
    return (
      of(' (?:=|<>|[<>]|(?:NOT )?(?:IN|LIKE|BETWEEN)|IS) ') > 1 ||
      of(" (?:NOT )?LIKE '%'") > 0 ||
      (of(' (?:[<>]|BETWEEN)') > 0 && /NOT /.test(query)) ||
      (of(' <> ') > 0 && of('') > 1 && /NOT /.test(query)) ||
      (of(" (?:= ['?]|IS (?:NOT )?NULL)") > 0 && of('') > 1)
    );
  });
}

/** Expressions by which windows are partitioned. */
function partitionsOf(query: string): ReadonlySet<string> {
  return new Set([...query.matchAll(/OVER \((?:PARTITION BY (.*?))?(?: ?ORDER BY.*?)?(?: ROWS.*?)?\)/g)].map(([, by]) => by ?? ''));
}

/** One value less counted by a topN. */
function isCountWithoutEmpty(found: Difference): boolean {
  const [, ours, theirs] = /: (\d+) \| (\d+)$/.exec(found.where) ?? [];
  const isOfTopN = answersOf(/(COUNT\(DISTINCT|APPROX_COUNT_DISTINCT\().*GROUP BY 1 (HAVING .*)?ORDER BY [^,]*(, 1( DESC)?)? LIMIT/);
  return isOfTopN(found) && Number(ours) === Number(theirs) + 1;
}

function contextOf(one: DifferentialCase): Fields {
  return one.kind === 'sql' ? ((one.request['context'] ?? {}) as Fields) : {};
}

function queryOf(one: DifferentialCase): string {
  return one.kind === 'sql' ? String(one.request['query']) : '';
}

const LOCAL_TIME = /^(-?\d{4,}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3})(?:Z|[+-][\d:]+)$/;

/** Timestamps on the clock of a zone without their offsets, where that clock shows the same time twice. */
function withoutOffsetsOfRepeatedTimes(rows: Json, one: DifferentialCase): Json {
  const { sqlTimeZone } = contextOf(one);
  const zone = typeof sqlTimeZone === 'string' ? findZone(sqlTimeZone) : undefined;
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

/** JSON in strings with U+FFFD for half of a surrogate pair. */
function withoutEscapedHalves(value: Json): Json {
  if (Array.isArray(value)) return (value as Json[]).map(withoutEscapedHalves);
  return typeof value === 'string' ? value.replace(/\\u[dD][89a-fA-F][\da-fA-F]{2}/g, '\ufffd') : value;
}

/** JSON objects in strings with their keys in order. */
function withSortedKeys(value: Json): Json {
  if (Array.isArray(value)) return (value as Json[]).map(withSortedKeys);
  if (typeof value !== 'string' || !value.startsWith('{')) return value;
  return value.replace(/^\{("a":.*),("p":[^,]*)\}$/, '{$2,$1}');
}

/** Numbers inside of strings in the shortest notation: `1.0E300` is `1e+300`. */
function withPlainNumbers(value: Json): Json {
  if (Array.isArray(value)) return value.map(withPlainNumbers);
  return typeof value === 'string' ? value.replace(/-?\d+(?:\.\d+)?[eE][+-]?\d+/g, (number) => String(Number(number))) : value;
}
