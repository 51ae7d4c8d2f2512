#!/usr/bin/env node
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './stamp.mjs';

// Writes the figures and the misses of a run of the conformance runner (its `--json` file) into docs/sql-conformance.md:
//   node scripts/sql-conformance.mjs run.json
// A miss that no cause explains is listed as such, and the exit status is 1.

/** In this order: the first whose `sql` fits is a miss's cause. `kind`: whose it is. */
const CAUSES = [
  {
    name: 'An expression with several values in a row as the key of a join',
    kind: 'our defect',
    why: 'refused by name; columns with several values are keys',
    sql: /MV_FILTER_ONLY\(.*JOIN|JOIN.*MV_FILTER_ONLY\(/i,
  },
  {
    name: 'The order in which `JSON_PATHS` lists paths',
    kind: 'answered differently',
    why: 'there that of a hash table, here that of the document; the paths are the same',
    sql: /json_paths\(/i,
  },
  {
    name: '`BIT_AND` over anything is 0',
    kind: 'answered differently',
    why: 'documented is the AND of all values, and null of none: 1 AND 1 is 1 here',
    sql: /bit_and\(/i,
  },
  {
    name: '`EARLIEST`, `LATEST` and their `_BY` forms of an array that is null',
    kind: 'answered differently',
    why: 'not null there; null here, as the array is null',
    sql: /(earliest|latest|any_value)(_by)?\(json_value\(a_nested, '\$\[7\]\[7\]' RETURNING varchar array\)/i,
  },
  {
    name: 'An empty string read as a number',
    kind: 'answered differently',
    why: '0 there inside of some aggregates, null elsewhere; here null, as documented of a string that is not a number',
    sql: /earliest\(cast\(c AS int\)\)|bit_or\(c\)/i,
  },
  {
    name: '`EARLIEST`, `LATEST`, `ANY_VALUE` where several rows have the first or last time',
    kind: 'answered differently',
    why: 'documented is any of these rows: there the one that is met first, null included; here the smallest or largest value, so that the order of rows does not matter',
    sql: /(earliest|latest|any_value)(_by)?\(/i,
  },
  {
    name: 'Instants in an array',
    kind: 'answered differently',
    why: 'milliseconds over HTTP; the recorded answers are those of JDBC, which prints them',
    sql: /array_agg\((DISTINCT )?(timestamp|__time)/i,
  },
  {
    name: '`IS NULL` of a function that is taken to be never null',
    kind: 'answered differently',
    why: 'there it is false before a row is read, also where the value is null',
    sql: /(array_slice|array_to_string|array_ordinal_of)\(array_agg\(.*OR col IS NULL/i,
  },
  {
    name: '`IS NULL` of `JSON_VALUE` at a list, or at a position counted from the end',
    kind: 'answered differently',
    why: 'in WHERE there, but not in SELECT, a list is not null, and positions from the end are not found; here JSON_VALUE is null of a list everywhere',
    sql: /WHERE json_value\(.*\) IS (NOT )?NULL/i,
  },
  {
    name: '`=` and `IN` between JSON values',
    kind: 'answered differently',
    why: 'unknown there, except of the same expression; here JSON is equal when its text is',
    sql: /WHERE c1 = c2|c1 IN \(json_object|json_query\(c1, '[^']*'\) = json_query\(c2/i,
  },
  {
    name: 'ORDER BY a JSON value',
    kind: 'answered differently',
    why: 'there by a hash, here by its text',
    sql: /ORDER BY json_query\(/i,
  },
  {
    name: '`TRY_PARSE_JSON` of a string that begins with JSON',
    kind: 'answered differently',
    why: 'there what follows is dropped; here it is not JSON, and null as documented',
    sql: /try_parse_json\('"a": 123'\)/i,
  },
  {
    name: 'An empty array as a string of several values',
    kind: 'answered differently',
    why: 'there an empty list when it is computed, null when it is stored; here null',
    sql: /^SELECT (array_to_mv|mv_concat)\(json_value\(/i,
  },
  {
    name: 'Conditions on functions of strings of several values, of null or an empty string',
    kind: 'answered differently',
    why: 'there unknown in WHERE and known in SELECT; here the same in both',
    sql: /AND \(?(array_to_mv|mv_contains)\(c/i,
  },
  {
    name: '`TIME_PARSE` of a year of one digit',
    kind: 'answered differently',
    why: 'a year has four digits in ISO 8601: null here',
    sql: /time_parse\(c\)/i,
  },
  {
    name: '`APPROX_COUNT_DISTINCT`',
    kind: 'answered differently',
    why: 'an estimate there; exact here, where it is as fast',
    sql: /approx_count_distinct\(/i,
  },
  {
    name: '`SUM(CASE WHEN ... THEN x ELSE 0 END)` where no row meets the condition',
    kind: 'answered differently',
    why: 'rewritten to a filtered SUM there, which is null of no rows; 0 here, as SQL has it',
    sql: /SUM\(CASE WHEN l1 = -1 THEN l2 ELSE 0 END\)/i,
  },
  {
    name: 'Three arrays unnested under conditions on all of them',
    kind: 'answered differently',
    why: 'no row there, although one of the table meets all conditions',
    sql: /UNNEST\(arrayDoubleNulls\) as ut\(udn\).*AND udn = 2\.2/i,
  },
];

const PAGE = join(ROOT, 'docs/sql-conformance.md');
const missed = ({ outcome }) => outcome === 'failed' || outcome === 'errored';
const spaced = (count) => String(count).replace(/\B(?=(\d{3})+$)/g, ',');

function figures({ suites, total }) {
  const row = ({ suite, runnable, passed }) =>
    `| ${suite} | ${spaced(runnable)} | ${spaced(passed)} | ${runnable - passed} | ${((100 * passed) / runnable).toFixed(1)} % |`;
  const rows = [...suites.filter(({ runnable }) => runnable > 0), { ...total, suite: 'all' }].map(row);
  return ['| suite | asked | passed | missed | |', '|---|---|---|---|---|', ...rows].join('\n');
}

function misses(results) {
  const unexplained = { name: 'Not explained', kind: 'not looked into', why: '', list: [] };
  const causes = [...CAUSES.map((cause) => ({ ...cause, list: [] })), unexplained];
  for (const result of results.filter(missed)) {
    const text = result.sql.replace(/\s+/g, ' ').trim();
    const cause = result.reason === 'timeout' ? undefined : causes.find(({ sql }) => sql?.test(text));
    (cause ?? unexplained).list.push(
      result.id.replace(/^.*\/test\/quidem\/[^/]*\.(Q|SqlQuidem)Test\/|^.*\/test\/quidem\/[^/]*\./, '').replace(/\.iq:/, ':'),
    );
  }
  const found = causes.filter(({ list }) => list.length > 0);
  const table = found.map(({ name, kind, why, list }) => `| ${name} | ${kind}${why === '' ? '' : `: ${why}`} | ${list.length} |`);
  const lists = found.map(({ name, list }) => `${name}:\n${list.map((id) => `\`${id}\``).join(', ')}`);
  const text = [
    '| cause | whose | misses |',
    '|---|---|---|',
    ...table,
    '',
    'Each of them, by file and line of the suites:',
    '',
    lists.join('\n\n'),
  ].join('\n');
  return { text, unexplained: unexplained.list };
}

function replaced(page, name, text) {
  const [begin, end] = [`<!-- ${name} -->`, `<!-- end of ${name} -->`];
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${PAGE} has no ${begin} ... ${end}`);
  return `${page.slice(0, from + begin.length)}\n\n${text}\n\n${page.slice(to)}`;
}

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error('expected the file that the conformance runner wrote with --json');
const run = JSON.parse(readFileSync(file, 'utf8'));
const { text, unexplained } = misses(run.results);
writeFileSync(PAGE, replaced(replaced(readFileSync(PAGE, 'utf8'), 'figures', figures(run)), 'misses', text));
for (const id of unexplained) console.error(`not explained: ${id}`);
process.exitCode = unexplained.length === 0 ? 0 : 1;
