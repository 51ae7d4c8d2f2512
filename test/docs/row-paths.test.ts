import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ROW_PATHS_DOCUMENT, rowPaths, rowPathsPage } from './row-paths.js';

const page = suite('expressions that JavaScript computes');
const paths = await rowPaths();

page('arithmetic, comparisons and choices of numbers are left to kernels', () => {
  const wanted = ['x + 1', 'x > 100', 'CASE of two', 'CAST AS DOUBLE', 'AND, OR'];
  const found = paths.filter(({ name, form }) => form !== 'kernels' && wanted.some((each) => name.startsWith(`${each} of`)));
  assert.equal(found, []);
});

page('a function of a short dictionary is computed for each of its entries, not for each row', () => {
  const found = paths.filter(({ name, values }) => name.endsWith(' of low') && values > 1000);
  assert.equal(found, []);
});

page('a sine, which no kernel computes, counts every row', () => {
  const found = paths.find(({ name }) => name === 'SIN of dbl');
  assert.equal(found, { name: 'SIN of dbl', form: 'row', values: 20_000 });
});

page('the page is up to date (node scripts/row-paths.mjs writes it)', () =>
  assert.fixture(readFileSync(ROW_PATHS_DOCUMENT, 'utf8'), rowPathsPage(paths)),
);

page.run();
