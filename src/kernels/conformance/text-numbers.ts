// Conformance checks of the kernels that read numbers of texts.

import type { Lab } from './lab.js';
import { lay, randomTexts, type Text } from './text-lab.js';

export const TEXT_NUMBER_CHECKS = {
  textLongs: (lab: Lab) => readNumbers(lab, 'I64', /^-?\d{1,18}$/, BigInt),
  textDoubles: (lab: Lab) => readNumbers(lab, 'F64', /^-?(?!.*(?:\d.?){16})\d+(?:\.\d*)?$/, Number),
} satisfies Record<string, (lab: Lab) => void>;

/** Texts of digits among others, and some that are numbers almost. */
function readNumbers(lab: Lab, type: 'I64' | 'F64', pattern: RegExp, valueOf: (text: string) => number | bigint): void {
  lab.each(['texts'], (rows) => {
    const digits = (most: number): string =>
      String(lab.random(1_000_000_000))
        .padStart(9, '0')
        .repeat(3)
        .slice(0, 1 + lab.random(most));
    const makers: readonly (() => Text)[] = [
      () => digits(20),
      () => `-${digits(18)}`,
      () => `${digits(9)}.${digits(9)}`,
      () => `-${digits(3)}.`,
      () => ALMOST_NUMBERS[lab.random(ALMOST_NUMBERS.length)] ?? '',
    ];
    const texts = randomTexts(lab, rows).map((text) => (lab.random(4) === 0 ? text : (makers[lab.random(makers.length)]?.() ?? null)));
    const { at } = lay(lab, texts);
    const [out, others] = [lab.output(type, texts.length), lab.output('I64', Math.ceil(texts.length / 64))];
    const isOther = texts.map((text) => text === null || !pattern.test(text));
    const kernel = type === 'I64' ? lab.kernels.textLongs : lab.kernels.textDoubles;
    lab.expectResult(
      lab.call(() => kernel(at, texts.length, out, others)),
      isOther.filter((each) => each).length,
    );
    lab.expectBits(others, isOther);
    lab.expect(
      type,
      out,
      texts.map((text, i) => valueOf(isOther[i] === true ? '0' : (text ?? '0'))),
    );
  });
}

const ALMOST_NUMBERS = [
  '',
  '-',
  '.',
  '.5',
  '-.5',
  '1.2.3',
  '1-',
  '--1',
  '+1',
  ' 1',
  '1 ',
  '1e5',
  '0x10',
  '-0',
  '-0.0',
  '00',
  '1:',
  '/1',
  'NaN',
];
