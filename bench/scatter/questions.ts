import { writeCsv } from '../data/csv.js';

/*
 * The table `t`: row i lies in one of 16 days and has the texts `k` (i modulo the groups) and the number `v` (i), so that every answer is
 * arithmetic.
 */
export const DAYS = 16;
export const DAY_MS = 86_400_000;
export const START = Date.UTC(2026, 0, 1);

export interface Table {
  readonly rows: number;
  /** Different values of `k`; `rows` is a multiple of them. */
  readonly groups: number;
}

/** A native query, and whether what was answered is right. */
export interface Question {
  readonly name: string;
  readonly query: Readonly<Record<string, unknown>>;
  isRight(answer: unknown): boolean;
}

export function writeTable(file: string, { rows, groups }: Table): void {
  const lines = function* (): Generator<string> {
    for (let row = 0; row < rows; row++) yield `${new Date(START + (row % DAYS) * DAY_MS).toISOString()},k${row % groups},${row}`;
  };
  writeCsv(file, ['__time', 'k', 'v'], lines());
}

const SUM = [{ type: 'longSum', name: 's', fieldName: 'v' }];
const COMMON = { dataSource: 't', intervals: ['2026-01-01/2027-01-01'], granularity: 'all' };

export function questions({ rows, groups }: Table): readonly Question[] {
  const each = rows / groups;
  const sumOf = (group: number): number => each * group + (groups * each * (each - 1)) / 2;
  const numberOf = (text: unknown): number => Number(String(text).slice(1));
  const scanned = Math.min(rows, 100_000);
  return [
    {
      name: 'sum of all',
      query: { ...COMMON, queryType: 'timeseries', aggregations: [...SUM, { type: 'count', name: 'c' }] },
      isRight: (answer) => {
        const [{ result }] = answer as [{ readonly result: { readonly s: number; readonly c: number } }];
        return result.s === (rows * (rows - 1)) / 2 && result.c === rows;
      },
    },
    {
      name: 'top 10',
      query: { ...COMMON, queryType: 'topN', dimension: 'k', metric: 's', threshold: 10, aggregations: SUM },
      isRight: (answer) => {
        const [{ result }] = answer as [{ readonly result: readonly { readonly k: string; readonly s: number }[] }];
        return result.length === 10 && result.every(({ k, s }, at) => k === `k${groups - 1 - at}` && s === sumOf(groups - 1 - at));
      },
    },
    {
      name: `${groups} groups`,
      query: { ...COMMON, queryType: 'groupBy', dimensions: ['k'], aggregations: SUM },
      isRight: (answer) => {
        const found = answer as readonly { readonly event: { readonly k: string; readonly s: number } }[];
        return new Set(found.map(({ event }) => event.k)).size === groups && found.every(({ event: { k, s } }) => s === sumOf(numberOf(k)));
      },
    },
    {
      name: `${scanned} rows`,
      query: {
        ...{ queryType: 'scan', dataSource: 't', intervals: COMMON.intervals, columns: ['k', 'v'], limit: scanned },
        resultFormat: 'compactedList',
      },
      isRight: (answer) => {
        const blocks = answer as readonly { readonly events: readonly (readonly [string, number])[] }[];
        const events = blocks.flatMap(({ events: own }) => own);
        return events.every(([k, v]) => k === `k${v % groups}`) && new Set(events.map(([, v]) => v)).size === scanned;
      },
    },
  ];
}
