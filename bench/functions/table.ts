import { csvIngestion, writeCsv } from '../data/csv.js';
import { randomSource } from '../data/random.js';

/**
 * A table with one column of each kind that functions meet: `tiny` to `wide` are LONGs of 8, 32 and 63 bits, `dec` has two decimal
 * places, `low`, `mid` and `high` have 250, 5,000 and as many different strings as rows, `word` short ones of which many are equal.
 * `mid`, `long` and `dec` have nulls. The same (rows, seed) gives the same bytes.
 */
export const FUNCTIONS_COLUMNS = ['__time', 'tiny', 'long', 'wide', 'dbl', 'dec', 'flt', 'low', 'mid', 'high', 'digits', 'tags'] as const;

const START = Date.UTC(2023, 5, 1);
const SPAN_MS = 400 * 86_400_000;
const SYLLABLES = ['an', 'bel', 'cor', 'dra', 'el', 'fin', 'gor', 'hal', 'ist', 'jun', 'kel', 'lor', 'min', 'nor', 'ost', 'pel'] as const;

export function writeFunctionsCsv(file: string, rows: number, seed: number): void {
  writeCsv(file, FUNCTIONS_COLUMNS, functionsRows(rows, seed));
}

export function* functionsRows(rows: number, seed: number): Generator<string> {
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
      Array.from({ length: 1 + below(3) }, () => `t${below(20)}`).join('|'),
    ];
    yield cells.join(',');
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
      ...['low', 'mid', 'high', 'digits', 'tags'],
    ],
    segmentGranularity: 'all',
    listDelimiter: '|',
    partitionsSpec: { type: 'dynamic', maxRowsPerSegment: 20_000_000 },
  });
}
