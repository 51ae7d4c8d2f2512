import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../../src/base/errors.js';
import { RULES } from '../../../src/planner/sql/relation/rules/rules.js';
import { caseCount } from '../../case-count.js';
import { answer, memory } from './small-tables.js';

/*
 * Statements drawn from a grammar, with answers that must agree with each other whatever they are: 10,000 in `npm test`.
 *
 *   ternary logic   the rows where a condition is true, false and unknown, together, are all rows
 *   rules           the same rows with a rule as without it, and with none of them
 *   parameters      the same rows with a literal as with a `?`
 */

/** A statement cut at its literals: `texts[0] + literal 0 + texts[1] + ...`. */
interface Cut {
  readonly texts: readonly string[];
  readonly literals: readonly Literal[];
}

interface Literal {
  readonly type: 'BIGINT' | 'DOUBLE' | 'VARCHAR';
  readonly value: number | string;
}

function cut(text: string): Cut {
  return { texts: [text], literals: [] };
}

/** Pieces after each other. */
function sql(pieces: TemplateStringsArray, ...values: readonly (Cut | string)[]): Cut {
  let texts = [pieces[0] ?? ''];
  const literals: Literal[] = [];
  values.forEach((value, index) => {
    const [first = '', ...rest] = typeof value === 'string' ? [value] : value.texts;
    texts = [...texts.slice(0, -1), (texts.at(-1) ?? '') + first, ...rest];
    if (typeof value !== 'string') literals.push(...value.literals);
    texts[texts.length - 1] += pieces[index + 1] ?? '';
  });
  return { texts, literals };
}

function written({ type, value }: Literal): string {
  if (type === 'VARCHAR') return `'${String(value).replaceAll("'", "''")}'`;
  return type === 'DOUBLE' ? Number(value).toExponential() : String(value);
}

function withLiterals({ texts, literals }: Cut): string {
  return texts.map((text, index) => text + (index < literals.length ? written(literals[index] as Literal) : '')).join('');
}

const literalOf = (literal: Literal): Cut => ({ texts: ['', ''], literals: [literal] });
const long = fc.integer({ min: -3, max: 12 }).map((value) => literalOf({ type: 'BIGINT', value }));
const double = fc.integer({ min: -8, max: 40 }).map((value) => literalOf({ type: 'DOUBLE', value: value / 4 }));
const text = fc.constantFrom('Rio', 'Oslo', 'u1', 'u3', '', "it's", 'R%', '_slo').map((value) => literalOf({ type: 'VARCHAR', value }));

interface Columns {
  readonly longs: readonly string[];
  readonly doubles: readonly string[];
  readonly texts: readonly string[];
}

function number({ longs, doubles }: Columns): fc.Arbitrary<Cut> {
  const column = fc.constantFrom(...longs, ...doubles).map(cut);
  const leaf = fc.oneof({ arbitrary: column, weight: 3 }, long, double);
  return fc.oneof(
    { arbitrary: leaf, weight: 4 },
    fc.tuple(leaf, fc.constantFrom('+', '-', '*'), leaf).map(([a, operator, b]) => sql`(${a} ${operator} ${b})`),
    fc.tuple(leaf, leaf).map(([a, b]) => sql`COALESCE(${a}, ${b})`),
    fc.tuple(leaf, leaf, leaf).map(([a, b, c]) => sql`CASE WHEN ${a} > ${b} THEN ${c} END`),
    leaf.map((a) => sql`ABS(${a})`),
  );
}

function texts(columns: Columns): fc.Arbitrary<Cut> {
  const column = fc.constantFrom(...columns.texts).map(cut);
  return fc.oneof(
    { arbitrary: column, weight: 3 },
    { arbitrary: text, weight: 2 },
    column.map((a) => sql`UPPER(${a})`),
    fc.tuple(column, column).map(([a, b]) => sql`COALESCE(${a}, ${b})`),
    fc.tuple(column, text).map(([a, b]) => sql`(${a} || ${b})`),
  );
}

function condition(columns: Columns): fc.Arbitrary<Cut> {
  const numbers = number(columns);
  const strings = texts(columns);
  const compare = fc.constantFrom('=', '<>', '<', '<=', '>', '>=');
  const { condition: any } = fc.letrec<{ condition: Cut }>((tie) => ({
    condition: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      fc.tuple(numbers, compare, numbers).map(([a, operator, b]) => sql`${a} ${operator} ${b}`),
      fc.tuple(strings, compare, strings).map(([a, operator, b]) => sql`${a} ${operator} ${b}`),
      fc.tuple(fc.oneof(numbers, strings), fc.constantFrom('IS NULL', 'IS NOT NULL')).map(([a, is]) => sql`${a} ${is}`),
      fc.tuple(numbers, fc.boolean(), long, double).map(([a, not, b, c]) => sql`${a} ${not ? 'NOT ' : ''}BETWEEN ${b} AND ${c}`),
      fc
        .tuple(fc.constantFrom(...columns.longs).map(cut), fc.boolean(), long, long)
        .map(([a, not, b, c]) => sql`${a} ${not ? 'NOT ' : ''}IN (${b}, ${c})`),
      fc
        .tuple(fc.constantFrom(...columns.texts).map(cut), fc.boolean(), text, text)
        .map(([a, not, b, c]) => sql`${a} ${not ? 'NOT ' : ''}IN (${b}, ${c})`),
      fc.tuple(strings, fc.boolean(), text).map(([a, not, b]) => sql`${a} ${not ? 'NOT ' : ''}LIKE ${b}`),
      fc.tuple(tie('condition'), fc.constantFrom('AND', 'OR'), tie('condition')).map(([a, operator, b]) => sql`(${a} ${operator} ${b})`),
      tie('condition').map((a) => sql`NOT (${a})`),
    ),
  }));
  return any;
}

const EDITS: Columns = { longs: ['e.usr', 'e.added'], doubles: ['e.price'], texts: ['e.city'] };
const JOINED: Columns = {
  longs: ['e.usr', 'e.added', 'u.id'],
  doubles: ['e.price', 'u.score'],
  texts: ['e.city', 'u.name', 'u.city'],
};

/** FROM clause of a statement, and the columns that a condition over its rows may name. */
interface Source {
  readonly from: Cut;
  readonly columns: Columns;
  readonly select: string;
}

const source: fc.Arbitrary<Source> = fc.oneof(
  fc.constant({ from: cut('edits e'), columns: EDITS, select: 'e.__time, e.city, e.usr, e.added, e.price' }),
  fc
    .tuple(fc.constantFrom('JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN'), fc.option(condition(JOINED), { nil: null }))
    .map(([join, also]) => ({
      from: also === null ? sql`edits e ${join} users u ON e.usr = u.id` : sql`edits e ${join} users u ON e.usr = u.id AND ${also}`,
      columns: JOINED,
      select: 'e.__time, e.usr, e.added, u.id, u.name',
    })),
  fc
    .tuple(
      fc.constantFrom('e.usr = u.id', 'e.usr = u.id AND e.city = u.city'),
      fc.constantFrom('v.id = e.usr', 'v.city = e.city', 'v.score = e.usr'),
    )
    .map(([one, other]) => ({
      from: cut(`users v JOIN edits e ON ${other} JOIN users u ON ${one}`),
      columns: JOINED,
      select: 'e.__time, e.usr, u.id, v.id, v.name',
    })),
  condition(EDITS).map((inner) => ({
    from: sql`(SELECT city, usr + 1 AS usr, added, price FROM edits e WHERE ${inner}) e`,
    columns: EDITS,
    select: 'e.city, e.usr, e.price',
  })),
  fc.constant({
    from: cut('(SELECT city, added, usr, price FROM edits UNION ALL SELECT city, id, id, score FROM users) e'),
    columns: EDITS,
    select: 'e.city, e.added, e.price',
  }),
  fc.constant({
    from: cut('(SELECT city, usr, COUNT(*) AS added, MAX(price) AS price FROM edits GROUP BY city, usr) e'),
    columns: EDITS,
    select: 'e.city, e.usr, e.added, e.price',
  }),
);

const conditioned = source.chain((from) => condition(from.columns).map((where) => ({ from, where })));

/** The rows of a statement, sorted, or the code of a typed error. */
async function rowsOf(query: string, rulesOff: readonly string[] = [], parameters: readonly Literal[] = []): Promise<string[] | string> {
  try {
    return (await answer(query, rulesOff, parameters)).map((row) => JSON.stringify(row)).sort();
  } catch (error) {
    if (error instanceof ServiceError && error.code !== 'internal') return `${error.code}: ${error.message}`;
    throw error;
  }
}

const CONDITIONS = caseCount(1_600);
const RULE_STATEMENTS = caseCount(800);
const PARAMETER_STATEMENTS = caseCount(600);

const oracles = suite('statements agree with themselves');
let answered = 0;

oracles(`a condition is true, false or unknown of every row: ${CONDITIONS} conditions, four statements each`, async () => {
  await fc.assert(
    fc.asyncProperty(conditioned, async ({ from, where }) => {
      const over = (test: Cut): Promise<string[] | string> => rowsOf(withLiterals(sql`SELECT ${from.select} FROM ${from.from} ${test}`));
      const all = await over(cut(''));
      const parts = await Promise.all([over(sql`WHERE ${where}`), over(sql`WHERE NOT (${where})`), over(sql`WHERE (${where}) IS NULL`)]);
      if (typeof all === 'string' || parts.some((part) => typeof part === 'string')) return;
      answered++;
      assert.equal(parts.flat().sort(), all, withLiterals(where));
    }),
    { numRuns: CONDITIONS },
  );
  // The grammar would show nothing if hardly any condition were accepted.
  assert.ok(answered > 0.75 * CONDITIONS, `only ${answered} were answered`);
});

const aggregated = fc.tuple(conditioned, fc.boolean()).map(([{ from, where }, groups]) => {
  if (!groups) return sql`SELECT ${from.select} FROM ${from.from} WHERE ${where}`;
  return sql`SELECT e.city, COUNT(*), SUM(e.added), MIN(e.price), MAX(e.added) FROM ${from.from} WHERE ${where} GROUP BY e.city HAVING COUNT(*) > 1`;
});

oracles(`the same rows with a rule as without it: ${RULE_STATEMENTS} statements, planned in three ways`, async () => {
  await fc.assert(
    fc.asyncProperty(aggregated, fc.constantFrom(...RULES.map(({ name }) => name)), async (statement, rule) => {
      const query = withLiterals(statement);
      const expected = await rowsOf(query);
      if (typeof expected === 'string') return;
      assert.equal(await rowsOf(query, [rule]), expected, `without ${rule}: ${query}`);
      const none = await rowsOf(
        query,
        RULES.map(({ name }) => name),
      );
      assert.equal(none, expected, `without rules: ${query}`);
    }),
    { numRuns: RULE_STATEMENTS },
  );
});

oracles(`the same rows with a literal as with a parameter: ${PARAMETER_STATEMENTS} statements`, async () => {
  await fc.assert(
    fc.asyncProperty(aggregated, async (statement) => {
      const expected = await rowsOf(withLiterals(statement));
      if (typeof expected === 'string') return;
      assert.equal(await rowsOf(statement.texts.join('?'), [], statement.literals), expected, withLiterals(statement));
    }),
    { numRuns: PARAMETER_STATEMENTS },
  );
});

oracles.after(() => assert.is(memory.allocatedBytes, 0));

oracles.run();
