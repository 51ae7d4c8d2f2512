// Conformance checks of the kernel that takes lines of JSON apart.

import { FIELD, ODD_NAME, ODD_ROW, SCAN_STATE } from '../scan-contract.js';
import type { Lab } from './lab.js';

const NAMES = ['a', 'time', 'a name of more than sixteen bytes', 'é', '', 'b', 'longer', 'longes', '8 bytes!', 'odd name'] as const;
const VALUES: readonly (readonly [text: string, kind: number])[] = [
  ['null', FIELD.null],
  ['true', FIELD.true],
  ['false', FIELD.false],
  ['""', FIELD.string],
  ['"x"', FIELD.string],
  ['"日本 😀 {[,:]}"', FIELD.string],
  ['"text of sixteen."', FIELD.string],
  [`"${'longer than vectors '.repeat(4)}"`, FIELD.string],
  ['"a\\"b"', FIELD.escapedString],
  ['"\\u00e9\\\\"', FIELD.escapedString],
  ['"0123456789abcde\\n"', FIELD.escapedString],
  ['0', FIELD.number],
  ['-0', FIELD.number],
  ['12345678901234567890', FIELD.number],
  ['-1.5', FIELD.number],
  ['1e9', FIELD.number],
  ['2.25E-3', FIELD.number],
  ['[]', FIELD.nested],
  ['{}', FIELD.nested],
  ['[1, "]", {"a": [null, true]}, 1234567890123456.5]', FIELD.nested],
  ['{"a":{"b":"}"},"c":[[],{}]}', FIELD.nested],
];
const ODD = [
  'x',
  '[]',
  '"a"',
  '{',
  '{"a":1',
  '{"a":1}}',
  '{"a":1} {"a":2}',
  '{"a":01}',
  '{"a":1.}',
  '{"a":.5}',
  '{"a":+1}',
  '{"a":1e}',
  '{"a":-}',
  '{"a":nul}',
  '{"a":truE}',
  '{"a":fals',
  '{"a":"\t"}',
  '{"a":"\\x"}',
  '{"a":"\\u12g4"}',
  '{"a":"open}',
  '{"a":1,}',
  '{"a":1,"b"}',
  '{"a" 1}',
  '{"a":1,"a":2}',
  '{"\\u0061":1}',
  '{"a":[1,]}',
  '{"a":{"b":1,}}',
  '{"a":[}',
  '{"a":{"b"}}',
  '{"a":[1234567890123456]}',
  '{"a":[],"b":-1234567890123456}',
  '{"odd name":1}',
  `{"a":${'['.repeat(33)}${']'.repeat(33)}}`,
] as const;
const SPACES = ['', '', ' ', '\t', ' \r '] as const;

interface Line {
  readonly text: string;
  /** In the order of the names; undefined: the row has none. null: the row is odd. */
  readonly cells: readonly ({ readonly kind: number; readonly start: number; readonly end: number } | undefined)[] | null;
}

export const SCAN_CHECKS = {
  scanJson(lab: Lab) {
    lab.each(['names in order', 'names in any order', 'odd lines', 'unknown names', 'one piece'], (count, variant) => {
      const lines = Array.from({ length: Math.min(count, 100) }, () => line(lab, variant));
      const bytes = Buffer.from(lines.map(({ text }) => text).join('\n'));
      const at = lab.uploadBytes(Buffer.concat([bytes, Buffer.from('\n'), Buffer.alloc(16, 0x22)]));
      const nameTexts = NAMES.map((name) => Buffer.from(name));
      const nameBytes = lab.uploadBytes(Buffer.concat([...nameTexts, Buffer.alloc(16)]));
      let offset = 0;
      const records = nameTexts.flatMap(({ length }, name) => {
        offset += length;
        return [offset - length, length, NAMES[name] === 'odd name' ? ODD_NAME : 0, 0];
      });
      const names = lab.output('U32', records.length, records);
      const rowsMax = variant === 'one piece' ? 128 : 64;
      const unknownFrom = variant === 'unknown names' ? 5 : NAMES.length;
      const state = lab.output('U32', SCAN_STATE.words, [0, unknownFrom, 0, 0, 0, 0]);
      let expected = 0;
      let lineStart = 0;
      for (;;) {
        const rows = lab.output('U32', rowsMax * 2);
        const fields = lab.output('U8', NAMES.length * rowsMax * 9, new Array<number>(NAMES.length * rowsMax * 9).fill(0));
        const scan = (): number => lab.call(() => lab.kernels.scanJson(at, bytes.length, state, nameBytes, names, rows, fields, rowsMax));
        let scanned = scan();
        const [, , , wasUnknown = 0] = lab.read('U32', state, 4).map(Number);
        if (wasUnknown > 0 && lab.random(2) === 0) {
          // The names are all known from here on, and the rows follow those before.
          const [next = 0, , , , stamp = 0] = lab.read('U32', state, 5).map(Number);
          lab.overwrite('U32', state, [next, NAMES.length, 0, 0, stamp, scanned]);
          scanned = scan();
          lab.overwrite('U32', state + SCAN_STATE.rows * 4, [0]);
        }
        const bounds = lab.read('U32', rows, scanned * 2).map(Number);
        for (let row = 0; row < scanned; row++) {
          // Blank lines are no rows.
          while (lines[expected]?.text.trim() === '') lineStart += Buffer.byteLength(lines[expected++]?.text ?? '') + 1;
          const found = lines[expected++];
          if (found === undefined) lab.fail(`row ${row} is one too many`);
          const lineEnd = lineStart + Buffer.byteLength(found.text);
          if (bounds[row * 2] !== lineStart) lab.fail(`row ${row} starts at ${bounds[row * 2]}, expected ${lineStart}: ${found.text}`);
          const end = found.cells === null ? lineEnd + ODD_ROW : lineEnd;
          if (bounds[row * 2 + 1] !== end) lab.fail(`row ${row} ends at ${bounds[row * 2 + 1]}, expected ${end}: ${found.text}`);
          for (const [column, cell] of (found.cells ?? []).entries()) {
            const plane = fields + column * rowsMax * 9;
            const [kind = 0] = lab.read('U8', plane + rowsMax * 8 + row, 1).map(Number);
            if (kind !== (cell?.kind ?? 0)) lab.fail(`kind ${kind}, expected ${cell?.kind ?? 0}, of ${NAMES[column]}: ${found.text}`);
            if (cell === undefined) continue;
            const [start] = lab.read('U32', plane + row * 4, 1).map(Number);
            const [behind] = lab.read('U32', plane + rowsMax * 4 + row * 4, 1).map(Number);
            if (start !== lineStart + cell.start || behind !== lineStart + cell.end)
              lab.fail(
                `${start} to ${behind}, expected ${lineStart + cell.start} to ${lineStart + cell.end}, of ${NAMES[column]}: ${found.text}`,
              );
          }
          lineStart = lineEnd + 1;
        }
        const [next = 0, nameCount = 0, from = 0, to = 0, stamp = 0] = lab.read('U32', state, SCAN_STATE.words).map(Number);
        if (to > 0) {
          const name = bytes.toString('utf8', from, to);
          if (!NAMES.slice(nameCount).some((each) => each === name)) lab.fail(`unknown name ${name}`);
          lab.overwrite('U32', state, [next, NAMES.length, 0, 0, stamp, 0]);
        } else if (scanned < rowsMax) break;
      }
      while (expected < lines.length && lines[expected]?.text.trim() === '') expected++;
      lab.expectResult(expected, lines.length);
      lab.expectResult(lab.read('U32', state, 1)[0] ?? -1, bytes.length);
    });
  },
};

function line(lab: Lab, variant: string): Line {
  const space = (): string => SPACES[lab.random(SPACES.length)] ?? '';
  if (lab.random(20) === 0) return { text: ['', '  ', '\t\r'][lab.random(3)] ?? '', cells: [] };
  if (variant === 'odd lines' && lab.random(3) === 0) return { text: `${space()}${ODD[lab.random(ODD.length)]}${space()}`, cells: null };
  const columns = NAMES.map((_, column) => column).filter((column) => NAMES[column] !== 'odd name' && lab.random(4) > 0);
  if (variant === 'names in any order') columns.sort(() => lab.random(3) - 1);
  let text = `${space()}{${space()}`;
  const cells: { kind: number; start: number; end: number }[] = [];
  let [hasNested, hasLong] = [false, false];
  for (const [at, column] of columns.entries()) {
    const [value, kind] = VALUES[lab.random(VALUES.length)] ?? ['null', FIELD.null];
    text += `${at === 0 ? '' : `${space()},${space()}`}"${NAMES[column]}"${space()}:${space()}`;
    const start = Buffer.byteLength(text);
    text += value;
    hasNested ||= kind === FIELD.nested;
    hasLong ||= /^-?\d{16,}$/.test(value);
    const inset = kind === FIELD.string || kind === FIELD.escapedString ? 1 : 0;
    cells[column] = { kind, start: start + inset, end: Buffer.byteLength(text) - inset };
  }
  text += `${space()}}${space()}`;
  return { text, cells: hasNested && hasLong ? null : NAMES.map((_, column) => cells[column]) };
}
