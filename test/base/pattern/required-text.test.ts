import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { patternTree } from '../../../src/base/pattern/pattern-tree.js';
import { requiredText } from '../../../src/base/pattern/required-text.js';

const required = suite('the text that every match of a pattern has');

const CASES: readonly (readonly [pattern: string, text: string | undefined, isFirst?: boolean])[] = [
  ['refused, attempt [45]', 'refused, attempt ', true],
  ['[0-9]+ms', 'ms', false],
  // The beginning is better than a longer text: what lies before it is passed over.
  ['ab.cdef', 'ab', true],
  ['a.cdef', 'cdef', false],
  ['(?:user|id)=([0-9]+)', undefined],
  ['x(?:user)=([0-9]+)', 'xuser=', true],
  ['(ab)+c', 'ab', true],
  ['(ab)*cd', 'cd', false],
  ['a?bc', 'bc', false],
  ['(ab){2}', 'ab', true],
  ['^abc', undefined],
  ['(^abc)d', undefined],
  ['abc$', 'abc', true],
  ['ab|cd', undefined],
  ['(?i)ab1-2', '1-2', false],
  ['a.b.c', undefined],
  ['é', 'é', true],
  ['10\\.(1|2)', '10.', true],
];

for (const [pattern, text, isFirst] of CASES) {
  required(`${pattern}: ${text ?? 'none'}`, () => {
    const tree = patternTree(pattern);
    const found = tree === undefined ? undefined : requiredText(tree);
    assert.equal(found === undefined ? undefined : [Buffer.from(found.bytes).toString(), found.isFirst], text && [text, isFirst]);
  });
}

required.run();
