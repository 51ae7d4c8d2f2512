import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { compileRegularExpression } from '../../src/expression/regular-expression.js';

/* Patterns that RE2 would read otherwise than Java, with the matches that `java.util.regex` of Java 17 finds. */
const CASES: readonly (readonly [pattern: string, text: string, matches: readonly string[]])[] = [
  ['[a-c&&[^b]]', 'abcd', ['a', 'c']],
  ['[a-z&&[^aeiou]]+', 'education', ['d', 'c', 't', 'n']],
  ['[a-f[m-p]]', 'abmx', ['a', 'b', 'm']],
  ['[[a-b]c]', 'abcd', ['a', 'b', 'c']],
  ['[^a-c[x]]', 'abcxyz', ['y', 'z']],
  ['[^a-z&&[^b]]', 'abcB1', ['b', 'B', '1']],
  ['[a-z&&[b-y]&&[^m-n]]+', 'abmnyz', ['b', 'y']],
  ['[a-c&&b]', 'abc', ['b']],
  ['[\\w&&[^\\d_]]+', 'ab_1é', ['ab']],
  ['[\\d[a-c]-]+', '1-ax', ['1-a']],
  ['[&&a]', 'a&b', ['a']],
  ['[a&&]', 'a&b', ['a']],
  ['[a&b]+', 'a&b', ['a&b']],
  ['[]a]+', 'a]b', ['a]']],
  ['[^]a]+', 'a]b', ['b']],
  ['[\\]a[b]]+', 'a]b', ['a]b']],
  ['[a-]+', 'a-b', ['a-']],
  ['[[:alpha:]]+', 'alpha:x', ['alpha:']],
  ['a.c', 'a\nc a\rc a\x85c a\u2028c abc', ['abc']],
  ['(?s)a.c', 'a\nc abc', ['a\nc', 'abc']],
  ['.+', 'ab\rcd', ['ab', 'cd']],
  ['[.]', 'a.b', ['.']],
  ['\\.', 'a.b', ['.']],
  ['\\s', ' \v\x85', [' ', '\v']],
  ['[\\s]', ' \v\x85', [' ', '\v']],
  ['\\S+', 'a\vb c', ['a', 'b', 'c']],
  ['[\\S]+', 'a\vb c', ['a', 'b', 'c']],
  ['[x\\s]+', 'x \vx', ['x \vx']],
  ['\\v', 'a\nb\vc\rd\x85e\u2028f', ['\n', '\v', '\r', '\x85', '\u2028']],
  ['\\V+', 'a\nb\vc', ['a', 'b', 'c']],
  ['[\\v]', 'a\nb\v', ['\n', '\v']],
  ['\\Q[a&&b].\\E', '[a&&b].', ['[a&&b].']],
  ['\\Qa.c', 'a.c abc', ['a.c']],
  ['[\\t\\n]', 'a\nb', ['\n']],
  ['[a-z&&[def]]', 'defg', ['d', 'e', 'f']],
  ['[^\\d&&[^a]]', '1ab', ['a', 'b']],
  ['[0-9&&[345[6]]]+', '1234567', ['3456']],
  ['[a\\-z]+', 'a-zb', ['a-z']],
];

const patterns = suite('patterns of Java');

for (const [pattern, text, matches] of CASES)
  patterns(`${pattern} in ${JSON.stringify(text)}`, () => {
    const expression = compileRegularExpression(pattern);
    assert.is(expression.test(text), matches.length > 0);
    assert.is(expression.extract(text, 0), matches[0] ?? null);
    let rest = text;
    for (const match of matches) rest = rest.slice(0, rest.indexOf(match)) + rest.slice(rest.indexOf(match) + match.length);
    assert.is(compileRegularExpression(pattern).replacer('')(text), rest);
  });

const REFUSED: readonly (readonly [pattern: string, says: RegExp])[] = [
  ['[a&&[b]]', /the class at position 1 has no characters/],
  ['x[a[b]', /the class at position 2 has no end/],
  ['[z-a[b]]', /ends before it begins/],
  ['[a[\\pL]]', /\\p at position 4, in a class with classes or && in it, is not supported/],
  ['a++', /possessive quantifiers are not supported/],
  ['(?=a)', /look-around/],
];
for (const [pattern, says] of REFUSED)
  patterns(`${pattern} is refused`, () =>
    assert.throws(
      () => compileRegularExpression(pattern),
      (error: Error) => says.test(error.message),
    ),
  );

patterns.run();
