import { csvIngestion, writeCsv } from '../data/csv.js';
import { randomSource } from '../data/random.js';

/**
 * A table with one column of each kind that functions meet: `tiny` to `wide` are LONGs of 8, 32 and 63 bits, `dec` has two decimal
 * places, `low`, `mid` and `high` have 250, 5,000 and as many different strings as rows, `word` short ones of which many are equal.
 * `mid`, `long` and `dec` have nulls. `digits`, `ip`, `stamp` and `code` are texts of numbers, addresses, times and base64; `doc` has documents. The same (rows, seed) gives the same bytes.
 */
export const FUNCTIONS_COLUMNS = [
  '__time',
  'tiny',
  'long',
  'wide',
  'dbl',
  'dec',
  'flt',
  'low',
  'mid',
  'high',
  'digits',
  'ip',
  'stamp',
  'code',
  'doc',
  'tags',
] as const;

const START = Date.UTC(2023, 5, 1);
const SPAN_MS = 400 * 86_400_000;
const SYLLABLES = ['an', 'bel', 'cor', 'dra', 'el', 'fin', 'gor', 'hal', 'ist', 'jun', 'kel', 'lor', 'min', 'nor', 'ost', 'pel'] as const;

export function writeFunctionsCsv(file: string, rows: number, seed: number): void {
  writeCsv(file, FUNCTIONS_COLUMNS, lines(functionsRows(rows, seed)));
}

function* lines(rows: Iterable<readonly string[]>): Generator<string> {
  for (const cells of rows) yield cells.map((cell) => (/[",]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',');
}

function documentOf(below: (count: number) => number): string {
  const list = Array.from({ length: 3 }, () => below(50));
  return JSON.stringify({ kind: `k${below(40)}`, n: below(5000), deep: { d: below(1000) / 8, list }, flag: below(2) === 1 });
}

/** Cells of each row, as text; none of a null. */
export function* functionsRows(rows: number, seed: number): Generator<readonly string[]> {
  const random = randomSource(seed);
  const below = (count: number): number => Math.floor(random() * count);
  const word = (number: number): string => `${SYLLABLES[number & 15]}${SYLLABLES[(number >> 4) & 15]}`;
  for (let row = 0; row < rows; row++) {
    const wide = (BigInt(below(2 ** 31)) << 31n) + BigInt(below(2 ** 31)) - (1n << 61n);
    const [low, mid] = [below(250), below(5000)];
    const cells = [
      new Date(START + Math.floor((row / rows) * SPAN_MS)).toISOString(),
      below(200),
      random() < 0.1 ? '' : below(2_000_000) - 1_000_000,
      wide,
      (random() - 0.5) * 1e6,
      random() < 0.1 ? '' : (below(100_000) / 100).toFixed(2),
      Math.fround(random() * 1000),
      `${word(low)} ${low}`,
      random() < 0.05 ? '' : `${word(mid)}-${word(mid >> 3)} ${mid}`,
      `https://example.com/${word(below(256))}/${word(below(256))}/${row}?id=${below(1_000_000)}`,
      below(10_000),
      `10.${below(64)}.${below(32)}.${below(32)}`,
      new Date(START + below(SPAN_MS / 1000) * 1000).toISOString().slice(0, 19).replace('T', ' '),
      Buffer.from(`${word(below(256))} ${below(100_000)}`).toString('base64'),
      documentOf(below),
      Array.from({ length: 1 + below(3) }, () => `t${below(20)}`).join('|'),
    ];
    yield cells.map(String);
  }
}

/** The task that loads `functions.csv` of a folder into the datasource `t`, one segment. */
export function functionsIngestion(folder: string): unknown {
  const typed = (type: string) => (name: string) => ({ type, name });
  return csvIngestion({
    folder,
    file: 'functions.csv',
    dataSource: 't',
    dimensions: [
      ...['tiny', 'long', 'wide'].map(typed('long')),
      ...['dbl', 'dec'].map(typed('double')),
      typed('float')('flt'),
      ...['low', 'mid', 'high', 'digits', 'ip', 'stamp', 'code', 'tags'],
      typed('json')('doc'),
    ],
    segmentGranularity: 'all',
    listDelimiter: '|',
    transforms: [{ type: 'expression', name: 'doc', expression: 'parse_json(doc)' }],
    partitionsSpec: { type: 'dynamic', maxRowsPerSegment: 20_000_000 },
  });
}
