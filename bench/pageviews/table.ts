import path from 'node:path';
import { randomSource } from '../data/random.js';
import { type ColumnType, type TableCell, type TypedTable, typedInDuckdb, typedIngestion, writeTypedTable } from '../data/typed-table.js';
import { agentOf, below, hostOf, phraseOf, pick, type Random, titleOf, urlOf, wordOf, zipf } from './words.js';

/*
 * Views of web pages: a hundred columns, of which the strings are skewed and long, ids are of very many values, `tags` has several
 * values and `properties` is JSON. Rows ascend in time over ten days. The same (rows, seed) gives the same bytes.
 */
interface Column {
  readonly name: string;
  readonly type: ColumnType;
  /** Value of the next row; an empty string is null. */
  readonly cell: (draw: Draw) => TableCell;
}

/** All that the cells of a row are drawn from. */
interface Draw {
  readonly random: Random;
  readonly row: number;
  readonly rows: number;
  /** Page and visitor of the row, which several columns follow from. */
  readonly page: number;
  readonly visitor: number;
  readonly isSearch: boolean;
}

const START = Date.UTC(2024, 2, 1);
const SPAN_MS = 10 * 86_400_000;

const hash = (number: number): number => Math.imul(number ^ 0x5bd1e995, 0x85ebca6b) >>> 0;
const wide = (number: number): bigint => (BigInt(hash(number)) << 30n) ^ BigInt(hash(number + 1_000_003));

const string = (name: string, cell: Column['cell']): Column => ({ name, type: 'string', cell });
const long = (name: string, cell: Column['cell']): Column => ({ name, type: 'long', cell });
const double = (name: string, cell: Column['cell']): Column => ({ name, type: 'double', cell });
const oneOf = (name: string, list: readonly [string, ...string[]]): Column =>
  string(name, ({ random }) => list[zipf(random, list.length)] ?? list[0]);
const words = (name: string, count: number, nulls = 0): Column =>
  string(name, ({ random }) => (random() < nulls ? '' : wordOf(zipf(random, count))));
const numbers = (name: string, count: number): Column => long(name, ({ random }) => zipf(random, count));

const TIMINGS = ['dns', 'connect', 'tls', 'send', 'wait', 'receive', 'parse', 'dom', 'paint', 'load', 'idle', 'script'];
const FLAGS = ['Refresh', 'Mobile', 'Robot', 'Download', 'Link', 'NotBounce', 'Known', 'Paid', 'Secure', 'Private', 'Cookie', 'Script'];
const FURTHER_FLAGS = ['Touch', 'Dark', 'Cached'];

export const COLUMNS: readonly Column[] = [
  { name: '__time', type: 'time', cell: ({ row, rows }) => new Date(START + Math.floor((row / rows) * SPAN_MS)).toISOString() },
  string('url', ({ page }) => urlOf(page)),
  string('referrer', ({ random, page, rows }) => (random() < 0.35 ? '' : urlOf(random() < 0.3 ? page >> 1 : zipf(random, rows >> 3)))),
  string('title', ({ page }) => titleOf(page >> 2)),
  string('phrase', ({ random, rows, isSearch }) => (isSearch ? phraseOf(zipf(random, rows >> 3)) : '')),
  string('agent', ({ visitor }) => agentOf(visitor % 97 === 0 ? visitor % 6000 : visitor % 60)),
  string('session', ({ row }) => `${wide(row).toString(16)}-${hash(row * 3 + 1).toString(36)}-${row.toString(36)}`),
  words('country', 200),
  words('city', 12_000, 0.05),
  words('region', 1500),
  oneOf('language', ['en', 'de', 'fr', 'pt', 'ja', 'hi', 'sw', 'tr', 'pl', 'nl']),
  oneOf('os', ['Android', 'Windows', 'iOS', 'macOS', 'Linux', 'ChromeOS']),
  oneOf('browser', ['Chrome', 'Safari', 'Firefox', 'Edge', 'Opera', 'other']),
  string('browserVersion', ({ random }) => `${60 + zipf(random, 70)}.${zipf(random, 30)}`),
  words('deviceModel', 600, 0.8),
  words('deviceMaker', 60, 0.7),
  oneOf('screenClass', ['phone', 'desktop', 'tablet', 'tv']),
  words('campaign', 2500, 0.85),
  words('source', 300, 0.6),
  oneOf('medium', ['organic', 'direct', 'social', 'mail', 'paid']),
  oneOf('pageKind', ['article', 'list', 'home', 'search', 'cart', 'profile', 'help']),
  words('section', 120),
  words('author', 5000, 0.4),
  string('host', ({ page }) => hostOf(page % 3000)),
  words('clickTarget', 900, 0.7),
  oneOf('experiment', ['none', 'blue', 'green', 'short', 'long']),
  oneOf('currency', ['EUR', 'USD', 'JPY', 'GBP']),
  string('orderCode', ({ random }) => String(below(random, 50_000)).padStart(6, '0')),
  words('errorName', 40, 0.97),
  {
    name: 'tags',
    type: 'tags',
    cell: ({ random }) =>
      Array.from({ length: 1 + below(random, 4) }, () => `tag ${zipf(random, 400)}`)
        .sort()
        .join('|'),
  },
  { name: 'properties', type: 'json', cell: propertiesOf },
  long('viewId', ({ row }) => wide(row + 5)),
  long('userId', ({ visitor }) => wide(visitor)),
  long('ip', ({ visitor }) => hash(visitor + 11)),
  numbers('site', 5000),
  numbers('regionId', 3000),
  ...['width', 'height', 'viewWidth', 'viewHeight'].map((name, index) =>
    long(name, ({ random }) => pick(random, [360, 414, 768, 1024, 1280, 1366, 1440, 1600, 1920, 2560]) - index * 20),
  ),
  numbers('age', 90),
  numbers('interests', 4000),
  numbers('engine', 40),
  long('adEngine', ({ random }) => (random() < 0.97 ? 0 : 1 + zipf(random, 18))),
  numbers('socialNet', 12),
  numbers('trafficSource', 9),
  numbers('minorVersion', 30),
  long('sequence', ({ row }) => row % 5000),
  numbers('goals', 25),
  numbers('hits', 500),
  long('bytesSent', ({ random }) => Math.floor(Math.exp(random() * 14))),
  long('bytesReceived', ({ random }) => Math.floor(Math.exp(random() * 10))),
  long('urlHash', ({ page }) => wide(page + 13)),
  long('referrerHash', ({ random, rows }) => wide(zipf(random, rows >> 3) + 17)),
  long('localHour', ({ random }) => below(random, 24)),
  long('clockSkew', ({ random }) => below(random, 4000) - 2000),
  long('cents', ({ random }) => (random() < 0.9 ? 0 : Math.floor(Math.exp(random() * 11)))),
  long('quantity', ({ random }) => (random() < 0.9 ? 0 : 1 + zipf(random, 30))),
  numbers('coupon', 10_000),
  ...TIMINGS.map((name) => long(`${name}Ms`, ({ random }) => (random() < 0.05 ? '' : Math.floor(Math.exp(random() * 9)) - 1))),
  ...[...FLAGS, ...FURTHER_FLAGS].map((name, index) => long(`is${name}`, ({ random }) => (random() < 0.05 + index / 30 ? 1 : 0))),
  double('price', ({ random }) => (below(random, 200_000) / 100).toFixed(2)),
  double('revenue', ({ random }) => (random() < 0.9 ? '' : (below(random, 50_000) / 100).toFixed(2))),
  double('scrolled', ({ random }) => random()),
  double('latitude', ({ random }) => random() * 180 - 90),
  double('longitude', ({ random }) => random() * 360 - 180),
  double('score', ({ random }) => (random() * 10).toFixed(4)),
  ...Array.from({ length: 8 }, (_, index) => numbers(`counter${index}`, 10 ** (1 + (index % 5)))),
];
if (COLUMNS.length !== 100) throw new Error(`${COLUMNS.length} columns`);

function propertiesOf({ random, row }: Draw): string {
  const cart = random() < 0.3 ? `,"cart":{"items":${1 + zipf(random, 20)},"total":${(below(random, 90_000) / 100).toFixed(2)}}` : '';
  const note = row % 10_000 === 17 ? `,"note":{"by":"${wordOf(row)}","words":["${wordOf(row + 1)}","${wordOf(row + 2)}"]}` : '';
  return `{"variant":"${pick(random, ['a', 'b', 'c'])}","depth":${zipf(random, 60)}${cart}${note}}`;
}

const TABLE: TypedTable = { name: 'views', columns: Object.fromEntries(COLUMNS.map(({ name, type }) => [name, type])) };

/** A stretch of the table's rows, which is written and loaded by itself. Pieces are drawn independently. */
export interface Piece {
  readonly file: string;
  /** Rows of the whole table. */
  readonly rows: number;
  readonly seed: number;
  readonly start: number;
  readonly end: number;
}

export const PIECE_ROWS = 1_000_000;

/** The first piece has the rows of a table that is one piece. */
export function piecesOf(rows: number, seed: number, folder: string): Piece[] {
  return Array.from({ length: Math.ceil(rows / PIECE_ROWS) }, (_, index) => ({
    file: path.join(folder, `views-${index}.csv`),
    rows,
    seed: seed + index * 7919,
    start: index * PIECE_ROWS,
    end: Math.min(rows, (index + 1) * PIECE_ROWS),
  }));
}

export function writePiece(piece: Piece): void {
  writeTypedTable(piece.file, TABLE, rowsOf(piece));
}

function* rowsOf({ rows, seed, start, end }: Piece): Generator<TableCell[]> {
  const random = randomSource(seed);
  for (let row = start; row < end; row++) {
    const draw: Draw = { random, row, rows, page: zipf(random, rows >> 1), visitor: zipf(random, rows >> 2), isSearch: random() < 0.15 };
    yield COLUMNS.map(({ cell }) => cell(draw));
  }
}

export function pageViewsIngestion({ file }: Piece): unknown {
  return typedIngestion(TABLE, file);
}

/** The first piece makes the table. */
export function pageViewsOfDuckDb({ file, start }: Piece): string {
  return typedInDuckdb(TABLE, file, start === 0);
}
