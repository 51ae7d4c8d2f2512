// Conformance checks of the kernels that read numbers of texts, and print them.

import { doubleText, floatText, powersOfTen } from '../../../base/number-text.js';
import type { Lab, MASKS, Value } from '../lab.js';
import { expectPacked, expectTexts, lay, randomTexts, roomFor, type Text } from './text-lab.js';

export const TEXT_NUMBER_CHECKS = {
  textOfLongs: (lab: Lab) => {
    lab.each(['none', 'random'], (rows, nulls) => {
      const values = lab.values('I64', Math.min(rows, 1000));
      printed(lab, 'I64', values, nulls, String, (at, bits, out, buffer) => lab.kernels.textOfLongs(at, bits, values.length, out, buffer));
    });
  },
  textOfDoubles: (lab: Lab) => {
    lab.each(['DOUBLE', 'FLOAT', 'DOUBLE, nulls', 'FLOAT, nulls'], (rows, variant) => {
      const isFloat = variant.startsWith('FLOAT');
      const values = Array.from({ length: Math.min(rows, 1000) }, () =>
        isFloat ? Math.fround(anyDouble(lab, true)) : anyDouble(lab, false),
      );
      const powers = lab.place(
        'I64',
        [...powersOfTen()].map((word) => BigInt.asIntN(64, word)),
      );
      const print = (value: Value): string => (isFloat ? floatText(Number(value)) : doubleText(Number(value)));
      printed(lab, 'F64', values, variant.endsWith('nulls') ? 'random' : 'none', print, (at, bits, out, buffer) =>
        lab.kernels.textOfDoubles(at, bits, values.length, isFloat ? 1 : 0, powers, out, buffer),
      );
    });
  },
  textOfTimes: (lab: Lab) => {
    lab.each(['none', 'random'], (rows, nulls) => {
      const values = Array.from({ length: Math.min(rows, 1000) }, () => anyTime(lab));
      const template = lab.uploadBytes(Buffer.from('0000/00/00 on 00:00:00.000, 00 h'));
      // Units of the fields, one of them twice, and their places.
      const fields = [0, 0, 1, 5, 2, 8, 3, 14, 4, 17, 5, 20, 6, 23, 3, 28];
      const at = lab.place('U16', fields);
      let others = 0;
      const left = printed(lab, 'I64', values, nulls, clockText, (from, bits, out, buffer) => {
        others = lab.kernels.textOfTimes(from, bits, values.length, template, 32, at, fields.length / 2, out, buffer);
      });
      lab.expectResult(others, left);
    });
  },
  textLongs: (lab: Lab) => readNumbers(lab, 'I64', /^-?\d{1,18}$/, BigInt),
  textDoubles: (lab: Lab) => readNumbers(lab, 'F64', /^-?(?!.*(?:\d.?){16})\d+(?:\.\d*)?$/, Number),
  textTimes: (lab: Lab) => {
    lab.each(['2025-01-02T03:04:05.678Z', '05/02/2025 0304'], (rows, example) => {
      const isIso = example.endsWith('Z');
      const template = isIso ? ISO_STEPS : DAY_FIRST_STEPS;
      const texts = randomTexts(lab, rows).map((text) => (lab.random(9) === 0 ? text : almostTime(lab, isIso)));
      const steps = lab.place('U32', template);
      expectLongs(
        lab,
        texts,
        (text) => (isIso ? isoTime(text) : dayFirstTime(text)),
        (at, out, others) => lab.kernels.textTimes(at, texts.length, steps, template.length, out, others),
      );
    });
  },
  textAddresses: (lab: Lab) => {
    lab.each(['texts'], (rows) => {
      const texts = randomTexts(lab, rows).map((text) => (lab.random(9) === 0 ? text : anyAddress(lab)));
      expectLongs(lab, texts, numberOfAddress, (at, out, others) => lab.kernels.textAddresses(at, texts.length, out, others));
    });
  },
  textOfAddresses: (lab: Lab) => {
    lab.each(['none', 'random'], (rows, nulls) => {
      const values = lab
        .values('I64', Math.min(rows, 1000))
        .map((value) =>
          lab.random(5) === 0 ? value : BigInt(lab.random(4294967296)) & (ADDRESS_MASKS[lab.random(ADDRESS_MASKS.length)] ?? 0n),
        );
      printed(lab, 'I64', values, nulls, textOfAddress, (at, bits, out, buffer) =>
        lab.kernels.textOfAddresses(at, bits, values.length, out, buffer),
      );
    });
  },
} satisfies Record<string, (lab: Lab) => void>;

/** A kernel that prints numbers; `print` gives null for those that it leaves. @returns how many these are, nulls not counted */
function printed(
  lab: Lab,
  type: 'I64' | 'F64',
  values: readonly Value[],
  nulls: (typeof MASKS)[number],
  print: (value: Value) => Text,
  call: (at: number, nulls: number, out: number, buffer: number) => void,
): number {
  const isNull = lab.mask(nulls, values.length);
  const [at, bits] = [lab.place(type, values), nulls === 'none' ? 0 : lab.uploadBits(isNull)];
  const expected = values.map((value, i) => (isNull[i] === true ? null : print(value)));
  const out = lab.output('I64', values.length);
  const buffer = roomFor(lab, expected);
  lab.call(() => call(at, bits, out, buffer));
  expectTexts(lab, out, expected, () => false);
  expectPacked(
    lab,
    out,
    buffer,
    expected.map(() => true),
  );
  return expected.filter((text, i) => text === null && isNull[i] !== true).length;
}

const view = new DataView(new ArrayBuffer(8));

/** Any bits, short decimals, powers of two and ten and their neighbours, multiples of the smallest number. */
function anyDouble(lab: Lab, isFloat: boolean): number {
  const random = (): number => lab.random(4294967296);
  const sign = lab.random(2) === 0 ? 1 : -1;
  const bitsOf = (low: number, high: number): number => {
    view.setUint32(0, high);
    view.setUint32(4, low);
    return isFloat ? view.getFloat32(0) : view.getFloat64(0);
  };
  switch (lab.random(7)) {
    case 0:
      return bitsOf(random(), random());
    case 1:
      return (sign * lab.random(10_000_000)) / 10 ** lab.random(9);
    case 2:
      return sign * Number(`${1 + lab.random(99)}e${lab.random(isFloat ? 80 : 640) - (isFloat ? 45 : 330)}`);
    case 3:
      return (isFloat ? bitsOf(0, random() & 0xff800000) : bitsOf(0, random() & 0xfff00000)) as number;
    case 4:
      return isFloat ? bitsOf(0, lab.random(5000)) : bitsOf(lab.random(5000), 0);
    case 5:
      // Halfway between two numbers of fewer digits.
      return (sign * (1 + lab.random(8192))) / 2 ** lab.random(40);
    default:
      return Number(lab.values('F64', 1)[0]);
  }
}

/** Most within the years 0 to 9999, some at their ends. */
function anyTime(lab: Lab): bigint {
  const ends = [-62_167_219_200_000n, 253_402_300_799_999n, 0n, 951_782_400_000n];
  switch (lab.random(4)) {
    case 0:
      return (ends[lab.random(ends.length)] ?? 0n) + BigInt(lab.random(5) - 2);
    case 1:
      return BigInt(lab.values('I64', 1)[0] ?? 0);
    default:
      return -62_167_219_200_000n + BigInt(lab.random(73_000)) * 4_323_000_000n + BigInt(lab.random(2 ** 31));
  }
}

function clockText(value: Value): string | null {
  const ms = Number(value);
  if (ms < -62_167_219_200_000 || ms > 253_402_300_799_999) return null;
  const text = new Date(ms).toISOString();
  return `${text.slice(0, 10).replaceAll('-', '/')} on ${text.slice(11, 23)}, ${text.slice(11, 13)} h`;
}

const field = (unit: number, digits: number): number => (unit << 16) | (digits << 20);
const byte = (characters: string): number => characters.charCodeAt(0) | ((characters.charCodeAt(1) || characters.charCodeAt(0)) << 8);
const [MAY_END, MAY_END_IN_Z] = [2 ** 31, 2 ** 30];
const ISO_STEPS = [
  ...[field(1, 4), byte('-'), field(2, 2), byte('-'), field(3, 2), byte('T ') + MAY_END, field(4, 2), byte(':'), field(5, 2)],
  ...[byte(':') + MAY_END + MAY_END_IN_Z, field(6, 2), byte('.') + MAY_END + MAY_END_IN_Z, field(7, 3), byte('Z') + MAY_END],
];
const DAY_FIRST_STEPS = [field(3, 2), byte('/'), field(2, 2), byte('/'), field(1, 4), byte(' '), field(4, 2), field(5, 2)];

/** Times that are what they print as again, the year 0 left out. */
function isoTime(text: string): number | null {
  if (!/^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{3})?)?Z?)?$/.test(text) || text.startsWith('0000')) return null;
  const whole = text.replace(' ', 'T').replace('Z', '');
  const full = `${whole}${'-00-00T00:00:00.000'.slice(whole.length - 4)}`;
  const ms = Date.parse(`${full}Z`);
  return Number.isNaN(ms) || new Date(ms).toISOString() !== `${full}Z` ? null : ms;
}

function dayFirstTime(text: string): number | null {
  const [, day, month, year, hour, minute] = /^(\d\d)\/(\d\d)\/(\d{4}) (\d\d)(\d\d)$/.exec(text) ?? [];
  return day === undefined ? null : isoTime(`${year}-${month}-${day}T${hour}:${minute}`);
}

/** Times in either way of writing, some of which are none: other digits, parts that are not there, days of no month. */
function almostTime(lab: Lab, isIso: boolean): string {
  const iso = new Date(lab.random(4_000_000_000) * 60_000 + lab.random(60_000) - 62_135_596_800_000).toISOString();
  const [year, month, day] = iso.slice(0, 10).split('-');
  const text = isIso
    ? iso.replace('T', lab.random(2) === 0 ? ' ' : 'T')
    : `${day}/${month}/${year} ${iso.slice(11, 13)}${iso.slice(14, 16)}`;
  switch (lab.random(6)) {
    case 0:
      return text.slice(0, [4, 7, 10, 11, 13, 16, 19, 23][lab.random(8)]);
    case 1: {
      const at = lab.random(text.length);
      return text.slice(0, at) + '0123456789x/'.charAt(lab.random(12)) + text.slice(at + 1);
    }
    case 2:
      return `${text.slice(0, [10, 16, 19][lab.random(3)])}Z`;
    default:
      return text;
  }
}

/** A kernel that reads a LONG of each text, and leaves those of which `valueOf` gives none. */
function expectLongs(
  lab: Lab,
  texts: readonly Text[],
  valueOf: (text: string) => number | bigint | null,
  read: (at: number, out: number, others: number) => number,
): void {
  const { at } = lay(lab, texts);
  const [out, others] = [lab.output('I64', texts.length), lab.output('I64', Math.ceil(texts.length / 64))];
  const expected = texts.map((text) => (text === null ? null : valueOf(text)));
  lab.expectResult(
    lab.call(() => read(at, out, others)),
    expected.filter((each) => each === null).length,
  );
  lab.expectBits(
    others,
    expected.map((each) => each === null),
  );
  lab.expect(
    'I64',
    out,
    expected.map((each) => BigInt(each ?? 0)),
  );
}

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

/** Masks that leave parts of one, two and three digits. */
const ADDRESS_MASKS = [0xffffffffn, 0x3f0f0700n, 0x0701ff3fn, 0n];

function textOfAddress(value: Value): string | null {
  const address = BigInt(value);
  if (address < 0n || address > 4_294_967_295n) return null;
  return [16_777_216n, 65_536n, 256n, 1n].map((unit) => String((address / unit) % 256n)).join('.');
}

/** Parts are numbers that are written as they are read. */
function numberOfAddress(text: string): bigint | null {
  const parts = text.split('.').map(Number);
  const isAddress = parts.length === 4 && parts.every((part) => Number.isInteger(part) && part >= 0 && part <= 255);
  if (!isAddress || parts.join('.') !== text) return null;
  return parts.reduce((address, part) => address * 256n + BigInt(part), 0n);
}

/** Addresses, and texts that are one almost: parts that are too large, begin with 0, are none, are too many. */
function anyAddress(lab: Lab): string {
  const part = (): string => String(lab.random([256, 256, 10, 100, 301][lab.random(5)] ?? 256));
  const parts = Array.from({ length: lab.random(12) === 0 ? 1 + lab.random(6) : 4 }, part);
  if (lab.random(3) === 0) parts[lab.random(parts.length)] = ALMOST_PARTS[lab.random(ALMOST_PARTS.length)] ?? '';
  const text = parts.join('.');
  return lab.random(12) === 0 ? (ALMOST_ADDRESSES[lab.random(ALMOST_ADDRESSES.length)] ?? '') : text;
}

const ALMOST_PARTS = [
  '',
  '00',
  '01',
  '001',
  '256',
  '260',
  '300',
  '999',
  '1000',
  '0000',
  '-1',
  '+1',
  ' 1',
  '1 ',
  'a',
  '1a',
  ':',
  '/',
  '2é',
  '\ufeff1',
  '１',
];
const ALMOST_ADDRESSES = [
  '0.0.0.0',
  '255.255.255.255',
  '1.2.3.4.',
  '.1.2.3.4',
  '1..2.3.4',
  '1.2.3',
  '1.2.3.4/8',
  '1,2,3,4',
  '1.2.3.4 ',
  '...',
  '.......',
  '1234567',
  '::1.2.3.4',
];
