import type { MaybeType } from '../../../src/expression/function.js';
import { MULTI_VALUE_FORMS } from '../../../src/expression/functions/multi-value.js';
import { FUNCTIONS } from '../../../src/expression/functions.js';
import type { Expression } from '../../../src/model/expression.js';
import { elementType, isArrayType, JSON_TYPE } from '../../../src/model/schema.js';
import type { Difference, DifferentialCase, Json, Mute } from '../case.js';
import { callsOf, type TypedCall } from './expression-calls.js';

/** Covers expressions within which such a call stands. */
const calls =
  (isOne: (call: TypedCall) => boolean) =>
  ({ case: one }: { readonly case: DifferentialCase }): boolean =>
    callsOf(one).some(isOne);

const named = (...names: readonly string[]): ReadonlySet<string> => new Set(names);

/** Functions of numbers, by which a string is read as one. */
const NUMERIC = named(
  ...['abs', 'acos', 'asin', 'atan', 'cbrt', 'ceil', 'cos', 'cosh', 'cot', 'exp', 'expm1', 'floor', 'getexponent', 'log', 'log10'],
  ...['log1p', 'nextup', 'rint', 'round', 'signum', 'sin', 'sinh', 'sqrt', 'tan', 'tanh', 'todegrees', 'toradians', 'ulp'],
  ...['atan2', 'copysign', 'div', 'hypot', 'max', 'min', 'nextafter', 'pow', 'remainder', 'safe_divide', 'scalb', 'subtract_months'],
  ...['bitwiseand', 'bitwiseor', 'bitwisexor', 'bitwisecomplement', 'bitwiseshiftleft', 'bitwiseshiftright'],
  ...['bitwiseconvertdoubletolongbits', 'bitwiseconvertlongbitstodouble'],
);
const isNumeric = ({ name }: TypedCall): boolean => NUMERIC.has(name.toLowerCase());

const isList = (type: MaybeType | undefined): boolean => isArrayType(type) || type === JSON_TYPE;
const isDouble = (type: MaybeType | undefined): boolean => type === 'DOUBLE' || type === 'FLOAT';
const isText = (type: MaybeType | undefined): boolean => type === 'STRING' || isList(type);

/** These hand a value on as it is, or ask only whether it is there. */
const HANDS_ON = named('if', 'case_searched', 'case_simple', 'nvl', 'coalesce', 'isnull', 'notnull', 'array', 'cast', 'to_json_string');
const COMPARISONS = named('<', '<=', '>', '>=', '==', '!=', 'isdistinctfrom', 'notdistinctfrom', 'case_simple', 'greatest', 'least');
const SEARCHES = named(
  'array_contains',
  'array_overlap',
  'mv_contains',
  'mv_overlap',
  'array_offset_of',
  'array_ordinal_of',
  'scalar_in_array',
  'array_set_add_all',
);
const MIXES = named(
  'array',
  'array_append',
  'array_prepend',
  'array_concat',
  'array_set_add',
  'array_set_add_all',
  'fold',
  'cartesian_fold',
);

/** An array or JSON where a single value is expected. */
function takesListAsValue({ name, types }: TypedCall): boolean {
  if (name.startsWith('json_') || name === 'try_parse_json') return false;
  if (!HANDS_ON.has(name) && types.includes(JSON_TYPE)) return true;
  if (COMPARISONS.has(name) && types.some((type) => type?.includes(JSON_TYPE))) return true;
  if (name === 'array_quantile') return types[0] !== 'ARRAY<LONG>' && types[0] !== 'ARRAY<DOUBLE>';
  const { arrays = [] } = FUNCTIONS.get(name) ?? { arrays: 'all' };
  if (arrays === 'all' || HANDS_ON.has(name)) return false;
  // Two arrays are compared as such.
  if (COMPARISONS.has(name) && types.every(isArrayType)) return false;
  return types.some((type, at) => isList(type) && !arrays.includes(at));
}

/** The types of what may become the value of the call. */
function resultTypes({ name, types }: Omit<TypedCall, 'operandCalls'>): readonly MaybeType[] {
  switch (name) {
    case 'if':
      return types.slice(1);
    case 'case_searched':
      return types.filter((_, at) => at % 2 === 1 || at === types.length - 1);
    case 'case_simple':
      return types.filter((_, at) => at > 0 && (at % 2 === 0 || at === types.length - 1));
    case 'trim':
    case 'ltrim':
    case 'rtrim':
      return ['STRING', types[0] ?? null];
    case 'nvl':
    case 'coalesce':
    case 'greatest':
    case 'least':
      return types;
    default:
      if (name === 'array') return types;
      // A start that is null has any type.
      if (name.endsWith('fold') && types.at(-1) === null) return ['STRING', 'LONG'];
      return MIXES.has(name) ? types.map((type) => (isArrayType(type) ? elementType(type) : type)) : [];
  }
}

const mixesTypes = (call: Omit<TypedCall, 'operandCalls'>): boolean => new Set(resultTypes(call).filter((type) => type !== null)).size > 1;

/** Takes a value whose type may differ from row to row. */
const takesMixed = (call: TypedCall): boolean => call.operandCalls.some(mixesTypes);

const TRANSCENDENTAL = named(
  ...['acos', 'asin', 'atan', 'atan2', 'cbrt', 'cos', 'cosh', 'cot', 'exp', 'expm1', 'hypot', 'log', 'log10', 'log1p', 'pow', '^'],
  ...['sin', 'sinh', 'tan', 'tanh'],
);
/** Takes the last digits of a function for more than they are. */
function magnifiesLastDigits({ operands }: TypedCall): boolean {
  return operands.some(hasTranscendental);
}

function hasTranscendental(expression: Expression): boolean {
  if (expression.kind === 'lambda') return hasTranscendental(expression.body);
  return expression.kind === 'call' && (TRANSCENDENTAL.has(expression.function) || expression.arguments.some(hasTranscendental));
}

function isPosition({ operands, types }: TypedCall, at: number): boolean {
  const operand = operands[at];
  if (operand === undefined) return true;
  return operand.kind === 'literal' && types[at] === 'LONG' && Math.abs(Number(operand.value)) < 2 ** 31;
}

const POSITION_SECOND = named('scalb', 'lpad', 'rpad', 'array_slice', 'array_offset', 'array_ordinal');

const givesValues = (call: TypedCall): boolean =>
  call.operands.some((operand) => operand.kind === 'call' && MULTI_VALUE_FORMS.has(operand.function));

const elementOf = (type: MaybeType | undefined): MaybeType | undefined => (isArrayType(type) ? elementType(type) : type);

/** Rows of a case of expressions within which such a call stands, without what may differ. */
const equated =
  (isOne: (call: TypedCall) => boolean, equate: (value: Json) => Json) =>
  (rows: Json, one: DifferentialCase): Json =>
    callsOf(one).some(isOne) ? equate(rows) : rows;

/** Why the original refuses what is answered here. */
const REFUSED: readonly RegExp[] = [
  /\/ by zero/,
  /used as both scalar and array variables/,
  /cannot cast \[|Invalid type, cannot/,
  /needs? a (STRING|number|positive integer|LONG)|needs an integer|should be a (LONG|STRING|DOUBLE)|must be a a scalar type|invalid input expected/,
  /invalid value|Invalid format|Cannot parse/,
  /exponent \(-?\d+\) must be >= 0|Out of range/,
  /must be a string literal|subnet arg has an invalid format/,
  /encountered unknown exception|bad string input/,
  /character to be escaped is missing|Illegal group reference|No group/,
  /caused an overflow|Possible data truncation/,
  /[Ii]llegal base64|base64 bytes|enough valid bits|failed to parse address/,
];

/** Differences of expressions that are meant: see `Mute`. */
export const EXPRESSION_MUTES: readonly Mute[] = [
  {
    id: 'expressions-answered-here',
    covers: ({ case: { kind }, dolmen, original }) =>
      kind === 'expressions' &&
      dolmen.state === 'rows' &&
      original.state === 'refused' &&
      REFUSED.some((pattern) => pattern.test(original.message)),
  },
  { id: 'value-types', equate: equated(mixesTypes, loosely) },
  { id: 'value-types', covers: calls(takesMixed) },
  { id: 'json-value-type', equate: equated(({ name, types }) => name === 'json_value' && types.length === 2, withoutLongLists) },
  { id: 'strings-as-numbers', covers: calls((call) => isNumeric(call) && call.types.some(isText)) },
  { id: 'arrays-as-values', covers: calls(takesListAsValue) },
  // The types of columns do not tell that the elements are arrays.
  { id: 'arrays-as-values', covers: calls(({ name, operands }) => name === 'array' && operands.some(isMultiValue)) },
  {
    id: 'null-positions',
    covers: calls(
      (call) =>
        (call.name === 'substring' && !(isPosition(call, 1) && isPosition(call, 2))) ||
        (call.name === 'strpos' && !isPosition(call, 2)) ||
        (POSITION_SECOND.has(call.name) && !isPosition(call, 1)),
    ),
  },
  { id: 'nan-and-zero', covers: calls(({ name, types }) => (COMPARISONS.has(name) || name === 'copysign') && types.some(isDouble)) },
  {
    id: 'array-members',
    covers: calls(
      ({ name, types: [one, other], operandCalls }) =>
        (SEARCHES.has(name) && elementOf(one) !== elementOf(other)) ||
        (MIXES.has(name) && operandCalls.some((operand) => operand.name === 'array')),
    ),
  },
  {
    id: 'cartesian-types',
    covers: calls(
      ({ name, types }) =>
        name === 'cartesian_fold' ||
        (name === 'fold' && elementOf(types[1]) !== types[2]) ||
        (name === 'cartesian_map' && new Set(types.slice(1).map(elementOf)).size > 1),
    ),
  },
  { id: 'compound-periods', covers: calls(isOfCompoundPeriod) },
  {
    id: 'hours-before-origin',
    covers: calls(
      ({ name, operands: [, period] }) =>
        (name === 'timestamp_floor' || name === 'timestamp_ceil') && period?.kind === 'literal' && SEVERAL_HOURS.test(String(period.value)),
    ),
  },
  {
    id: 'null-of-rows',
    covers: calls(({ name, operands: [column] }) => (name === 'isnull' || name === 'notnull') && isMultiValue(column)),
  },
  {
    id: 'zone-names',
    covers: calls(
      ({ name, operands: [, pattern] }) => name === 'timestamp_format' && pattern?.kind === 'literal' && /z/.test(String(pattern.value)),
    ),
  },
  {
    id: 'weekday-alone',
    covers: calls(
      ({ name, operands: [, pattern] }) =>
        READS_TIMES.has(name) && pattern?.kind === 'literal' && /[eE]/.test(String(pattern.value)) && !/w/.test(String(pattern.value)),
    ),
  },
  {
    id: 'format-mismatch',
    covers: (found) => (found.dolmen.state === 'refused' || /null \| /.test(found.where)) && calls(({ name }) => name === 'format')(found),
  },
  {
    id: 'types-before-rows',
    covers: ({ case: { kind }, dolmen }) => kind !== 'sql' && dolmen.state === 'refused' && / takes .*, found /.test(dolmen.message),
  },
  { id: 'far-instants', covers: isOfFarInstants },
  { id: 'values-of-functions', covers: calls(givesValues) },
  { id: 'empty-values', equate: withoutEmptyValues },
  {
    id: 'json-merge-lists',
    covers: (found) => /: \[.* \| \S/.test(found.where) && calls(({ name }) => name === 'json_merge')(found),
  },
  { id: 'json-trailing', covers: isOfTrailingText },
  { id: 'json-query-array', equate: equated(({ name }) => name === 'json_query_array', withoutObjectAlone) },
  { id: 'json-query-array', covers: calls(({ operandCalls }) => operandCalls.some(({ name }) => name === 'json_query_array')) },
  { id: 'json-paths-order', covers: calls(({ operandCalls }) => operandCalls.some(({ name }) => name === 'json_paths')) },
  { id: 'json-paths-order', equate: equated(({ name }) => name === 'json_paths', withSortedLists) },
  { id: 'json-doubles', equate: equated(({ name, types }) => name === 'to_json_string' && types.includes(JSON_TYPE), withoutZeros) },
  { id: 'double-digits', equate: (rows, { kind }) => (kind === 'expressions' ? withShortDigits(rows) : rows) },
  {
    id: 'iso-year',
    covers: calls(
      ({ name, operands: [, unit] }) =>
        name === 'timestamp_extract' && unit?.kind === 'literal' && String(unit.value).toUpperCase() === 'ISOYEAR',
    ),
  },
  { id: 'quotient-by-zero', covers: calls(({ name, types }) => (name === 'div' || name === 'safe_divide') && types.some(isDouble)) },
  {
    id: 'lone-surrogates',
    covers: calls(({ name, operands: [, pattern] }) => name === 'string_to_array' && pattern?.kind === 'literal' && !pattern.value),
  },
  { id: 'lone-surrogates', equate: (rows) => eachString(rows, wellFormed) },
  {
    id: 'last-digits',
    covers: (difference) => /: \[?"?-?\d\S* \| \[?"?-?\d/.test(difference.where) && calls(magnifiesLastDigits)(difference),
  },
];

function eachString(value: Json, change: (text: string) => Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => eachString(item, change));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, eachString(item, change)]));
  return typeof value === 'string' ? change(value) : value;
}

/** The string after UTF-8, which has U+FFFD for half of a surrogate pair. */
const wellFormed = (text: string): string => Buffer.from(text, 'utf8').toString('utf8');

/** A number for its string, the element for a list of one. */
function loosely(value: Json): Json {
  if (Array.isArray(value)) return value.length === 1 ? loosely(value[0] ?? null) : (value as readonly Json[]).map(loosely);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, loosely(item)]));
  if (typeof value === 'string') return /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(value) ? Number(value) : withoutZeros(value);
  return typeof value === 'bigint' ? Number(value) : value;
}

/** JSON as json_value without a type returns it: strings, and null for lists unless they have one element. */
function withoutLongLists(rows: Json): Json {
  const equate = (value: Json): Json => (Array.isArray(value) && value.length !== 1 ? null : loosely(value));
  return Array.isArray(rows)
    ? (rows as readonly Json[]).map((row) => (Array.isArray(row) ? (row as readonly Json[]).map(equate) : row))
    : rows;
}

/** Null for a row without values; values of a function that gives them as those of a column, the only one of which stands for itself. */
function withoutEmptyValues(rows: Json, one: DifferentialCase): Json {
  if (one.kind !== 'expressions' || !Array.isArray(rows)) return rows;
  const givesThem = callsOf(one).some(({ name }) => MULTI_VALUE_FORMS.has(name));
  if (!givesThem && !/\bmv2?\b/.test(one.request.expression)) return rows;
  const equate = (value: Json): Json => {
    if (!Array.isArray(value) || value.length > 1) return value;
    const [only = null] = value as readonly Json[];
    return givesThem || only === null || typeof only === 'string' ? only : value;
  };
  return (rows as readonly Json[]).map((row) => (Array.isArray(row) ? (row as readonly Json[]).map(equate) : row));
}

const SEVERAL_HOURS = /^PT(?:[2-9]|\d{2,})H$/;

function isMultiValue(expression: Expression | undefined): boolean {
  return expression?.kind === 'column' && (expression.name === 'mv' || expression.name === 'mv2');
}

const COMPOUND = /^P(?:\d+[YMWD]){2,}|^P\d.*T\d|T(?:\d+[HMS]){2,}$/;

function isOfCompoundPeriod({ name, operands: [, period, origin] }: TypedCall): boolean {
  if (period?.kind !== 'literal') return false;
  if (name === 'timestamp_ceil' && origin?.kind === 'literal' && origin.value !== null && /^P\d+[MY]$/.test(String(period.value)))
    return true;
  return (name === 'timestamp_floor' || name === 'timestamp_ceil') && COMPOUND.test(String(period.value));
}

const READS_TIMES = named('timestamp_parse', 'timestamp', 'unix_timestamp');

const OF_INSTANTS = named(
  'timestamp_floor',
  'timestamp_ceil',
  'timestamp_shift',
  'timestamp_extract',
  'timestamp_format',
  'subtract_months',
);

/** A function of an instant that may be any LONG, where one side has no answer. */
function isOfFarInstants({ case: one, where }: Difference): boolean {
  const mayBeFar = ({ name, operands: [instant] }: TypedCall): boolean =>
    OF_INSTANTS.has(name) && !(instant?.kind === 'column' && (instant.name === '__time' || instant.name === 'ts'));
  return callsOf(one).some(mayBeFar) && /: null \| |refuses/.test(where);
}

/** The original read the beginning of a string that is no JSON as a whole. */
function isOfTrailingText({ case: one, dolmen, where }: Difference): boolean {
  if (dolmen.state === 'refused') return dolmen.message.includes('is not JSON');
  return callsOf(one).some(({ name }) => name === 'try_parse_json') && / null \| /.test(where);
}

/** A list of one object is what the original makes null, and a boolean a number. */
function withoutObjectAlone(value: Json): Json {
  if (typeof value === 'boolean') return Number(value);
  if (!Array.isArray(value)) return value;
  const [only = null] = value as readonly Json[];
  const isObject = typeof only === 'object' && only !== null && !Array.isArray(only);
  return value.length === 1 && isObject ? null : (value as readonly Json[]).map(withoutObjectAlone);
}

/** Doubles of 16 digits and more in strings with as many digits as tell them apart. */
function withShortDigits(value: Json): Json {
  return eachString(value, (text) =>
    text.replace(/\d+\.\d+(?:E-?\d\d)?/g, (number) => (number.replace(/E.*/, '').length > 15 ? String(Number(number)) : number)),
  );
}

function withSortedLists(value: Json): Json {
  if (!Array.isArray(value)) return value;
  const items = (value as readonly Json[]).map(withSortedLists);
  return items.every((item) => typeof item === 'string') ? items.toSorted() : items;
}

/** JSON texts with numbers as JavaScript writes them. */
function withoutZeros(value: Json): Json {
  return eachString(value, (text) =>
    text.replace(/-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, (number) => (/[.eE]/.test(number) ? String(Number(number)) : number)),
  );
}
