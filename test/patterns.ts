import fc from 'fast-check';

/* Regular expressions, and strings in which they may be found. */

/** A pattern, and the same for the engine of JavaScript. */
export interface DrawnPattern {
  readonly source: string;
  readonly script: RegExp;
}

const atom = fc.constantFrom(
  'a',
  'b',
  'ab',
  'ba',
  'A',
  'é',
  '日',
  '😀',
  '\\.',
  '.',
  '[ab]',
  '[^a]',
  '[.]',
  '\\d',
  '\\w',
  '1',
  '\\b',
  '%',
  '_',
);
const times = fc.constantFrom('', '', '', '', '?', '+', '*', '{2}', '{0,2}', '{1,3}', '{0}', '{2,}', '+?', '??', '*?');
const counted = fc
  .tuple(atom, times)
  .map(([of, often]) =>
    of === '\\b'
      ? of
      : often === '' || [...of].length === 1 || of.startsWith('[') || of.startsWith('\\')
        ? `${of}${often}`
        : `(?:${of})${often}`,
  );

const { alternatives } = fc.letrec<{ alternatives: string; sequence: string; element: string }>((tie) => ({
  alternatives: fc.array(tie('sequence'), { minLength: 1, maxLength: 3 }).map((each) => each.join('|')),
  sequence: fc.array(tie('element'), { maxLength: 4 }).map((each) => each.join('')),
  element: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { arbitrary: counted, weight: 6 },
    {
      arbitrary: fc
        .tuple(fc.constantFrom('(', '(?:'), tie('alternatives'), times)
        .map(([open, inner, often]) => `${open}${inner})${often}`),
      weight: 2,
    },
    { arbitrary: fc.constantFrom('^', '$'), weight: 1 },
  ),
}));

/** Patterns that mean the same in both engines over strings without ends of lines. */
export const pattern: fc.Arbitrary<DrawnPattern> = fc
  .tuple(fc.constantFrom('', '', '', '^', '(?i)'), alternatives, fc.constantFrom('', '', '', '$'))
  .map(([start, inner, end]) => {
    const body = `${start === '^' ? '^' : ''}${inner}${end}`;
    return { source: start === '(?i)' ? `(?i)${body}` : body, script: new RegExp(body, start === '(?i)' ? 'iu' : 'u') };
  });

export const subject = fc
  .array(fc.constantFrom('a', 'b', 'ab', 'ba', 'A', 'B', 'é', 'É', '日', '😀', '.', '1', '2', '%', '_', ' ', 'aab'), { maxLength: 7 })
  .map((parts) => parts.join(''));
