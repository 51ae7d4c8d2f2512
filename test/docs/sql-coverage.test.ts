import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { FUNCTION_EXAMPLES } from '../planner/sql/function-examples.js';
import { SQL_DOCUMENT, sqlCoverage, sqlCoveragePage, treatmentOfSqlFunction } from './sql-coverage.js';

const page = suite('coverage of the functions of SQL');

for (const { title, rows } of sqlCoverage())
  page(`${title}: every function is answered, or refused with a reason`, () => {
    assert.ok(rows.length > 0);
    const left = rows.flatMap(({ name, treatment }) =>
      treatment.state === 'unknown'
        ? [`${name}: ${treatment.message}`]
        : treatment.state === 'refused' && treatment.reason === ''
          ? [name]
          : [],
    );
    assert.equal(left, []);
  });

page('a function with an example is not refused', () => {
  const refused = Object.keys(FUNCTION_EXAMPLES).filter((name) => treatmentOfSqlFunction(name).state !== 'answered');
  assert.equal(refused, []);
});

page('a function that does not exist is told apart', () => {
  assert.is(treatmentOfSqlFunction('NO_SUCH_FUNCTION').state, 'unknown');
});

page('the page is up to date (node scripts/sql-coverage.mjs writes it)', () =>
  assert.fixture(readFileSync(SQL_DOCUMENT, 'utf8'), sqlCoveragePage()),
);

page.run();
