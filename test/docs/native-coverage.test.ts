import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { coverage, coveragePage, DOCUMENT, PLACES, treatmentInQuery } from './native-coverage.js';

const page = suite('coverage of the native query language');

for (const { title, rows } of coverage()) {
  page(`${title}: every name is answered, or refused with a reason`, () => {
    assert.ok(rows.length > 0);
    assert.equal(
      rows.flatMap(({ name, treatment }) => (treatment.state === 'unknown' ? [`${name}: ${treatment.message}`] : [])),
      [],
    );
    assert.equal(
      rows.flatMap(({ name, treatment }) => (treatment.state === 'refused' && treatment.reason === '' ? [name] : [])),
      [],
    );
  });
}

for (const { title, query } of PLACES)
  page(`${title}: a name that does not exist is told apart`, () => {
    assert.is(treatmentInQuery('noSuchName', query('noSuchName')).state, 'unknown');
  });

page('the page is up to date (node scripts/native-coverage.mjs writes it)', () =>
  assert.fixture(readFileSync(DOCUMENT, 'utf8'), coveragePage()),
);

page.run();
