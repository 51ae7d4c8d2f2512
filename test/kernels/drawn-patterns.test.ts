import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { mayMatchNothing, patternAutomaton } from '../../src/base/pattern/pattern-automaton.js';
import { compileRegularExpression } from '../../src/expression/regular-expression.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { instantiateKernels } from '../../src/kernels/registry.js';
import { caseCount } from '../case-count.js';

/** Patterns as users write them, beside the library that matches all others. */
const memory = KernelMemory.create({ maximumBytes: 16 * 1024 * 1024 });
const kernels = instantiateKernels('simd', memory);
const REGION = memory.allocate(4 * 1024 * 1024);

const atom = fc.constantFrom(
  ...[
    'a',
    'b',
    'é',
    '日',
    '😀',
    ' ',
    '-',
    '\\.',
    '.',
    '[ab]',
    '[^a]',
    '[a-cé-ü]',
    '[^\\w]',
    '\\d',
    '\\w',
    '\\s',
    '\\W',
    '\\S',
    'abc',
    '[-x]',
    '\\-',
    ']',
    'k',
    '[a-t]',
    '[^s]',
    'k',
    '[a-t]',
    '[^s]',
  ],
);
const times = fc.constantFrom('', '', '', '*', '+', '?', '*?', '+?', '??', '{2}', '{1,3}', '{0,2}?', '{2,}');
const { pattern } = fc.letrec<{ pattern: string; sequence: string; piece: string }>((tie) => ({
  piece: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.tuple(atom, times).map((parts) => parts.join('')),
    fc.tuple(fc.constantFrom('(', '(?:', '(?<name>'), tie('pattern'), fc.constant(')'), times).map((parts) => parts.join('')),
  ),
  sequence: fc.array(tie('piece'), { minLength: 0, maxLength: 4 }).map((parts) => parts.join('')),
  pattern: fc.oneof(
    { depthSize: 'small' },
    tie('sequence'),
    fc.tuple(tie('sequence'), tie('sequence')).map((parts) => parts.join('|')),
    tie('sequence').map((inner) => `^${inner}`),
    tie('sequence').map((inner) => `${inner}$`),
  ),
}));
const flags = fc.constantFrom('', '', '', '(?i)', '(?s)');
const text = fc
  .array(
    fc.constantFrom(
      'a',
      'b',
      'c',
      'A',
      'B',
      'é',
      'É',
      '日',
      '😀',
      ' ',
      '-',
      '.',
      '1',
      '2',
      'x',
      '_',
      '\n',
      '\u2028',
      'abc',
      'aab',
      'ſ',
      '\u212a',
      's',
      'K',
    ),
    {
      maxLength: 9,
    },
  )
  .map((parts) => parts.join(''));

function lay(texts: readonly string[]): { readonly at: number; readonly end: number } {
  let free = REGION + texts.length * 8;
  texts.forEach((each, i) => {
    const bytes = Buffer.from(each);
    memory.u8(free, bytes.length).set(bytes);
    memory.u32(REGION + i * 8, 2).set([free, (bytes.length | 0x80000000) >>> 0]);
    free += bytes.length;
  });
  return { at: REGION, end: Math.ceil(free / 64) * 64 + 64 };
}

function upload(at: number, words: Uint32Array): number {
  memory.u32(at, words.length).set(words);
  return Math.ceil((at + words.byteLength) / 64) * 64;
}

function textsAt(at: number, count: number): (string | null)[] {
  return Array.from({ length: count }, (_, i) => {
    const [from = 0, high = 0] = memory.u32(at + i * 8, 2);
    return from === 0 ? null : Buffer.from(memory.u8(from, high & 0x7fffffff)).toString();
  });
}

const drawn = suite('drawn patterns');
let [seen, without] = [0, 0];

drawn('automata find, extract and replace what the library does', () => {
  fc.assert(
    fc.property(flags, pattern, fc.array(text, { minLength: 8, maxLength: 20 }), fc.nat(3), (flag, body, texts, number) => {
      const source = flag + body;
      let expression: ReturnType<typeof compileRegularExpression>;
      try {
        expression = compileRegularExpression(source);
      } catch {
        return;
      }
      seen++;
      const wanted = number % (expression.groupCount + 1);
      const [test, extract, whole] = [null, wanted, 0].map((part) => patternAutomaton(source, part));
      if (test === undefined || extract === undefined || whole === undefined) {
        without++;
        return;
      }
      assert.is(patternAutomaton(source, expression.groupCount + 1), undefined);
      const { at, end } = lay(texts);
      const free = upload(end, test);
      kernels.patternTest(at, texts.length, end, free);
      const bits = memory.u32(free, 1)[0] ?? 0;
      const of = (i: number): string => `${source} in ${JSON.stringify(texts[i])}`;
      texts.forEach((each, i) => assert.is((bits >>> i) & 1, expression.test(each) ? 1 : 0, of(i)));
      const after = upload(end, extract);
      kernels.patternExtract(at, texts.length, end, after);
      textsAt(after, texts.length).forEach((found, i) =>
        assert.is(found, expression.extract(texts[i] ?? '', wanted), `group ${wanted} of ${of(i)}`),
      );
      if (mayMatchNothing(source)) return;
      const replacementAt = upload(end, whole);
      memory.u8(replacementAt, 2).set(Buffer.from('<>'));
      kernels.patternReplace(at, texts.length, end, replacementAt, 2, replacementAt + 64, replacementAt + 1024);
      const replace = expression.replacer('<>');
      textsAt(replacementAt + 64, texts.length).forEach((found, i) => assert.is(found, replace(texts[i] ?? ''), of(i)));
    }),
    { numRuns: caseCount(3000) },
  );
  assert.ok(seen > 500 && without < seen / 2, `${without} of ${seen} without an automaton`);
});

drawn.run();
