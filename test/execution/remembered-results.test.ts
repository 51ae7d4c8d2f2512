import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { RememberedResults, resultsKey } from '../../src/execution/expression/remembered-results.js';
import type { Value } from '../../src/expression/value.js';
import type { Expression } from '../../src/model/expression.js';
import type { DictionaryView } from '../../src/storage/view.js';

const dictionary = (): DictionaryView => ({ count: 1, hasNull: false, offsets: 0, bytes: 0 });

/** Texts that take 1,000 bytes at least, and less than 1,100. */
const thousandBytes = (): readonly Value[] => ['x'.repeat(500)];

/** Whether the results of a key were remembered. */
function isKnown(remembered: RememberedResults, of: DictionaryView, key: string, results = thousandBytes()): boolean {
  let isComputed = false;
  remembered.get(of, key, () => {
    isComputed = true;
    return results;
  });
  return !isComputed;
}

const results = suite('results remembered of dictionaries');

results('are computed once per dictionary and key', () => {
  const remembered = new RememberedResults();
  const [a, b] = [dictionary(), dictionary()];
  const wanted = [
    [a, 'f', false],
    [a, 'g', false],
    [b, 'f', false],
    [a, 'f', true],
    [a, 'g', true],
    [b, 'f', true],
  ] as const;
  for (const [of, key, known] of wanted) assert.is(isKnown(remembered, of, key), known);
});

results('that were not read for longest give way beyond the bound', () => {
  const remembered = new RememberedResults(3300);
  const [a, b, c] = [dictionary(), dictionary(), dictionary()];
  for (const [of, key] of [
    [a, 'f'],
    [a, 'g'],
    [b, 'f'],
    [c, 'f'],
  ] as const)
    assert.is(isKnown(remembered, of, key), false);
  assert.equal([isKnown(remembered, a, 'g'), isKnown(remembered, b, 'f'), isKnown(remembered, c, 'f')], [true, true, true]);
  assert.is(isKnown(remembered, a, 'f'), false);
});

results('that are larger than the bound are remembered alone, until the next come', () => {
  for (const large of [['x'.repeat(5000)], [Array.from({ length: 500 }, () => 1n)]] as const) {
    const remembered = new RememberedResults(3300);
    const [a, b, c] = [dictionary(), dictionary(), dictionary()];
    assert.is(isKnown(remembered, a, 'f'), false);
    assert.is(isKnown(remembered, b, 'f', large), false);
    assert.is(isKnown(remembered, b, 'f', large), true);
    assert.is(isKnown(remembered, c, 'f'), false);
    assert.is(isKnown(remembered, b, 'f', large), false);
  }
});

results('have short keys, equal for equal expressions of one type', () => {
  const lookup = (last: string): Expression => ({
    kind: 'call',
    function: 'concat',
    arguments: [
      { kind: 'column', name: 'x' },
      { kind: 'literal', type: 'STRING', value: 'row '.repeat(10_000) + last },
    ],
  });
  const key = resultsKey('STRING', lookup('a'));
  assert.ok(key.length < 100);
  assert.is(resultsKey('STRING', lookup('a')), key);
  assert.is.not(resultsKey('STRING', lookup('b')), key);
  assert.is.not(resultsKey('LONG', lookup('a')), key);
});

results.run();
