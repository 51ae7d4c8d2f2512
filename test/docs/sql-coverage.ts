import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ServiceError } from '../../src/base/errors.js';
import { SQL_AGGREGATES } from '../../src/planner/sql/bind/aggregates.js';
import { SQL_FUNCTIONS } from '../../src/planner/sql/bind/functions.js';
import { planSql } from '../../src/planner/sql/plan-sql.js';
import { type Example, FUNCTION_EXAMPLES, statementsOf } from '../planner/sql/function-examples.js';
import { codeOf, type Treatment } from './native-coverage.js';

// Treatment of every documented SQL function: its examples are planned, or it is looked up by its name.

const FILE = fileURLToPath(new URL('../../../test/fixtures/sql-functions.json', import.meta.url));
export const SQL_DOCUMENT = fileURLToPath(new URL('../../../docs/sql-coverage.md', import.meta.url));
const DOCUMENTED = JSON.parse(readFileSync(FILE, 'utf8')) as Readonly<Record<string, readonly string[]>>;

/** Functions in the planner's tables that the reference does not list. */
const OTHERS = [...SQL_FUNCTIONS.keys(), ...Object.keys(SQL_AGGREGATES)].filter(
  (name) => !Object.values(DOCUMENTED).some((names) => names.includes(name)),
);
const FAMILIES = { ...DOCUMENTED, 'Beside the reference': OTHERS };

const NO_TABLES = { tables: () => [], table: () => undefined };

function planned(sql: string): Treatment {
  try {
    planSql({ query: sql, context: {}, parameters: [] }, NO_TABLES, 0);
    return { state: 'answered', note: '' };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return error.code === 'unsupported' ? { state: 'refused', reason: error.message } : { state: 'unknown', message: error.message };
  }
}

const hasExamples = (name: string): boolean => Object.hasOwn(FUNCTION_EXAMPLES, name);

function examplesOf(name: string): readonly Example[] {
  return FUNCTION_EXAMPLES[name] ?? [];
}

/** A function with examples is answered when all of them are planned; without, it can only be refused. */
export function treatmentOfSqlFunction(name: string): Treatment {
  if (hasExamples(name)) {
    const treatments = examplesOf(name)
      .flatMap(statementsOf)
      .map(({ sql }) => planned(sql));
    const first = treatments.find(({ state }) => state !== 'answered') ?? treatments[0];
    return first ?? { state: 'unknown', message: `no example of ${name}` };
  }
  const treatment = planned(`SELECT ${name}(1, 1)`);
  if (treatment.state === 'answered') return { state: 'unknown', message: `${name} is answered without an example` };
  return treatment.state === 'refused' ? { state: 'refused', reason: reasonOf(name) ?? '' } : treatment;
}

/** Why functions are refused; a refused name without a reason fails the test. */
const REASONS: readonly { readonly names: readonly string[]; readonly reason: string }[] = [
  {
    names: [
      ...(DOCUMENTED['Contributed extensions'] ?? []),
      ...(DOCUMENTED['Aggregates of t-digests (contributed)'] ?? []),
      ...(DOCUMENTED['Aggregates of Spectator (contributed)'] ?? []),
    ],
    reason: 'of a contributed extension',
  },
];

function reasonOf(name: string): string | undefined {
  return REASONS.find(({ names }) => names.includes(name))?.reason;
}

export interface SqlFunctionRow {
  readonly name: string;
  readonly treatment: Treatment;
  readonly example: string;
}

export function sqlCoverage(): readonly { readonly title: string; readonly rows: readonly SqlFunctionRow[] }[] {
  return Object.entries(FAMILIES).map(([title, names]) => ({
    title,
    rows: names.map((name) => ({ name, treatment: treatmentOfSqlFunction(name), example: exampleText(name) })),
  }));
}

function exampleText(name: string): string {
  const [first] = examplesOf(name);
  return first === undefined ? '' : (statementsOf(first)[0]?.sql ?? '');
}

const HEAD = `# What of the functions of SQL is answered

Every documented function, and how it is treated: answered, with one of its examples, or refused by name with its reason. This
page is written by \`node scripts/sql-coverage.mjs\` from what the planner says to the examples in
\`test/planner/sql/examples/\`. A test runs every example, over literals and over columns, and compares its value; another fails
when this page is out of date, or when a name is neither answered nor refused.

Known differences: of no rows \`BLOOM_FILTER\` is null instead of an empty filter, and \`APPROX_QUANTILE\` and \`APPROX_QUANTILE_DS\` are null
instead of not a number; the summaries of sketches for people (\`HLL_SKETCH_TO_STRING\`, \`DS_QUANTILE_SUMMARY\`) have words of their own.
`;

/** The page. */
export function sqlCoveragePage(): string {
  const families = sqlCoverage();
  const documented = families.filter(({ title }) => Object.hasOwn(DOCUMENTED, title));
  const distinct = new Map(documented.flatMap(({ rows }) => rows.map((row) => [row.name, row.treatment.state] as const)));
  const answeredCount = [...distinct.values()].filter((state) => state === 'answered').length;
  const parts = families.map(({ title, rows }) => {
    const answered = rows.filter(({ treatment }) => treatment.state === 'answered');
    const lines = [`## ${title}`, '', `${answered.length} of ${rows.length} answered.`, ''];
    if (answered.length > 0) lines.push('| Function | Example |', '| --- | --- |');
    for (const { name, example } of answered) lines.push(`| ${codeOf(name)} | ${codeOf(example.replaceAll('|', '\\|'))} |`);
    if (answered.length > 0) lines.push('');
    for (const { name, treatment } of rows)
      if (treatment.state !== 'answered')
        lines.push(`- ${codeOf(name)} is ${treatment.state === 'refused' ? `refused: ${treatment.reason}` : 'unknown'}`);
    return `${lines.join('\n').trimEnd()}\n`;
  });
  return [HEAD, `${answeredCount} of ${distinct.size} documented functions are answered.\n`, ...parts].join('\n');
}
