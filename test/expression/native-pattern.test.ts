import fc from 'fast-check';
import { RE2JS } from 're2js';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { re2Pattern } from '../../src/expression/java-pattern.js';
import { nativePattern } from '../../src/expression/native-pattern.js';
import { compileRegularExpression } from '../../src/expression/regular-expression.js';
import { caseCount } from '../case-count.js';

/* Patterns that the engine of JavaScript matches, against RE2. */

const patterns = suite('patterns matched by JavaScript');

const TAKEN = [
  '[0-9]+',
  '([a-z]+)',
  '[a-f]or[0-9]*',
  'b{2,3}',
  '^https?://(?:www\\.)?([^/]+)/.*$',
  '^([^?]*)\\?(.*)$',
  '(a)(b)?c',
  '\\d{4}-\\d{2}',
  'é[^日]',
  '[-a.]+',
  '^a*$',
];
for (const pattern of TAKEN) patterns(`${pattern} is one`, () => assert.ok(nativePattern(pattern)));

/** Patterns whose time may grow faster than the text, whose meaning differs, or which are not read. */
const LEFT = [
  'a+b',
  '[0-9]+$',
  '(a+)+',
  '(a|b)',
  'a*?',
  '^.*/',
  '^[a-z]*b',
  '(?i)a',
  '\\bword',
  'a{3,1}',
  '[[:alpha:]]',
  '\\pL',
  '',
  'a**',
  '(?P<n>a)',
  '[a-\\d]',
  '.{0,99}x',
  'a\nb|c',
  '(a',
  'a)',
  '[',
  '\\',
];
for (const pattern of LEFT) patterns(`${JSON.stringify(pattern)} is none`, () => assert.is(nativePattern(pattern), undefined));

const atom = fc.constantFrom(
  'a',
  'b',
  'é',
  '日',
  '😀',
  '/',
  '.',
  '\\.',
  '[ab]',
  '[^/]',
  '[^a😀]',
  '\\d',
  '\\w',
  '\\s',
  '[a-é]',
  '[\\d-]',
  '-',
);
const times = fc.constantFrom('', '', '', '?', '+', '*', '{2}', '{0,2}', '{1,3}');
const element = fc.tuple(atom, times).map((parts) => parts.join(''));
const group = fc
  .tuple(fc.constantFrom('(', '(?:'), fc.array(element, { minLength: 1, maxLength: 3 }), fc.constantFrom(')', ')', ')?'))
  .map(([open, inner, close]) => `${open}${inner.join('')}${close}`);
const pattern = fc
  .tuple(fc.constantFrom('', '^'), fc.array(fc.oneof(element, group), { minLength: 1, maxLength: 5 }), fc.constantFrom('', '', '$'))
  .map(([start, inner, end]) => `${start}${inner.join('')}${end}`);
const text = fc
  .array(fc.constantFrom('a', 'b', 'é', '日', '😀', '/', '.', '-', '1', ' ', '\n', '\r', '\u2028', '\v', 'https://'), { maxLength: 12 })
  .map((parts) => parts.join(''));

patterns('find what RE2 finds', () => {
  let taken = 0;
  fc.assert(
    fc.property(
      pattern,
      fc.array(text, { minLength: 1, maxLength: 8 }),
      fc.constantFrom('#', '<$0>', '', '$1$1', '$'),
      (source, texts, by) => {
        const native = nativePattern(source);
        if (native === undefined) return;
        taken++;
        const [found, re2] = [compileRegularExpression(source), RE2JS.compile(re2Pattern(source))];
        assert.is(native.groupCount, re2.groupCount(), source);
        for (const each of texts) {
          assert.is(found.test(each), re2.matcher(each).find(), source);
          for (let number = 0; number <= re2.groupCount(); number++) {
            const matcher = re2.matcher(each);
            assert.is(found.extract(each, number), matcher.find() ? (matcher.group(number) ?? null) : null, source);
          }
          if (by === '$' || (by === '$1$1' && re2.groupCount() === 0)) continue;
          assert.is(found.replacer(by)(each), re2.matcher(each).replaceAll(by, true), `${source} by ${by}`);
        }
      },
    ),
    { numRuns: caseCount(1500) },
  );
  assert.ok(taken > 100, `${taken}`);
});

patterns('take linear time', () => {
  const long = 'a'.repeat(1 << 20);
  for (const source of TAKEN) assert.type(compileRegularExpression(source).test(long), 'boolean');
});

patterns.run();
