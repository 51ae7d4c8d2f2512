import type { Caller } from '../../../src/model/access/authorizer.js';
import type { Policy } from '../../../src/model/access/policy.js';
import { permission, userWith } from './secured-house.js';

/** Rows, and policies over them, each with the same as a predicate, so that no filter of the server decides what a copy holds. */

export interface Row {
  readonly t: number;
  readonly tenant: string;
  readonly region: string | null;
  readonly city: string;
  readonly price: number | null;
  readonly amount: number;
  readonly tags: readonly string[];
}

export const START = Date.UTC(2024, 0, 1);
export const HOUR_MS = 3_600_000;

export function randomOf(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 8) % limit;
  };
}

function rowsOf(seed: number): readonly Row[] {
  const random = randomOf(seed);
  return Array.from({ length: 240 }, (_, n): Row => {
    const tenant = ['north', 'south', 'east'][random(3)] ?? '';
    const region = ['r1', 'r2', null][random(3)] ?? null;
    return {
      t: START + n * HOUR_MS * 0.25,
      tenant,
      region,
      // Each city belongs to one tenant: whichever is seen tells of it.
      city: `${tenant}-${random(4)}`,
      price: random(6) === 0 ? null : random(100) / 4,
      amount: random(50),
      tags: [`${tenant}#${random(2)}`, `x${random(3)}`],
    };
  });
}

/** The rows that every policy is over. */
export const ROWS = rowsOf(11);

/** True, false, or unknown for a null. */
type Truth = boolean | null;

export interface Case {
  readonly name: string;
  readonly rowFilter: Policy['rowFilter'];
  /** Columns that are seen; null for all. */
  readonly columns: readonly string[] | null;
  readonly keeps: (row: Row) => Truth;
}

export const equals = (column: string, matchValue: unknown, matchValueType = 'STRING') => ({
  type: 'equals',
  column,
  matchValueType,
  matchValue,
});

/** Policies by the form of their filter, and the same as a predicate over rows. */
const WRITTEN: readonly Omit<Case, 'columns'>[] = [
  { name: 'one tenant', rowFilter: equals('tenant', 'north'), keeps: ({ tenant }) => tenant === 'north' },
  { name: 'selector', rowFilter: { type: 'selector', dimension: 'tenant', value: 'south' }, keeps: ({ tenant }) => tenant === 'south' },
  { name: 'in', rowFilter: { type: 'in', dimension: 'tenant', values: ['north', 'east'] }, keeps: ({ tenant }) => tenant !== 'south' },
  {
    name: 'null',
    rowFilter: { type: 'or', fields: [{ type: 'null', column: 'region' }, equals('region', 'r2')] },
    keeps: ({ region }) => region !== 'r1',
  },
  { name: 'not null', rowFilter: { type: 'not', field: { type: 'null', column: 'region' } }, keeps: ({ region }) => region !== null },
  {
    name: 'range of numbers',
    rowFilter: { type: 'range', column: 'amount', matchValueType: 'LONG', lower: 10, upper: 30, upperOpen: true },
    keeps: ({ amount }) => amount >= 10 && amount < 30,
  },
  {
    name: 'and, or, not',
    rowFilter: {
      type: 'or',
      fields: [
        { type: 'and', fields: [equals('tenant', 'north'), equals('region', 'r1')] },
        { type: 'not', field: { type: 'range', column: 'amount', matchValueType: 'LONG', lower: 5 } },
      ],
    },
    keeps: ({ tenant, region, amount }) => (tenant === 'north' && region === 'r1') || amount < 5,
  },
  {
    name: 'expression',
    rowFilter: { type: 'expression', expression: "amount % 3 == 1 && tenant != 'east'" },
    keeps: ({ amount, tenant }) => amount % 3 === 1 && tenant !== 'east',
  },
  { name: 'like', rowFilter: { type: 'like', dimension: 'city', pattern: 'south-%' }, keeps: ({ city }) => city.startsWith('south-') },
  { name: 'nothing', rowFilter: { type: 'false' }, keeps: () => false },
  {
    name: 'one day',
    rowFilter: { type: 'interval', dimension: '__time', intervals: ['2024-01-02/2024-01-03'] },
    keeps: ({ t }) => t >= START + 24 * HOUR_MS && t < START + 48 * HOUR_MS,
  },
];
export const CASES: readonly Case[] = WRITTEN.map((each) => ({ ...each, columns: null }));

const TENANTS = ['north', 'south', 'east'];
const COLUMNS = ['tenant', 'region', 'city', 'price', 'amount', 'tags'];

type Random = (limit: number) => number;
type Drawn = Pick<Case, 'rowFilter' | 'keeps'>;

/** Comparisons with a null are unknown. */
const known = <Value>(value: Value | null, test: (value: Value) => boolean): Truth => (value === null ? null : test(value));

const LEAVES: readonly ((random: Random) => Drawn)[] = [
  (random) => {
    const tenant = TENANTS[random(3)] ?? '';
    return { rowFilter: equals('tenant', tenant), keeps: (row) => row.tenant === tenant };
  },
  (random) => {
    const region = ['r1', 'r2', 'r3'][random(3)] ?? '';
    return { rowFilter: equals('region', region), keeps: (row) => known(row.region, (value) => value === region) };
  },
  (random) => {
    const region = ['r1', 'r2'][random(2)] ?? '';
    const rowFilter = { type: 'selector', dimension: 'region', value: region };
    return { rowFilter, keeps: (row) => known(row.region, (value) => value === region) };
  },
  (random) => {
    const values = TENANTS.filter(() => random(2) === 0);
    return { rowFilter: { type: 'in', dimension: 'tenant', values }, keeps: ({ tenant }) => values.includes(tenant) };
  },
  (random) => {
    const column = random(2) === 0 ? ('region' as const) : ('price' as const);
    return { rowFilter: { type: 'null', column }, keeps: (row) => row[column] === null };
  },
  (random) => {
    const [lower, upper] = [random(50), random(50)];
    const [lowerOpen, upperOpen] = [random(2) === 0, random(2) === 0];
    const rowFilter = { type: 'range', column: 'amount', matchValueType: 'LONG', lower, upper, lowerOpen, upperOpen };
    const keeps = ({ amount }: Row) => (lowerOpen ? amount > lower : amount >= lower) && (upperOpen ? amount < upper : amount <= upper);
    return { rowFilter, keeps };
  },
  (random) => {
    const lower = random(100) / 4;
    const rowFilter = { type: 'range', column: 'price', matchValueType: 'DOUBLE', lower };
    return { rowFilter, keeps: (row) => known(row.price, (value) => value >= lower) };
  },
  (random) => {
    const digit = random(4);
    return { rowFilter: { type: 'like', dimension: 'city', pattern: `%-${digit}` }, keeps: ({ city }) => city.endsWith(`-${digit}`) };
  },
  (random) => {
    const [divisor, rest] = [2 + random(4), random(2)];
    const rowFilter = { type: 'expression', expression: `amount % ${divisor} == ${rest}` };
    return { rowFilter, keeps: ({ amount }) => amount % divisor === rest };
  },
  (random) => {
    const [from, to] = [random(30), 30 + random(30)].map((hours) => START + hours * HOUR_MS) as [number, number];
    const interval = `${new Date(from).toISOString()}/${new Date(to).toISOString()}`;
    const rowFilter = { type: 'interval', dimension: '__time', intervals: [interval] };
    return { rowFilter, keeps: ({ t }) => t >= from && t < to };
  },
  (random) => {
    const tag = `x${random(4)}`;
    const rowFilter = { type: 'arrayContainsElement', column: 'tags', elementMatchValueType: 'STRING', elementMatchValue: tag };
    return { rowFilter, keeps: ({ tags }) => tags.includes(tag) };
  },
];

/** A filter of leaves under AND, OR and NOT, and what it is by the logic of three values. */
function drawFilter(random: Random, depth: number): Drawn {
  const kind = depth === 0 ? 3 : random(4);
  if (kind === 2) {
    const { rowFilter, keeps } = drawFilter(random, depth - 1);
    const opposite = (row: Row): Truth => {
      const found = keeps(row);
      return found === null ? null : !found;
    };
    return { rowFilter: { type: 'not', field: rowFilter }, keeps: opposite };
  }
  if (kind === 3) return (LEAVES[random(LEAVES.length)] as (typeof LEAVES)[number])(random);
  const parts = Array.from({ length: 2 + random(2) }, () => drawFilter(random, depth - 1));
  // The truth that decides alone: false of AND, true of OR.
  const deciding = kind === 1;
  const keeps = (row: Row): Truth => {
    const truths = parts.map((part) => part.keeps(row));
    if (truths.includes(deciding)) return deciding;
    return truths.includes(null) ? null : !deciding;
  };
  return { rowFilter: { type: deciding ? 'or' : 'and', fields: parts.map(({ rowFilter }) => rowFilter) }, keeps };
}

/** The cases above, then drawn ones, of which one in three hides columns. */
export function casesOf(count: number, seed = 97): readonly Case[] {
  const random = randomOf(seed);
  const drawn = Array.from({ length: Math.max(0, count - CASES.length) }, (_, index): Case => {
    const columns = random(3) === 0 ? COLUMNS.filter(() => random(3) > 0) : null;
    return { name: `drawn ${index}`, columns, ...drawFilter(random, 3) };
  });
  return [...CASES, ...drawn].slice(0, count);
}

/** Rows as a policy leaves them. */
export function leftBy({ keeps, columns }: Pick<Case, 'keeps' | 'columns'>): readonly object[] {
  const kept = ROWS.filter((row) => keeps(row) === true);
  if (columns === null) return kept;
  return kept.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => name === 't' || columns.includes(name))));
}

/** A reader of the datasource `hidden` under a policy, who sees all of `whole` and of copies. */
export function readerOf(policy: Policy): Caller {
  return userWith('reader', [permission('READ', 'DATASOURCE', 'hidden', policy), permission('READ', 'DATASOURCE', 'whole|copy.*')]);
}

export const DAY = '2024-01-01/2024-01-05';
export const COUNT = { type: 'count', name: 'n' };
