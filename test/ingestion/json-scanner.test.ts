import { Buffer } from 'node:buffer';
import { inspect } from 'node:util';
import { suite } from 'uvu';
import { randomSource } from '../../bench/data/random.js';
import { AutoColumn } from '../../src/ingestion/column/auto-column.js';
import { DoubleColumn, LongColumn } from '../../src/ingestion/column/number-column.js';
import type { RunColumn } from '../../src/ingestion/column/run-column.js';
import { StringColumn } from '../../src/ingestion/column/string-column.js';
import { TypedTextColumn } from '../../src/ingestion/column/typed-text-column.js';
import type { ValueBlock } from '../../src/ingestion/format/input-block.js';
import { readJson } from '../../src/ingestion/format/json.js';
import { cellAt } from '../../src/model/frame.js';
import { caseCount } from '../case-count.js';

/*
 * The scanner of lines against the reading of rows as objects, which a flattenSpec without fields asks for: the same rows, values,
 * columns in the same order, and rejected lines, for hostile lines as well.
 */
const scanner = suite('JSON scanner');
const random = randomSource(7);
const pick = <Value>(list: readonly Value[]): Value => list[Math.floor(random() * list.length)] as Value;

const NAMES = [
  'time',
  'a',
  'b',
  'page',
  '',
  'é',
  'constructor',
  '__proto__',
  'a name of more than sixteen bytes',
  'a name of more than sixteen letters',
];
const RARE_NAMES = ['7', '0', '4294967295', 'a\\u0062', 'quote\\"', 'new'];
const VALUES = [
  ...[
    'null',
    'true',
    'false',
    '0',
    '-0',
    '-1',
    '1.0',
    '1.50',
    '007',
    '999999999999999',
    '1000000000000000',
    '1e3',
    '-2.5E-7',
    '1e999',
    '9007199254740993',
    '-9223372036854775808',
  ],
  ...[
    '12345678901234567890',
    '1234567890123456.5',
    '0.1234567890123456789',
    '""',
    '" "',
    '"text"',
    '"5"',
    '"1.5"',
    '"NaN"',
    '"0123456789abcdef"',
  ],
  ...[
    '"2015-09-12T00:46:58Z"',
    '"\\u00e9"',
    '"\\ud800"',
    '"a\\nb"',
    '"\\/"',
    '"\\x"',
    '"日本 😀"',
    '"tab\there"',
    '"open',
    'nul',
    'tru',
    '.5',
    '5.',
    '+1',
  ],
  ...[
    '[]',
    '[1,"2",null]',
    '["a","b"]',
    '[[1],{"x":[true]}]',
    '{}',
    '{"x":{"y":"}"}}',
    '{"x":1234567890123456789}',
    '{"x":1,"x":2}',
    '[1,]',
    '{"x"}',
  ],
  `${'['.repeat(40)}${']'.repeat(40)}`,
];
const LINES = [
  '',
  '  ',
  '\t\r',
  '\u00a0',
  '[]',
  '7',
  'null',
  '"a"',
  '{',
  '}',
  '{}',
  '{},',
  '{"a":1},{"a":2}',
  '{"a":1} , ',
  '{"a":1};',
  '\ufeff{"a":1}',
  'a\0b',
  '\u2028',
];

function member(): string {
  const space = pick(['', '', '', ' ', '\t']);
  return `"${random() < 0.02 ? pick(RARE_NAMES) : pick(NAMES)}"${space}:${space}${pick(VALUES)}`;
}

function line(isClean: boolean): string {
  if (!isClean && random() < 0.1) return pick(LINES);
  const names = isClean ? NAMES.filter(() => random() < 0.8) : [];
  const members = isClean
    ? names.map((name) => `"${name}":${pick(['1', '-2.5', '"x"', `"${Math.floor(random() * 50)}"`, 'null', '77', 'true'])}`)
    : Array.from({ length: Math.floor(random() * 6) }, member);
  const text = `{${members.join(pick([',', ', ']))}}${pick(['', '', '\r', ' '])}`;
  if (isClean || random() < 0.9) return text;
  // One byte changed, or the line cut.
  const at = Math.floor(random() * text.length);
  return random() < 0.5
    ? text.slice(0, at)
    : text.slice(0, at) + pick(['"', '\\', '{', '}', ',', ':', '\u0001', 'x', '[']) + text.slice(at + 1);
}

function inputOf(rows: number): Buffer {
  const isClean = random() < 0.4;
  const lines = Array.from({ length: rows }, () => Buffer.from(`${line(isClean)}\n`));
  if (!isClean && random() < 0.2) lines.push(Buffer.from([0x7b, 0xff, 0x7d, 0x0a]));
  const whole = Buffer.concat(lines);
  return random() < 0.5 ? whole : whole.subarray(0, whole.length - 1);
}

interface Read {
  readonly columns: string[];
  readonly rejected: string[];
  readonly rows: unknown[];
  readonly built: Record<string, unknown>;
}

function newColumns(): RunColumn[] {
  return [
    new StringColumn('STRING'),
    new LongColumn('LONG'),
    new DoubleColumn('DOUBLE', 'DOUBLE'),
    new AutoColumn('AUTO'),
    new AutoColumn('lists', 'multi-values'),
    new TypedTextColumn('JSON', 'COMPLEX<json>'),
  ];
}

/** Everything that is made of the rows; of each block only the rows that are not left out of the selection are built. */
async function read(bytes: Buffer, cut: number, flatten: boolean, kernels: string): Promise<Read> {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (let from = 0; from < bytes.length; from += cut) yield bytes.subarray(from, from + cut);
  }
  const format = { multiLine: false, flatten: flatten ? { useFieldDiscovery: true, fields: [] } : null };
  const [columns, rejected, rows]: [Set<string>, string[], unknown[]] = [new Set(), [], []];
  const built = new Map<string, { column: RunColumn; faults: number[] }[]>();
  const reject = (reason: string, sample: string): void => void rejected.push(`${reason}: ${sample}`);
  let before = 0;
  for await (const block of readJson(format, chunks(), { name: 'lines', maxRowBytes: 1 << 20, reject, kernels })) {
    for (const name of block.columns) columns.add(name);
    for (let row = 0; row < block.rowCount; row++) rows.push([block.record(row), block.sample(row)]);
    for (const name of NAMES) {
      let columnsOfName = built.get(name);
      if (columnsOfName === undefined) {
        columnsOfName = newColumns().map((column) => ({ column, faults: [] }));
        built.set(name, columnsOfName);
      }
      for (const { column, faults } of columnsOfName) append(column, block, name, before, faults);
    }
    before += block.rowCount;
  }
  const cells: Record<string, unknown> = {};
  for (const [name, list] of built)
    for (const { column, faults } of list) {
      const frame = column.toFrameColumn(Uint32Array.from({ length: column.rowCount }, (_, row) => row));
      cells[`${name} as ${column.name}`] = {
        kind: frame.kind,
        faults,
        cells: Array.from({ length: column.rowCount }, (_, row) => cellAt(frame, row)),
      };
    }
  return { columns: [...columns], rejected: rejected.sort(), rows, built: cells };
}

function append(column: RunColumn, block: ValueBlock, name: string, before: number, found: number[]): void {
  const rows = Int32Array.from({ length: block.rowCount }, (_, row) => row).filter((row) => (before + row) % 7 !== 3);
  const faults = new Uint8Array(block.rowCount);
  const members = block.members?.(name);
  const selection = { rows, count: rows.length };
  if (members === undefined) column.appendValues(block.values(name), selection, faults);
  else column.appendMembers(members, selection, faults);
  for (let row = 0; row < faults.length; row++) if (faults[row] === 1) found.push(before + row);
}

function same(found: Read, expected: Read, text: string): void {
  const lines = (read: Read): string[] =>
    [read.rejected, read.columns, read.rows, ...Object.entries(read.built)]
      .flat()
      .map((each) => inspect(each, { depth: 9, maxArrayLength: null }));
  const [one, other] = [lines(found), lines(expected)];
  const at = other.findIndex((each, index) => each !== one[index]);
  if (at >= 0 || one.length !== other.length) throw new Error(`found ${one[at]}, expected ${other[at]}, of\n${text.slice(0, 2000)}`);
}

for (const kernels of ['simd', 'scalar', 'reference']) {
  scanner(`the same as row by row, kernels ${kernels}`, async () => {
    for (let round = 0; round < caseCount(30); round++) {
      const bytes = inputOf(1 + Math.floor(random() * 60));
      const cut = pick([1, 7, 100, 1 << 20]);
      same(await read(bytes, cut, false, kernels), await read(bytes, cut, true, kernels), bytes.toString());
    }
  });
}

scanner('thousands of names, and more rows than a block has', async () => {
  const names = Array.from({ length: 5000 }, (_, at) => `{"time":1,"name ${at}":${at}}`);
  const rows = Array.from({ length: 9000 }, (_, at) => `{"time":${at},"a":"${at % 100}","b":${at / 4}}`);
  for (const lines of [names, rows, [...rows, ...names]]) {
    const bytes = Buffer.from(lines.join('\n'));
    same(await read(bytes, 1 << 20, false, 'simd'), await read(bytes, 1 << 20, true, 'simd'), `${lines.length} lines`);
  }
});

scanner.run();
