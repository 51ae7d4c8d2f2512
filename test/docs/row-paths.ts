import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { CASES } from '../../bench/functions/cases.js';
import { FUNCTIONS_COLUMNS, functionsRows } from '../../bench/functions/table.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { newProfile } from '../../src/model/profile.js';
import { inlineFrame } from '../../src/planner/sql/catalog/inline-frame.js';
import { planSql } from '../../src/planner/sql/plan-sql.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';

// Functions that the engine computes in JavaScript, as its own profile tells when it runs each of them.

export const ROW_PATHS_DOCUMENT = fileURLToPath(new URL('../../../docs/row-paths.md', import.meta.url));
/** Nanoseconds of processor time a row, and DuckDB's: figures of `npm run bench -- functions`, copied. */
const COSTS = new Map<string, readonly (number | null)[]>(
  Object.entries(JSON.parse(readFileSync(fileURLToPath(new URL('../../../test/docs/row-costs.json', import.meta.url)), 'utf8'))),
);

/** Enough for dictionaries of 250 strings to be small and those of as many strings as rows to be large. */
const ROWS = 20_000;
const TYPES: Readonly<Record<string, 'LONG' | 'DOUBLE'>> = {
  __time: 'LONG',
  tiny: 'LONG',
  long: 'LONG',
  wide: 'LONG',
  dbl: 'DOUBLE',
  dec: 'DOUBLE',
  flt: 'DOUBLE',
};

/** Way in which the values of an expression are computed. */
export type Form = 'kernels' | 'entry' | 'row';

export interface RowPath {
  readonly name: string;
  readonly form: Form;
  /** Values that JavaScript computed, of so many rows. */
  readonly values: number;
}

const columns = FUNCTIONS_COLUMNS.filter((name) => name !== 'tags' && name !== 'doc').map((name) => ({
  name,
  type: TYPES[name] ?? ('STRING' as const),
}));

function cellOf(text: string, type: string): string | bigint | number | null {
  if (type === 'STRING') return text === '' ? null : text;
  if (/^\d{4}-.*Z$/.test(text)) return BigInt(Date.parse(text));
  if (text === '') return null;
  return type === 'LONG' ? BigInt(text) : Number(text);
}

/** Runs each case over the table, on this thread; those over rows of several values and over documents are left out. */
export async function rowPaths(): Promise<readonly RowPath[]> {
  const memory = KernelMemory.create({ maximumBytes: 1 << 28 });
  const engine = createEngine({ memory, kernels: 'simd', threads: 0 });
  const rows = [...functionsRows(ROWS, 1)];
  const cells = columns.map(({ name, type }) => rows.map((row) => cellOf(row[FUNCTIONS_COLUMNS.indexOf(name as 'low')] ?? '', type)));
  const uploaded = uploadFrame(inlineFrame(columns, cells, ROWS), memory);
  const table = { columns: columns.map((column) => ({ ...column, multiValue: false, hasNulls: column.name !== '__time' })) };
  const schema = { tables: () => ['t'], table: (name: string) => (name === 't' ? table : undefined) };
  const paths: RowPath[] = [];
  for (const { name, sql } of CASES.filter((each) => !/\b(tags|doc)\b/.test(each.sql))) {
    const request = { query: `SELECT ${sql} FROM t`, context: { useApproximateCountDistinct: false }, parameters: [] };
    const statement = planSql(request, schema, 0);
    if (statement.kind !== 'select') throw new Error(`${name}: no rows come of it`);
    const profile = newProfile();
    const options = { ending: 'final', deadlineMs: Date.now() + 60_000, kernels: null, batchRows: null, profile } as const;
    for await (const _ of engine.runViews(statement.plan, [uploaded.view], options, new AbortController().signal));
    const { valuesByRow, valuesByEntry } = profile;
    paths.push({ name, form: valuesByRow > 0 ? 'row' : valuesByEntry > 0 ? 'entry' : 'kernels', values: valuesByRow + valuesByEntry });
  }
  uploaded.release();
  await engine.close();
  return paths;
}

const FORMS: readonly { readonly form: Form; readonly title: string; readonly about: string }[] = [
  {
    form: 'row',
    title: 'Row by row',
    about: 'JavaScript computes at least a part of the expression for each row, or for each text that a kernel leaves to it.',
  },
  {
    form: 'entry',
    title: 'Once for each entry',
    about:
      'JavaScript computes a value for each entry of a dictionary, combination of values or bucket of time; rows look it up in kernels.',
  },
];

const cost = (name: string, engine: 0 | 1): string => COSTS.get(name)?.[engine]?.toFixed(1) ?? '';

/** The page, of what was found out. */
export function rowPathsPage(paths: readonly RowPath[]): string {
  const of = (wanted: Form): readonly RowPath[] => paths.filter(({ form }) => form === wanted);
  const sections = FORMS.map(({ form, title, about }) => {
    const lines = of(form).map(
      ({ name, values }) => `| ${name.replaceAll('|', '\\|')} | ${values.toLocaleString('en')} | ${cost(name, 0)} | ${cost(name, 1)} |`,
    );
    return `## ${title}\n\n${about}\n\n| function | values in JavaScript | ns a row | DuckDB's |\n|---|---:|---:|---:|\n${lines.join('\n')}\n`;
  });
  return `# Expressions that JavaScript computes

Written by \`node scripts/row-paths.mjs\`: the cases of \`npm run bench -- functions\` (${paths.length} of them, without rows of several values and documents) over
${ROWS.toLocaleString('en')} rows, and the number of values that the profile says JavaScript computed (\`valuesByRow\`, \`valuesByEntry\`; every query
has them in its profile, its header and its log). ${of('kernels').length} are computed by kernels alone, ${of('row').length} in part row by row, ${of('entry').length} once for each entry. Columns: \`tiny\`, \`long\`
and \`wide\` are LONGs, \`dbl\`, \`dec\` and \`flt\` DOUBLEs; \`low\` has 250 different strings, \`mid\` 5,000, \`high\` as many as rows. Which form is taken depends on the
segment (decision 15). Nanoseconds are processor time, one thread, the aggregate around the expression with it: one round over a million rows, 2026-11-30. Not counted: states of aggregates that are objects (sketches of some kinds,
lists of values), steps after grouping, and windows; they work on groups or on rows of a result.

${sections.join('\n')}`;
}
