import { csvIngestion, writeCsv } from './csv.js';
import { randomSource } from './random.js';

/**
 * A seeded table of edit events, shaped like a busy wiki: rows ascend strictly in `__time` over 31 days, string
 * columns follow a Zipf law (exponent 1) over 2 to 1,000,000 distinct values. The same (rows, seed) gives the same
 * bytes, so that every engine of a benchmark reads the same file.
 */
const WIKI_START = Date.UTC(2024, 0, 1);
const WIKI_SPAN_MS = 31 * 86_400_000;

const WORDS = [
  'amber',
  'birch',
  'cedar',
  'delta',
  'ember',
  'fjord',
  'grove',
  'harbor',
  'island',
  'juniper',
  'kestrel',
  'lagoon',
  'moon',
  'north',
  'opal',
  'prairie',
] as const;

const LONGS = ['added', 'deleted', 'delta'];
const DOUBLES = ['price', 'score'];
const STRINGS = ['isRobot', 'channel', 'country', 'city', 'user', 'page'];
const WIKI_COLUMNS = ['__time', ...STRINGS, ...LONGS, ...DOUBLES];

export const channelName = (rank: number): string => `#c${rank}.wiki`;
export const countryName = (rank: number): string => `Country ${WORDS[rank & 15]} ${rank}`;
export const cityName = (rank: number): string => `${WORDS[(rank * 7) & 15]}ville ${rank}`;
export const userName = (rank: number): string => `${WORDS[(rank * 5) & 15]}_${rank.toString(36)}`;
export const pageName = (rank: number): string => `${WORDS[(rank * 3) & 15]} ${WORDS[(rank >> 4) & 15]} ${rank}`;

/** Writes a CSV with a header line. `onProgress` hears the rows written so far, about a hundred times. */
export function writeWikiCsv(file: string, rows: number, seed: number, onProgress: (rows: number) => void = () => undefined): void {
  writeCsv(file, WIKI_COLUMNS, wikiRows(rows, seed, onProgress));
  onProgress(rows);
}

function* wikiRows(rows: number, seed: number, onProgress: (rows: number) => void): Generator<string> {
  const random = randomSource(seed);
  const zipf = (count: number): number => Math.min(count - 1, Math.floor(Math.exp(random() * Math.log(count + 1))) - 1);
  const step = WIKI_SPAN_MS / rows;
  const reportEvery = Math.max(1, Math.floor(rows / 100));
  for (let row = 0; row < rows; row++) {
    const time = new Date(WIKI_START + Math.floor(row * step)).toISOString();
    const city = random() < 0.03 ? '' : cityName(zipf(5000));
    const added = Math.floor(Math.exp(random() * 7)) - 1;
    const deleted = random() < 0.6 ? 0 : Math.floor(random() * 300);
    yield `${time},${random() < 0.3},${channelName(zipf(10))},${countryName(zipf(250))},${city},${userName(zipf(100_000))},${pageName(zipf(1_000_000))},${added},${deleted},${added - deleted},${(Math.floor(random() * 100_000) / 100).toFixed(2)},${random().toFixed(4)}`;
    if (row % reportEvery === 0) onProgress(row);
  }
}

/** The task that loads `wiki.csv` of a folder into the datasource `wiki`: a segment a day, or one for the month. */
export function wikiIngestion(folder: string, segmentGranularity: 'day' | 'month' = 'day'): unknown {
  const typed = (type: string) => (name: string) => ({ type, name });
  const dimensions = [...STRINGS, ...LONGS.map(typed('long')), ...DOUBLES.map(typed('double'))];
  return csvIngestion({ folder, file: 'wiki.csv', dataSource: 'wiki', dimensions, segmentGranularity });
}
