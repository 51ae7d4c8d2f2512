import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { containing, likeTest } from '../../src/base/like-pattern.js';
import { compileRegularExpression } from '../../src/expression/regular-expression.js';
import { requiredTexts } from '../../src/expression/required-texts.js';
import { caseCount } from '../case-count.js';
import { pattern, subject } from '../patterns.js';

/* Texts that a pattern requires, against the strings in which it is found. */

const required = suite('texts that a pattern requires');

const KNOWN: readonly (readonly [pattern: string, prefix: string, ...texts: string[]])[] = [
  ['refused', '', 'refused'],
  ['10\\.(1|2)[0-9]\\.[0-9]+', '', '10.'],
  ['^GET /api/([a-z]+)', 'GET /api/', ''],
  ['\\Ajob (\\d+) finished\\z', 'job ', ' finished'],
  ['[a-z]+ took \\d+ ms$', '', ' took '],
  ['user(name)? logged', '', ' logged'],
  ['ab?c', '', 'a'],
  ['abc?d', '', 'ab'],
  ['abc*', '', 'ab'],
  ['abc+d', '', 'abc'],
  ['ab{0,3}cd', '', 'cd'],
  ['(ab){2}c', '', 'ababc'],
  ['(ab){2,}c', '', 'abab'],
  ['x(?:yz)+', '', 'xyz'],
  ['(error|failed)', '', 'error', 'failed'],
  ['disk (full|lost) now', '', 'disk '],
  ['(a|)b', '', 'b'],
  ['(?<who>bob)\\b', '', 'bob'],
  ['a[.]b[\\-]c', '', 'a.b-c'],
  ['a\\tb', '', 'a\tb'],
  ['日本.*語', '', '日本'],
  ['a.*?bcd', '', 'bcd'],
];
const NOTHING = [
  '',
  '.*',
  '[ab]+',
  'a*',
  'a?',
  '(abc)?',
  '(abc){0,2}',
  'abc|.',
  '(abc|)',
  '(?i)abc',
  '(?s)a.b',
  '(?m)^abc',
  'a(?i:b)c',
  '\\Qabc\\E',
  '\\pLabc',
  '\\x41bc',
  'a[[:alpha:]]bc',
  'abc[a-z&&[^b]]',
  '^',
  '$',
  '\\bx*',
  '\ufffd',
];

for (const [source, prefix, ...texts] of KNOWN)
  required(`${source} has ${JSON.stringify([prefix, ...texts])}`, () => {
    assert.equal(
      requiredTexts(source),
      texts.map((text) => containing(text, prefix)),
    );
  });
required('each alternative may be anchored or not', () =>
  assert.equal(requiredTexts('error|^failed .*'), [containing('error'), containing('', 'failed ')]),
);
for (const source of NOTHING) required(`${JSON.stringify(source)} has none`, () => assert.is(requiredTexts(source), undefined));

required('what a pattern is found in has one of its texts, the empty string none', () => {
  let known = 0;
  fc.assert(
    fc.property(pattern, fc.array(subject, { minLength: 20, maxLength: 20 }), ({ source }, subjects) => {
      const likes = requiredTexts(source);
      if (likes === undefined) return;
      known++;
      const tests = likes.map(likeTest);
      assert.not.ok(
        tests.some((test) => test('')),
        source,
      );
      const compiled = compileRegularExpression(source);
      for (const text of subjects)
        if (compiled.test(text))
          assert.ok(
            tests.some((test) => test(text)),
            `${source} is found in ${JSON.stringify(text)}`,
          );
    }),
    { numRuns: caseCount(3000) },
  );
  assert.ok(known > caseCount(300));
});

required.run();
