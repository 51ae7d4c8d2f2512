import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { compileExpression } from '../../src/expression/evaluate.js';
import { foldCase } from '../../src/expression/fold-case.js';
import { call, type Expression, text } from '../../src/model/expression.js';

const folding = suite('strings without case');

folding('fold ASCII alone as beside other letters', () => {
  for (let code = 0; code < 128; code++) {
    const unit = String.fromCharCode(code);
    const expected = code >= 65 && code <= 90 ? String.fromCharCode(code + 32) : unit;
    assert.is(foldCase(unit), expected);
    assert.is(foldCase(`${unit}é`), `${expected}é`);
  }
  assert.is(foldCase('ıİI'), 'iii');
  assert.is(foldCase('Straße ÄÖ'), 'straße äö');
});

folding('are found by constants and by columns alike', () => {
  for (const [value, wanted, expected] of [
    ['H9999.Evil.ru', '9999.EVIL', 1n],
    ['H9999.Evil.ru', 'evil.com', 0n],
    ['KELVIN', 'ı', 1n],
    ['', '', 1n],
    [null, 'a', null],
    ['a', null, null],
  ] as const) {
    const found = (search: Expression): unknown =>
      compileExpression(
        call('icontains_string', { kind: 'column', name: 'v' }, search),
        () => 'STRING',
        () => undefined,
      )((name) => (name === 'v' ? value : wanted));
    assert.is(found(text(wanted)), expected);
    assert.is(found({ kind: 'column', name: 's' }), expected);
  }
});

folding.run();
