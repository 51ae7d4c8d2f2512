import fc from 'fast-check';

/*
 * Statements drawn from a grammar of what we and DuckDB both have, spelled for both. Where the two mean different things by
 * the same words (a day of the week, a substring behind the end), DuckDB is asked for what we document.
 */

/** The same text as we and as DuckDB spell it. */
interface Both {
  readonly ours: string;
  readonly theirs: string;
}

/** Pieces after each other; a plain text is spelled alike. */
function sql(pieces: TemplateStringsArray, ...values: readonly (Both | string)[]): Both {
  const joined = (side: keyof Both): string =>
    pieces.reduce((so, piece, index) => {
      const value = values[index - 1];
      return so + (value === undefined ? '' : typeof value === 'string' ? value : value[side]) + piece;
    });
  return { ours: joined('ours'), theirs: joined('theirs') };
}

function alike(text: string): Both {
  return { ours: text, theirs: text };
}

const long = fc.integer({ min: -4, max: 12 }).map((value) => alike(String(value)));
const double = fc.integer({ min: -9, max: 21 }).map((value) => ({ ours: `${value / 4}e0`, theirs: `${value / 4}::DOUBLE` }));
const WORDS = ['Oslo', 'rio', '', 'a b', ' x ', '12', '-3', '2.5', 'Rio_de', 'a%b', 'ab', 'b'];
const quoted = (word: string): string => `'${word.replaceAll("'", "''")}'`;
const word = fc.constantFrom(...WORDS).map((value) => alike(quoted(value)));
const instant = fc
  .integer({ min: 0, max: 900 })
  .map((hours) =>
    new Date(Date.UTC(2023, 11, 20, 5) + hours * 3_600_000 + (hours % 7) * 61_000).toISOString().slice(0, 19).replace('T', ' '),
  )
  .map((text) => alike(`TIMESTAMP '${text}'`));
const UNITS = ['YEAR', 'QUARTER', 'MONTH', 'WEEK', 'DAY', 'HOUR', 'MINUTE'];
const PARTS = ['YEAR', 'QUARTER', 'MONTH', 'WEEK', 'DAY', 'HOUR', 'MINUTE', 'SECOND', 'DOW', 'DOY', 'ISOYEAR'];

/** DuckDB reads a number with blanks around it; here that is none. */
function unlessBlank(text: string): string {
  return `CASE lower(${text}) WHEN 'true' THEN '1' WHEN 'false' THEN '0' ELSE CASE WHEN TRIM(${text}) = ${text} THEN ${text} END END`;
}

type Tree = Readonly<Record<'long' | 'double' | 'text' | 'instant' | 'truth', Both>>;

/** Expressions over a row of (i BIGINT, j BIGINT, d DOUBLE, s VARCHAR, r VARCHAR, t TIMESTAMP), of every type. */
const expressions = fc.letrec<Tree>((tie) => ({
  long: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.constantFrom('i', 'j').map(alike),
    long,
    fc.tuple(tie('long'), fc.constantFrom('+', '-', '*'), tie('long')).map(([a, operator, b]) => sql`(${a} ${operator} ${b})`),
    fc.tuple(tie('long'), long).map(([a, b]) => ({ ours: `(${a.ours} / ${b.ours})`, theirs: `(${a.theirs} // ${b.theirs})` })),
    fc.tuple(tie('long'), long).map(([a, b]) => sql`MOD(${a}, ${b})`),
    tie('long').map((a) => sql`ABS(${a})`),
    tie('long').map((a) => sql`(-(${a}))`),
    tie('text').map((a) => sql`LENGTH(${a})`),
    fc.tuple(tie('text'), word).map(([a, b]) => sql`STRPOS(${a}, ${b})`),
    fc.tuple(tie('long'), tie('long')).map(([a, b]) => sql`COALESCE(${a}, ${b})`),
    fc.tuple(tie('long'), tie('long')).map(([a, b]) => sql`NULLIF(${a}, ${b})`),
    fc.tuple(tie('long'), tie('long'), tie('long')).map(([a, b, c]) => sql`GREATEST(${a}, ${b}, ${c})`),
    fc.tuple(tie('long'), tie('long')).map(([a, b]) => sql`LEAST(${a}, ${b})`),
    fc.tuple(tie('truth'), tie('long'), tie('long')).map(([a, b, c]) => sql`CASE WHEN ${a} THEN ${b} ELSE ${c} END`),
    fc
      .tuple(tie('long'), long, tie('long'), long, tie('long'))
      .map(([a, b, c, d, e]) => sql`CASE ${a} WHEN ${b} THEN ${c} WHEN ${d} THEN ${e} END`),
    fc.tuple(fc.constantFrom(...PARTS), tie('instant')).map(([part, a]) => ({
      ours: `EXTRACT(${part} FROM ${a.ours})`,
      theirs: `EXTRACT(${part === 'DOW' ? 'ISODOW' : part} FROM ${a.theirs})`,
    })),
    tie('truth').map((a) => sql`CAST(${a} AS BIGINT)`),
    tie('double').map((a) => ({ ours: `CAST(${a.ours} AS BIGINT)`, theirs: `CAST(trunc(${a.theirs}) AS BIGINT)` })),
    fc.tuple(fc.constantFrom('AND', 'OR', 'XOR'), tie('long'), long).map(([name, a, b]) => ({
      ours: `BITWISE_${name}(${a.ours}, ${b.ours})`,
      theirs: name === 'XOR' ? `xor(${a.theirs}, ${b.theirs}::BIGINT)` : `(${a.theirs} ${name === 'AND' ? '&' : '|'} ${b.theirs})`,
    })),
    fc.tuple(tie('text'), word).map(([a, b]) => sql`POSITION(${b} IN ${a})`),
    fc.tuple(fc.constantFrom('DAY', 'HOUR', 'MINUTE'), tie('instant'), tie('instant')).map(([unit, a, b]) => ({
      ours: `TIMESTAMPDIFF(${unit}, ${a.ours}, ${b.ours})`,
      theirs: `date_sub('${unit}', ${a.theirs}, ${b.theirs})`,
    })),
  ),
  double: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.constant(alike('d')),
    double,
    fc.tuple(tie('double'), fc.constantFrom('+', '-', '*'), tie('long')).map(([a, operator, b]) => sql`(${a} ${operator} ${b})`),
    fc.tuple(tie('double'), fc.constantFrom('+', '-', '*'), tie('double')).map(([a, operator, b]) => sql`(${a} ${operator} ${b})`),
    fc.tuple(tie('double'), tie('double')).map(([a, b]) => sql`(${a} / NULLIF(${b}, 0))`),
    fc.tuple(fc.constantFrom('ABS', 'FLOOR', 'CEIL', 'SIGN'), tie('double')).map(([name, a]) => sql`${name}(${a})`),
    tie('double').map((a) => sql`ROUND(${a}, 1)`),
    tie('double').map((a) => sql`ROUND(${a})`),
    tie('double').map((a) => ({ ours: `TRUNCATE(${a.ours})`, theirs: `trunc(${a.theirs})` })),
    tie('double').map((a) => sql`SQRT(ABS(${a}))`),
    fc.tuple(tie('long'), fc.integer({ min: 0, max: 3 })).map(([a, b]) => sql`POWER(${a}, ${String(b)})`),
    tie('text').map((a) => ({ ours: `(${a.ours} * 1.5e0)`, theirs: `(TRY_CAST(${unlessBlank(a.theirs)} AS DOUBLE) * 1.5)` })),
    tie('long').map((a) => sql`CAST(${a} AS DOUBLE)`),
    fc.tuple(tie('double'), tie('double')).map(([a, b]) => sql`COALESCE(${a}, ${b})`),
    fc.tuple(tie('double'), tie('long')).map(([a, b]) => sql`GREATEST(${a}, ${b})`),
    fc.tuple(tie('truth'), tie('double'), tie('long')).map(([a, b, c]) => sql`CASE WHEN ${a} THEN ${b} ELSE ${c} END`),
    tie('text').map((a) => ({ ours: `CAST(${a.ours} AS DOUBLE)`, theirs: `TRY_CAST(${unlessBlank(a.theirs)} AS DOUBLE)` })),
  ),
  text: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.constantFrom('s', 'r').map(alike),
    word,
    fc.tuple(tie('text'), tie('text')).map(([a, b]) => sql`(${a} || ${b})`),
    fc.tuple(fc.constantFrom('UPPER', 'LOWER', 'REVERSE'), tie('text')).map(([name, a]) => sql`${name}(${a})`),
    fc.tuple(fc.constantFrom('TRIM', 'LTRIM', 'RTRIM'), tie('text')).map(([name, a]) => sql`${name}(${a})`),
    // A substring that begins behind the end is null.
    fc.tuple(tie('text'), fc.integer({ min: 1, max: 4 }), fc.integer({ min: 0, max: 4 })).map(([a, b, c]) => ({
      ours: `SUBSTRING(${a.ours}, ${b}, ${c})`,
      theirs: `CASE WHEN LENGTH(${a.theirs}) >= ${b} THEN SUBSTRING(${a.theirs}, ${b}, ${c}) END`,
    })),
    fc
      .tuple(fc.constantFrom('LEFT', 'RIGHT'), tie('text'), fc.integer({ min: 0, max: 4 }))
      .map(([name, a, b]) => sql`${name}(${a}, ${String(b)})`),
    fc
      .tuple(fc.constantFrom('LPAD', 'RPAD'), tie('text'), fc.integer({ min: 0, max: 6 }))
      // Padding to length 0 is null, as in Druid.
      .map(([name, a, b]) => ({
        ours: `${name}(${a.ours}, ${b}, '*')`,
        theirs: `CASE WHEN ${b} > 0 THEN ${name}(${a.theirs}, ${b}, '*') END`,
      })),
    fc.tuple(tie('text'), fc.constantFrom('o', 'a', ' ', 'io'), word).map(([a, b, c]) => sql`REPLACE(${a}, ${quoted(b)}, ${c})`),
    fc.tuple(tie('text'), fc.integer({ min: 1, max: 3 })).map(([a, b]) => sql`REPEAT(${a}, ${String(b)})`),
    tie('long').map((a) => sql`CAST(${a} AS VARCHAR)`),
    tie('truth').map((a) => sql`CAST(${a} AS VARCHAR)`),
    fc.tuple(tie('text'), word).map(([a, b]) => ({ ours: `CONCAT(${a.ours}, ${b.ours})`, theirs: `(${a.theirs} || ${b.theirs})` })),
    tie('text').map((a) => ({ ours: `BTRIM(${a.ours}, 'ab ')`, theirs: `trim(${a.theirs}, 'ab ')` })),
    fc
      .tuple(tie('text'), fc.constantFrom('[aeio]+', '^R', 'b$', '\\d', 'o|a'))
      .map(([a, b]) => ({ ours: `REGEXP_REPLACE(${a.ours}, '${b}', '-')`, theirs: `regexp_replace(${a.theirs}, '${b}', '-', 'g')` })),
    tie('instant').map((a) => ({ ours: `CAST(${a.ours} AS VARCHAR)`, theirs: `strftime(${a.theirs}, '%Y-%m-%d %H:%M:%S')` })),
    fc.tuple(tie('text'), tie('text')).map(([a, b]) => sql`COALESCE(${a}, ${b})`),
    fc.tuple(tie('text'), tie('text')).map(([a, b]) => sql`NULLIF(${a}, ${b})`),
    fc.tuple(tie('text'), tie('text')).map(([a, b]) => sql`GREATEST(${a}, ${b})`),
    fc.tuple(tie('truth'), tie('text'), tie('text')).map(([a, b, c]) => sql`CASE WHEN ${a} THEN ${b} ELSE ${c} END`),
    tie('instant').map((a) => ({ ours: `TIME_FORMAT(${a.ours}, 'yyyy-MM-dd HH')`, theirs: `strftime(${a.theirs}, '%Y-%m-%d %H')` })),
  ),
  instant: fc.oneof(
    { maxDepth: 2, depthSize: 'small' },
    fc.constant(alike('t')),
    instant,
    fc
      .tuple(fc.constantFrom(...UNITS), tie('instant'))
      .map(([unit, a]) => ({ ours: `FLOOR(${a.ours} TO ${unit})`, theirs: `date_trunc('${unit}', ${a.theirs})` })),
    fc
      .tuple(
        tie('instant'),
        fc.constantFrom('+', '-'),
        fc.integer({ min: 0, max: 40 }),
        fc.constantFrom('DAY', 'HOUR', 'MONTH', 'YEAR', 'MINUTE'),
      )
      .map(([a, operator, b, unit]) => sql`(${a} ${operator} INTERVAL '${String(b)}' ${unit})`),
    fc.tuple(tie('instant'), tie('instant')).map(([a, b]) => sql`COALESCE(${a}, ${b})`),
    fc
      .tuple(fc.constantFrom(['PT6H', '6 hours'] as const, ['PT15M', '15 minutes'] as const, ['P1D', '1 day'] as const), tie('instant'))
      .map(([[ours, theirs], a]) => ({
        ours: `TIME_FLOOR(${a.ours}, '${ours}')`,
        theirs: `time_bucket(INTERVAL '${theirs}', ${a.theirs}, TIMESTAMP '1970-01-01 00:00:00')`,
      })),
    fc
      .tuple(
        tie('instant'),
        fc.constantFrom(['PT1H', 'HOUR'] as const, ['P1D', 'DAY'] as const, ['P1M', 'MONTH'] as const),
        fc.integer({ min: -3, max: 15 }),
      )
      .map(([a, [period, unit], b]) => ({
        ours: `TIME_SHIFT(${a.ours}, '${period}', ${b})`,
        theirs: `(${a.theirs} + to_${unit.toLowerCase()}s(${b}))`,
      })),
    tie('text').map((a) => ({
      ours: `TIME_PARSE('2024-0' || LENGTH(${a.ours}) || '-01')`,
      theirs: `TRY_CAST('2024-0' || LENGTH(${a.theirs}) || '-01' AS TIMESTAMP)`,
    })),
    fc.tuple(tie('truth'), tie('instant'), tie('instant')).map(([a, b, c]) => sql`CASE WHEN ${a} THEN ${b} ELSE ${c} END`),
    tie('instant').map((a) => sql`CAST(CAST(${a} AS DATE) AS TIMESTAMP)`),
  ),
  truth: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc
      .tuple(tie('long'), fc.constantFrom('=', '<>', '<', '<=', '>', '>='), tie('long'))
      .map(([a, operator, b]) => sql`(${a} ${operator} ${b})`),
    fc
      .tuple(tie('double'), fc.constantFrom('=', '<>', '<', '<=', '>', '>='), tie('long'))
      .map(([a, operator, b]) => sql`(${a} ${operator} ${b})`),
    fc
      .tuple(tie('text'), fc.constantFrom('=', '<>', '<', '<=', '>', '>='), tie('text'))
      .map(([a, operator, b]) => sql`(${a} ${operator} ${b})`),
    fc
      .tuple(tie('instant'), fc.constantFrom('=', '<>', '<', '<=', '>', '>='), tie('instant'))
      .map(([a, operator, b]) => sql`(${a} ${operator} ${b})`),
    fc
      .tuple(tie('long'), fc.constantFrom('', 'NOT '), tie('long'), tie('double'))
      .map(([a, not, b, c]) => sql`(${a} ${not}BETWEEN ${b} AND ${c})`),
    fc
      .tuple(tie('long'), fc.constantFrom('', 'NOT '), long, long, tie('long'))
      .map(([a, not, b, c, d]) => sql`(${a} ${not}IN (${b}, ${c}, ${d}))`),
    fc.tuple(tie('text'), fc.constantFrom('', 'NOT '), word, word).map(([a, not, b, c]) => sql`(${a} ${not}IN (${b}, ${c}, NULL))`),
    fc
      .tuple(tie('text'), fc.constantFrom('', 'NOT '), fc.constantFrom('%o%', 'R%', '_b', '%', '', 'a!%b'))
      .map(([a, not, b]) => sql`(${a} ${not}LIKE ${quoted(b)} ESCAPE '!')`),
    fc
      .tuple(fc.oneof(tie('long'), tie('text'), tie('double'), tie('instant')), fc.constantFrom('IS NULL', 'IS NOT NULL'))
      .map(([a, is]) => sql`(${a} ${is})`),
    fc
      .tuple(tie('truth'), fc.constantFrom('IS TRUE', 'IS FALSE', 'IS NOT TRUE', 'IS NOT FALSE', 'IS NULL'))
      .map(([a, is]) => sql`(${a} ${is})`),
    fc.tuple(tie('text'), fc.constantFrom('', 'NOT '), tie('text')).map(([a, not, b]) => sql`(${a} IS ${not}DISTINCT FROM ${b})`),
    fc.tuple(tie('long'), fc.constantFrom('', 'NOT '), tie('long')).map(([a, not, b]) => sql`(${a} IS ${not}DISTINCT FROM ${b})`),
    fc.tuple(tie('truth'), fc.constantFrom('AND', 'OR'), tie('truth')).map(([a, operator, b]) => sql`(${a} ${operator} ${b})`),
    tie('truth').map((a) => sql`(NOT ${a})`),
    fc
      .tuple(tie('text'), word)
      .map(([a, b]) => ({ ours: `CONTAINS_STRING(${a.ours}, ${b.ours})`, theirs: `contains(${a.theirs}, ${b.theirs})` })),
    fc
      .tuple(tie('text'), fc.constantFrom('[aeio]+', '^R', 'b$', '^$', 'o|a'))
      .map(([a, b]) => ({ ours: `REGEXP_LIKE(${a.ours}, '${b}')`, theirs: `regexp_matches(${a.theirs}, '${b}')` })),
    fc.tuple(tie('long'), tie('long'), tie('long')).map(([a, b, c]) => ({
      ours: `ARRAY_CONTAINS(ARRAY[${a.ours}, ${b.ours}, 3], ${c.ours})`,
      theirs: `((${c.theirs}) IS NOT DISTINCT FROM (${a.theirs}) OR (${c.theirs}) IS NOT DISTINCT FROM (${b.theirs}) OR (${c.theirs}) IS NOT DISTINCT FROM 3)`,
    })),
    fc.tuple(tie('truth'), fc.constantFrom('=', '<>'), tie('truth')).map(([a, operator, b]) => sql`(${a} ${operator} ${b})`),
  ),
}));

const orNull = (value: fc.Arbitrary<Both>): fc.Arbitrary<Both> =>
  fc.oneof({ arbitrary: value, weight: 4 }, { arbitrary: fc.constant(alike('NULL')), weight: 1 });

/** The rows are written into the statement, or are those of a table. */
const inline = fc
  .array(fc.tuple(orNull(long), orNull(long), orNull(double), orNull(word), orNull(word), orNull(instant)), { minLength: 1, maxLength: 8 })
  .map((rows) => {
    const values = (side: keyof Both): string => rows.map((row) => `(${row.map((cell) => cell[side]).join(', ')})`).join(', ');
    const typed =
      'CAST(a AS BIGINT) AS i, CAST(b AS BIGINT) AS j, CAST(c AS DOUBLE) AS d, CAST(e AS VARCHAR) AS s, CAST(f AS VARCHAR) AS r, CAST(g AS TIMESTAMP) AS t';
    const from = (side: keyof Both): string => `(SELECT ${typed} FROM (VALUES ${values(side)}) AS v(a, b, c, e, f, g)) AS x`;
    return { ours: from('ours'), theirs: from('theirs') };
  });
const stored = fc.constant(
  alike('(SELECT usr AS i, added AS j, price AS d, city AS s, city || CAST(usr AS VARCHAR) AS r, __time AS t FROM edits) AS x'),
);
const { long: longs, double: doubles, text: texts, instant: instants, truth: truths } = expressions;
const any = fc.oneof(longs, doubles, texts, instants, truths);

const rows = fc.oneof(inline, stored);
const aliased = (from: Both, alias: string): Both => ({ ours: from.ours.replace(/x$/, alias), theirs: from.theirs.replace(/x$/, alias) });
/** The columns of an expression, of one of two rows. */
const of = (alias: string, { ours, theirs }: Both): Both => {
  const renamed = (text: string): string =>
    text.replace(/'(?:[^']|'')*'|\b[ijdsrt]\b/g, (part) => (part.startsWith("'") ? part : `${alias}.${part}`));
  return { ours: renamed(ours), theirs: renamed(theirs) };
};
const average = (a: Both): Both => sql`AVG(CAST(${a} AS DOUBLE))`;
const ORDER = 'i, j, d, s, r, t';

/** SELECT over one row source, grouped, joined, with windows, subqueries and set operations. */
export const statement = fc.oneof(
  fc
    .tuple(rows, any, any, fc.option(truths, { nil: null }))
    .map(([from, a, b, where]) => sql`SELECT ${a} AS a, ${b} AS b FROM ${from}${where === null ? '' : sql` WHERE ${where}`}`),
  fc
    .tuple(rows, fc.oneof(texts, longs, truths, instants), longs, doubles, any, truths, truths)
    .map(
      ([from, key, a, b, c, where, having]) =>
        sql`SELECT ${key} AS k, COUNT(*), SUM(${a}), MIN(${b}), MAX(${c}), ${average(b)}, COUNT(DISTINCT ${a}) FILTER (WHERE ${where}), BIT_XOR(${a}) FROM ${from} GROUP BY 1 HAVING COUNT(*) > 1 OR MIN(${a}) > 2 OR MAX(CASE WHEN ${having} THEN 1 ELSE 0 END) = 1`,
    ),
  // Without rows, several grouping sets give no row here.
  fc
    .tuple(rows, longs, texts, longs)
    .map(
      ([from, a, b, c]) =>
        sql`SELECT a, b, SUM(c), COUNT(*), GROUPING(a, b) FROM (SELECT ${a} AS a, ${b} AS b, ${c} AS c FROM ${from}) AS y GROUP BY GROUPING SETS ((a, b), (b), ())`,
    ),
  fc
    .tuple(
      fc.constantFrom('JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN'),
      rows,
      rows,
      longs,
      longs,
      any,
      any,
      fc.option(truths, { nil: null }),
      truths,
    )
    .map(
      ([join, left, right, a, b, c, d, also, where]) =>
        sql`SELECT ${of('x', c)} AS a, ${of('y', d)} AS b FROM ${left} ${join} ${aliased(right, 'y')} ON ${of('x', a)} = ${of('y', b)}${also === null ? '' : sql` AND ${of('y', also)}`} WHERE ${of('x', where)} IS NOT FALSE`,
    ),
  fc
    .tuple(rows, rows, longs, longs, truths, fc.constantFrom('IN', 'NOT IN'), any)
    .map(
      ([from, inner, a, b, where, isIn, c]) =>
        sql`SELECT ${c} AS a FROM ${from} WHERE ${a} ${isIn} (SELECT ${b} FROM ${inner} WHERE ${where})`,
    ),
  fc
    .tuple(rows, rows, longs, longs, fc.constantFrom('EXISTS', 'NOT EXISTS'), any)
    .map(
      ([from, inner, a, b, exists, c]) =>
        sql`SELECT ${of('x', c)} AS a FROM ${from} WHERE ${exists} (SELECT 1 FROM ${aliased(inner, 'y')} WHERE ${of('y', a)} = ${of('x', b)})`,
    ),
  fc
    .tuple(rows, rows, longs, texts, longs, texts, fc.constantFrom('UNION ALL', 'UNION', 'INTERSECT', 'EXCEPT'))
    .map(([one, other, a, b, c, d, set]) => sql`SELECT ${a} AS a, ${b} AS b FROM ${one} ${set} SELECT ${c}, ${d} FROM ${other}`),
  fc
    .tuple(
      rows,
      longs,
      fc.constantFrom(
        '',
        ' ROWS BETWEEN 1 PRECEDING AND CURRENT ROW',
        ' ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING',
        ' RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING',
      ),
      fc.oneof(texts, truths, longs),
    )
    .map(
      ([from, a, frame, key]) =>
        sql`SELECT a, RANK() OVER w, DENSE_RANK() OVER w, LAG(a) OVER w, LEAD(a, 2) OVER w, SUM(a) OVER (PARTITION BY k ORDER BY ${ORDER}${frame}), COUNT(a) OVER (PARTITION BY k ORDER BY ${ORDER}${frame}), MAX(a) OVER (PARTITION BY k ORDER BY ${ORDER}${frame}) FROM (SELECT ${ORDER}, ${a} AS a, ${key} AS k FROM ${from}) AS z WINDOW w AS (PARTITION BY k ORDER BY ${ORDER})`,
    ),
  fc
    .tuple(
      rows,
      longs,
      texts,
      fc.constantFrom('ASC', 'DESC'),
      fc.constantFrom('', ' NULLS FIRST', ' NULLS LAST'),
      fc.integer({ min: 1, max: 5 }),
    )
    .map(
      ([from, a, b, direction, nulls, limit]) =>
        sql`SELECT DISTINCT ${a} AS a, ${b} AS b FROM ${from} ORDER BY a ${direction}${nulls}, b ${direction}${nulls} LIMIT ${String(limit)} OFFSET 1`,
    ),
  fc
    .tuple(
      rows,
      fc.oneof(texts, longs, instants),
      fc.oneof(texts, longs, truths),
      longs,
      fc.constantFrom('n DESC, k, l', 'm, k DESC, l', 'k, l DESC'),
    )
    .map(
      ([from, k, l, a, order]) =>
        sql`SELECT ${k} AS k, ${l} AS l, COUNT(*) AS n, MAX(${a}) AS m FROM ${from} GROUP BY 1, 2 ORDER BY ${order} LIMIT 4`,
    ),
  fc
    .tuple(rows, rows, fc.oneof(texts, instants), longs, longs, fc.constantFrom('JOIN', 'LEFT JOIN', 'FULL JOIN'))
    .map(
      ([one, other, key, a, b, join]) =>
        sql`SELECT p.k, p.n, q.k, q.m FROM (SELECT ${key} AS k, COUNT(*) AS n FROM ${one} GROUP BY 1) AS p ${join} (SELECT ${key} AS k, SUM(${a}) AS m, MIN(${b}) AS o FROM ${other} GROUP BY 1 HAVING COUNT(*) < 5) AS q ON p.k = q.k AND q.o IS NOT NULL`,
    ),
);
