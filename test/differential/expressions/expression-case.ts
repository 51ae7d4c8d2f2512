import type { DifferentialCase, ExpressionRequest, Json } from '../case.js';
import type { Random } from '../random.js';
import { DOUBLES, LONGS, STRINGS, TIMES } from '../tables.js';
import { leaf, printTree, shrinkTree, type Tree, tagsOf } from './expression-tree.js';
import { makeTree, type Scope } from './make-tree.js';

/** Half of them over single values, half over the columns of `nasty`. */
export function expressionCase(random: Random): DifferentialCase {
  const letter = random.pick(['X', 'S', 'L', 'D', 'N', 'C', 'Y', 'J']);
  const depth = 1 + random.below(3);
  if (random.chance(0.5)) return columnCase(makeTree(random, COLUMN_SCOPE, letter, depth));
  const columns = [
    { name: 's', type: 'STRING', value: random.pick(STRINGS) },
    { name: 't', type: 'STRING', value: random.pick(STRINGS) },
    { name: 'l', type: 'LONG', value: random.pick(LONGS) },
    { name: 'm', type: 'LONG', value: random.pick(LONGS) },
    { name: 'd', type: 'DOUBLE', value: finite(random.pick(DOUBLES)) },
    { name: 'e', type: 'DOUBLE', value: finite(random.pick(DOUBLES)) },
    { name: 'ts', type: 'LONG', value: Date.parse(random.pick(TIMES)) + random.below(1000) },
    { name: 'sa', type: 'ARRAY<STRING>', value: random.chance(0.1) ? null : random.list(0, 3, () => random.pick(STRINGS)) },
    { name: 'la', type: 'ARRAY<LONG>', value: random.chance(0.1) ? null : random.list(0, 3, () => random.pick(LONGS)) },
    { name: 'da', type: 'ARRAY<DOUBLE>', value: random.chance(0.1) ? null : random.list(0, 3, () => finite(random.pick(DOUBLES))) },
  ];
  return scalarCase(makeTree(random, SCALAR_SCOPE, letter, depth), columns);
}

function columnCase(tree: Tree): DifferentialCase {
  return {
    kind: 'expressions',
    request: { expression: printTree(tree) },
    tags: ['over columns', ...tagsOf(tree)],
    order: 'bag',
    *shrink() {
      for (const smaller of shrinkTree(tree)) yield columnCase(smaller);
    },
  };
}

type BoundColumn = NonNullable<ExpressionRequest['columns']>[number];

function scalarCase(tree: Tree, columns: readonly BoundColumn[]): DifferentialCase {
  const text = printTree(tree);
  const used = columns.filter(({ name }) => new RegExp(`\\b${name}\\b`).test(text));
  return {
    kind: 'expressions',
    request: { expression: text, columns: used.map(({ name, type, value }) => ({ name, type, value })) },
    tags: ['over values', ...tagsOf(tree)],
    order: 'bag',
    *shrink() {
      for (const smaller of shrinkTree(tree)) yield scalarCase(smaller, used);
      for (const [at, column] of used.entries())
        for (const value of simplerThan(column.value)) yield scalarCase(tree, used.with(at, { ...column, value }));
    },
  };
}

function simplerThan(value: Json): Json[] {
  if (value === null) return [];
  if (Array.isArray(value)) return [null, [], ...value.map((_, at) => (value as Json[]).toSpliced(at, 1))];
  return typeof value === 'string' ? [null, '', value.slice(0, value.length >> 1)] : [null, 0, 1].filter((simple) => simple !== value);
}

/** JSON has no number for these; the table has them. */
function finite(value: number | string | null): number | null {
  return typeof value === 'string' ? Number(value === '-0.0' ? 0 : 1) : value;
}

const QUOTED: readonly string[] = STRINGS.flatMap((value) => (value === null || value.length > 20 ? [] : [quote(value)]));

function quote(value: string): string {
  const escaped = value
    .replace(/[\\']/g, '\\$&')
    .replace(/[\u0000-\u001f]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return `'${escaped}'`;
}

const LITERAL_OF: Readonly<Record<string, readonly string[]>> = {
  S: QUOTED,
  L: [
    '0',
    '1',
    '-1',
    '2',
    '10',
    '9223372036854775807',
    '9007199254740993',
    'null',
    '2147483648',
    '-9223372036854775807',
    '-(9223372036854775807) - 1',
    '4294967296',
  ],
  D: [
    '0.0',
    '0.1',
    '-0.5',
    '1.5',
    '2.5',
    '1e300',
    '1E-7',
    '100.0',
    'null',
    '-0.0',
    '5E-324',
    '1.7976931348623157E308',
    "cast('NaN', 'DOUBLE')",
    "cast('Infinity', 'DOUBLE')",
    "cast('-Infinity', 'DOUBLE')",
    '9007199254740993.0',
  ],
  C: ['1', '0', 'null', '1.0', "'true'", "'false'"],
  T: [
    '0',
    '1425797999999',
    '-1',
    '1442018818771',
    '253402300799000',
    '-62135596800000',
    '-62135596800001',
    '253402300800000',
    '-2208988800000',
    '1446354000000',
    '1425797999999',
    '1709164800000',
  ],
  A: [
    "array('a', 'b')",
    "array('a', null)",
    "['a']",
    "array('1', '2.5')",
    'null',
    '<STRING>[]',
    'array(null)',
    "array('')",
    "array('NaN', '-0.0')",
  ],
  M: ['[1, 2, 3]', 'array(1, null)', '[9007199254740993]', '<LONG>[]', "array(cast(null, 'LONG'))"],
  E: [
    '[1.5, 2.5]',
    'array(0.1, null)',
    '<DOUBLE>[1, 2]',
    '<DOUBLE>[]',
    'array(-0.0, 0.0)',
    "array(cast('NaN', 'DOUBLE'), 1.0)",
    '[1E300, 5E-324]',
  ],
  J: [
    'parse_json(\'{"a":{"b":[1,2,null]}}\')',
    "json_object('a', 1, 'b', 'x')",
    "parse_json('[1,2]')",
    'null',
    'parse_json(\'{"x.y":1.5,"c":[{"b":""},[]]}\')',
    'parse_json(\'"a"\')',
    "parse_json('12')",
  ],
};

function scope(columns: Readonly<Record<string, readonly string[]>>): Scope {
  return {
    leaves: (letter, random) => {
      const wanted =
        letter === 'X' ? random.pick(['S', 'L', 'D', 'A', 'M', 'E', 'S', 'L', 'D']) : letter === 'N' ? random.pick(['L', 'D']) : letter;
      const exact = wanted === 'Y' ? random.pick(['A', 'M', 'E']) : wanted;
      const own = columns[exact] ?? [];
      if (own.length > 0 && random.chance(0.7)) {
        const name = random.pick(own);
        return leaf(`"${name}"`, name.startsWith('mv') ? 'several values' : undefined);
      }
      return leaf(random.pick(LITERAL_OF[exact] ?? ['null']));
    },
  };
}

const SCALAR_SCOPE = scope({
  S: ['s', 't'],
  L: ['l', 'm'],
  D: ['d', 'e'],
  C: ['l', 's', 'd'],
  T: ['ts', 'ts', 'l'],
  A: ['sa'],
  M: ['la'],
  E: ['da'],
});
const COLUMN_SCOPE = scope({
  S: ['s', 'k', 'mv', 'mv2', 'b', 's', 'k', 'missing'],
  L: ['n', 'l', 'ts', 'id'],
  D: ['d', 'f', 'x'],
  C: ['n', 'b', 'x'],
  T: ['__time', 'ts'],
  A: ['as'],
  M: ['al'],
  E: ['ad'],
  J: ['j', 'j2'],
});
