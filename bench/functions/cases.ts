/**
 * An expression over a column of the table, asked as an aggregate: the sum of a number, of a string's length, or the rows for which
 * a condition holds. `duckdb` is the same in DuckDB's words; null where it has no such function.
 */
export interface Case {
  readonly name: string;
  readonly sql: string;
  readonly duckdb: string | null;
}

type Words = readonly [name: string, sql: string, duckdb?: string | null | undefined];

const NUMBERS = ['tiny', 'long', 'wide', 'dbl', 'dec', 'flt'] as const;
const LONGS = ['tiny', 'long', 'wide'] as const;
const STRINGS = ['low', 'mid', 'high'] as const;

const sum = (expression: string): string => `SUM(${expression})`;
const most = (expression: string): string => `MAX(${expression})`;
const lengths = (expression: string): string => `SUM(LENGTH(${expression}))`;
const holds = (expression: string): string => `COUNT(*) FILTER (WHERE ${expression})`;

/** Functions of one number, `x`. */
const OF_NUMBERS: readonly Words[] = [
  ['x + 1', most('x + 1')],
  ['x * 3 - 7', most('x * 3 - 7'), most('x * 3::DOUBLE - 7')],
  ['x + tiny', most('x + tiny')],
  ['-x', most('-x')],
  ['ABS', most('ABS(x)')],
  ['SIGN', sum('SIGN(x)')],
  ['x > 100', holds('x > 100')],
  ['x <> tiny', holds('x <> tiny')],
  ['x / 3.5', most('x / 3.5'), most('x / 3.5::DOUBLE')],
  ['MOD', sum('MOD(x, 7)'), sum('x % 7')],
  ['CASE of two', most('CASE WHEN x > 50 THEN x ELSE 0 END')],
  ['CASE of four', most('CASE WHEN x > 100 THEN tiny WHEN x > 50 THEN tiny * 2 WHEN x IS NULL THEN 5 ELSE 0 END')],
  ['CASE to strings', lengths("CASE WHEN x > 100 THEN 'many' WHEN x > 50 THEN 'some' ELSE 'few' END")],
  ['COALESCE', most('COALESCE(x, 7)')],
  ['NULLIF', most('NULLIF(x, 7)')],
  ['GREATEST', most('GREATEST(x, tiny)')],
  ['IS NULL as number', sum('CASE WHEN x IS NULL THEN 1 ELSE 0 END')],
  ['AND, OR', holds('(x > 10 AND tiny < 100) OR (x < -10 AND tiny > 150)')],
  ['BETWEEN of expressions', holds('x + tiny BETWEEN 10 AND 1000')],
  ['IN', holds('x IN (1, 7, 19, 44, 100, 150)')],
  ['CAST AS DOUBLE', most('CAST(x AS DOUBLE)')],
  ['AVG of CAST AS DOUBLE', 'AVG(CAST(x AS DOUBLE))'],
  ['CAST AS FLOAT', most('CAST(x AS FLOAT)')],
  // The digits of a FLOAT are those of a DOUBLE here, fewer there.
  ['CAST AS VARCHAR', holds('LENGTH(CAST(x AS VARCHAR)) > 0')],
  ['SQRT', sum('SQRT(ABS(x))')],
  ['LN', sum('LN(ABS(x) + 1)')],
  ['EXP', sum('EXP(x / 1e19)')],
  ['POWER', sum('POWER(x / 1e6, 2)')],
  ['SIN', sum('SIN(x)')],
  ['ATAN2', sum('ATAN2(x, tiny + 1)')],
  ['FLOOR', most('FLOOR(x)')],
  ['CEIL', most('CEIL(x)')],
  ['ROUND', most('ROUND(x)')],
  ['ROUND to 1', most('ROUND(x, 1)')],
  ['TRUNCATE', most('TRUNCATE(x)'), most('TRUNC(x)')],
  ['SAFE_DIVIDE', most('SAFE_DIVIDE(x, tiny)'), null],
];

/** Functions of one LONG. */
const OF_LONGS: readonly Words[] = [
  ['DIV', most('DIV(x, 7)'), most('x // 7')],
  ['x / tiny', most('x / NULLIF(tiny, 0)'), most('x // NULLIF(tiny, 0)')],
  ['BITWISE_AND', sum('BITWISE_AND(x, 255)'), sum('x & 255')],
  ['BITWISE_OR', most('BITWISE_OR(x, 255)'), most('x | 255')],
  ['BITWISE_XOR', most('BITWISE_XOR(x, 255)'), most('xor(x, 255)')],
  ['BITWISE_SHIFT_RIGHT', most('BITWISE_SHIFT_RIGHT(x, 3)'), most('x >> 3')],
  ['BITWISE_COMPLEMENT', most('BITWISE_COMPLEMENT(x)'), most('~x')],
  [
    'sum of x + n',
    'SUM(tiny + 1), SUM(tiny + 2), SUM(tiny + 3), SUM(tiny + 4), SUM(tiny + 5), SUM(tiny + 6), SUM(tiny + 7), SUM(tiny + 8)',
  ],
  ['MILLIS_TO_TIMESTAMP', most("TIME_FLOOR(MILLIS_TO_TIMESTAMP(x + 1600000000000), 'PT1H')"), null],
];

/** Functions of one DOUBLE. */
const OF_DOUBLES: readonly Words[] = [
  ['CAST AS BIGINT', most('CAST(x AS BIGINT)'), most('CAST(TRUNC(x) AS BIGINT)')],
  ['x * x', most('x * x')],
  ['BITWISE bits', most('BITWISE_CONVERT_DOUBLE_TO_LONG_BITS(x)'), null],
];

/** Functions of one string. */
const OF_STRINGS: readonly Words[] = [
  ['LENGTH', sum('LENGTH(x)')],
  ['UPPER', lengths('UPPER(x)')],
  ['SUBSTRING', lengths('SUBSTRING(x, 3, 5)')],
  ['SUBSTRING to a place', lengths("SUBSTRING(x, 1, POSITION('or' IN x) + 1)")],
  ['LEFT', lengths('LEFT(x, 4)')],
  ['LEFT but two', lengths('LEFT(x, LENGTH(x) - 2)')],
  ['RIGHT', lengths('RIGHT(x, 4)')],
  ['TRIM', lengths('TRIM(x)')],
  ['concat of a constant', lengths("x || '/'")],
  ['concat of two', lengths("x || '/' || low")],
  ['concat with a number', lengths('x || CAST(tiny AS VARCHAR)')],
  ['REPLACE', lengths("REPLACE(x, 'an', 'AN')")],
  ['POSITION', sum("POSITION('or' IN x)")],
  ['STRPOS', sum("STRPOS(x, 'el')")],
  ['STRPOS of a column', sum('STRPOS(x, low)')],
  ['GREATEST of strings', lengths('GREATEST(x, low)')],
  ['REVERSE', lengths('REVERSE(x)')],
  ['LPAD', lengths("LPAD(x, 50, '-')")],
  ['LIKE %x%', holds("x LIKE '%orda%'")],
  ['LIKE x%', holds("x LIKE 'bel%'")],
  ['REGEXP_LIKE', holds("REGEXP_LIKE(x, '[a-f]or[0-9]*')"), holds("regexp_matches(x, '[a-f]or[0-9]*')")],
  ['REGEXP_EXTRACT', lengths("REGEXP_EXTRACT(x, '([a-z]+)', 1)")],
  ['REGEXP_REPLACE', lengths("REGEXP_REPLACE(x, '[0-9]+', '#')"), lengths("REGEXP_REPLACE(x, '[0-9]+', '#', 'g')")],
  ['x = y', holds('x = low')],
  ['x < y', holds('x < low')],
  ['= constant', holds("x = 'anan 0'")],
  ['CASE on strings', sum("CASE WHEN x LIKE 'a%' THEN 1 WHEN x > 'k' THEN 2 ELSE 0 END")],
  ['CASE to a column', lengths("CASE WHEN tiny > 100 THEN x ELSE 'none' END")],
  ['COALESCE of strings', lengths('COALESCE(x, low)')],
  ['COUNT DISTINCT', 'COUNT(DISTINCT x)'],
  ['MIN', 'MIN(x)'],
  ['MAX of SUBSTRING', 'MAX(SUBSTRING(x, 1, 30))'],
  ['LATEST', 'LATEST(x)', 'arg_max(x, __time)'],
];

/** Functions of `__time`. */
const OF_TIME: readonly Words[] = [
  ...['SECOND', 'MINUTE', 'HOUR', 'DAY', 'DOW', 'DOY', 'WEEK', 'MONTH', 'QUARTER', 'YEAR', 'EPOCH'].map(
    (unit): Words => [
      `EXTRACT ${unit}`,
      sum(`EXTRACT(${unit} FROM __time)`),
      unit === 'EPOCH' ? sum('CAST(FLOOR(EXTRACT(EPOCH FROM __time)) AS BIGINT)') : unit === 'DOW' ? null : undefined,
    ],
  ),
  ...(
    [
      ['PT1M', 'minute'],
      ['PT1H', 'hour'],
      ['P1D', 'day'],
      ['P1W', 'week'],
      ['P1M', 'month'],
      ['P1Y', 'year'],
    ] as const
  ).map(
    ([period, unit]): Words => [`TIME_FLOOR ${period}`, most(`TIME_FLOOR(__time, '${period}')`), most(`date_trunc('${unit}', __time)`)],
  ),
  [
    'TIME_FLOOR in a zone',
    most("TIME_FLOOR(__time, 'P1D', NULL, 'America/New_York')"),
    most("date_trunc('day', timezone('America/New_York', timezone('UTC', __time))) + INTERVAL 4 HOUR"),
  ],
  ['TIME_SHIFT', most("TIME_SHIFT(__time, 'P1D', 1)"), most('__time + INTERVAL 1 DAY')],
  ['TIME_CEIL', most("TIME_CEIL(__time, 'PT1H')"), null],
  ['TIMESTAMPADD', most('TIMESTAMPADD(HOUR, 5, __time)'), most('__time + INTERVAL 5 HOUR')],
  [
    'TIMESTAMPDIFF',
    sum("TIMESTAMPDIFF(HOUR, TIMESTAMP '2023-01-01 00:00:00', __time)"),
    sum("date_sub('hour', TIMESTAMP '2023-01-01 00:00:00', __time)"),
  ],
  ['TIME_FORMAT', lengths("TIME_FORMAT(__time, 'yyyy-MM-dd HH')"), lengths("strftime(__time, '%Y-%m-%d %H')")],
  ['CAST AS DATE', most('CAST(__time AS DATE)')],
  ['CAST AS VARCHAR', lengths('CAST(__time AS VARCHAR)'), lengths("strftime(__time, '%Y-%m-%d %H:%M:%S')")],
  ['MILLIS', most('TIMESTAMP_TO_MILLIS(__time)'), most('epoch_ms(__time)')],
  ['comparison', holds("__time > TIMESTAMP '2023-09-01 00:00:00'")],
  ['CASE on time', sum("CASE WHEN __time > TIMESTAMP '2023-09-01 00:00:00' THEN tiny ELSE 0 END")],
];

/** Functions of strings that look like numbers and of several values, and aggregates that are not sums. */
const OTHERS: readonly Words[] = [
  ['CAST(digits AS BIGINT)', sum('CAST(digits AS BIGINT)')],
  ['CAST(digits AS DOUBLE)', sum('CAST(digits AS DOUBLE)')],
  ['PARSE_LONG', sum('PARSE_LONG(digits)'), null],
  ['MV_LENGTH', sum('MV_LENGTH(tags)'), sum('len(tags)')],
  ['MV_CONTAINS', holds("MV_CONTAINS(tags, 't3')"), holds("list_contains(tags, 't3')")],
  ['MV_OVERLAP', holds("MV_OVERLAP(tags, ARRAY['t3', 't4'])"), holds("list_has_any(tags, ['t3', 't4'])")],
  ['MV_FILTER_ONLY', sum("MV_LENGTH(MV_FILTER_ONLY(tags, ARRAY['t3', 't4']))"), sum("len(list_filter(tags, x -> x IN ('t3', 't4')))")],
  ['MV_TO_STRING', lengths("MV_TO_STRING(tags, ',')"), lengths("array_to_string(tags, ',')")],
  // A row's values are sorted as they are stored.
  ['MV_OFFSET', lengths('MV_OFFSET(tags, 0)'), lengths('list_min(tags)')],
  ['MV_TO_ARRAY', sum('ARRAY_LENGTH(MV_TO_ARRAY(tags))'), sum('len(tags)')],
  ['STDDEV', 'STDDEV(dbl)', 'STDDEV(dbl)'],
  ['VAR_POP', 'VAR_POP(tiny)', 'VAR_POP(tiny)'],
  ['LATEST(tiny)', 'LATEST(tiny)', 'arg_max(tiny, __time)'],
  ['EARLIEST(dbl)', 'EARLIEST(dbl)', 'arg_min(dbl, __time)'],
  ['LATEST_BY', 'LATEST_BY(tiny, MILLIS_TO_TIMESTAMP(wide))', 'arg_max(tiny, wide)'],
  ['ANY_VALUE', 'ANY_VALUE(tiny)', null],
  ['COUNT(DISTINCT long)', 'COUNT(DISTINCT long)'],
  ['COUNT(DISTINCT dbl)', 'COUNT(DISTINCT dbl)'],
  ['SUM FILTER', 'SUM(long) FILTER (WHERE tiny > 100)'],
  ['BIT_AND', 'BIT_AND(tiny)'],
  ['BIT_XOR', 'BIT_XOR(wide)'],
  ['STRING_AGG', "LENGTH(STRING_AGG(DISTINCT low, ',', 100000))", "LENGTH(STRING_AGG(DISTINCT low, ','))"],
];

const named = (of: string, words: readonly Words[]): Case[] =>
  words.map(([name, sql, duckdb]) => ({
    name: `${name} of ${of}`,
    sql: sql.replaceAll(/\bx\b/g, of),
    duckdb: duckdb === null ? null : (duckdb ?? sql).replaceAll(/\bx\b/g, of),
  }));

export const CASES: readonly Case[] = [
  ...NUMBERS.flatMap((column) => named(column, OF_NUMBERS)),
  ...LONGS.flatMap((column) => named(column, OF_LONGS)),
  ...['dbl', 'dec', 'flt'].flatMap((column) => named(column, OF_DOUBLES)),
  ...STRINGS.flatMap((column) => named(column, OF_STRINGS)),
  ...OF_TIME.map(([name, sql, duckdb]) => ({ name: `${name} of __time`, sql, duckdb: duckdb === null ? null : (duckdb ?? sql) })),
  ...OTHERS.map(([name, sql, duckdb]) => ({ name, sql, duckdb: duckdb === null ? null : (duckdb ?? sql) })),
];
