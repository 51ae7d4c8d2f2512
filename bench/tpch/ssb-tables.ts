import { type BenchTable, dayText, type Random, randomOf } from './table.js';
import {
  COLORS,
  containerName,
  NATIONS,
  nationName,
  PRIORITIES,
  partType,
  phone,
  regionName,
  retailPrice,
  SEGMENTS,
  SHIP_MODES,
} from './tpch-tables.js';

/**
 * The five tables of the Star Schema Benchmark, named apart from those of TPC-H. One customer and one supplier in eight live in the two cities that
 * queries ask for, and there are never fewer than 300 suppliers: small scales would have no rows for them.
 */
const counts = (scale: number) => ({
  customers: Math.max(500, Math.ceil(30_000 * scale)),
  suppliers: Math.max(300, Math.ceil(2000 * scale)),
  parts: Math.ceil(200_000 * (1 + Math.max(0, Math.floor(Math.log2(scale)))) * Math.min(1, scale)),
  orders: Math.ceil(1_500_000 * scale),
});

/** Days of 1992 to 1998. */
const DAYS = 2557;
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
] as const;
const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const;
const BRITAIN = NATIONS.findIndex(([name]) => name === 'UNITED KINGDOM');
const cityName = (nation: number, city: number): string => `${nationName(nation).slice(0, 9).padEnd(9)}${city}`;
const dateKey = (day: number): number => Number(dayText(day).replaceAll('-', ''));
const seeded = (table: number, key: number): Random => randomOf(table * 2_000_003 + key * 104_729);

function place(random: Random): [nation: number, city: string] {
  if (random.between(1, 8) === 1) return [BRITAIN, cityName(BRITAIN, random.pick([1, 5]))];
  const nation = random.between(0, NATIONS.length - 1);
  return [nation, cityName(nation, random.between(0, 9))];
}

const dates: BenchTable = {
  name: 'dates',
  columns: {
    d_datekey: 'LONG',
    d_date: 'STRING',
    d_dayofweek: 'STRING',
    d_month: 'STRING',
    d_year: 'LONG',
    d_yearmonthnum: 'LONG',
    d_yearmonth: 'STRING',
    d_daynuminweek: 'LONG',
    d_daynuminmonth: 'LONG',
    d_daynuminyear: 'LONG',
    d_monthnuminyear: 'LONG',
    d_weeknuminyear: 'LONG',
  },
  *rows() {
    for (let day = 0; day < DAYS; day++) {
      const [year = 0, month = 0, dayOfMonth = 0] = dayText(day).split('-').map(Number);
      const monthName = MONTHS[month - 1] ?? '';
      const weekday = (day + 3) % 7; // 1992-01-01 was a Wednesday
      const dayOfYear = Math.round((Date.UTC(year, month - 1, dayOfMonth) - Date.UTC(year, 0, 1)) / 86_400_000) + 1;
      yield [
        dateKey(day),
        `${monthName} ${dayOfMonth} ${year}`,
        WEEKDAYS[weekday] ?? '',
        monthName,
        year,
        year * 100 + month,
        `${monthName.slice(0, 3)}${year}`,
        weekday + 1,
        dayOfMonth,
        dayOfYear,
        month,
        Math.floor((dayOfYear - 1) / 7) + 1,
      ];
    }
  },
};

function peopleTable(name: string, prefix: string, ofCustomers: boolean): BenchTable {
  const own = Object.fromEntries(
    ['name', 'address', 'city', 'nation', 'region', 'phone'].map((column) => [`${prefix}_${column}`, 'STRING' as const]),
  );
  return {
    name,
    columns: {
      [`${prefix}_${ofCustomers ? 'custkey' : 'suppkey'}`]: 'LONG',
      ...own,
      ...(ofCustomers ? { c_mktsegment: 'STRING' as const } : {}),
    },
    *rows(scale) {
      const count = counts(scale)[ofCustomers ? 'customers' : 'suppliers'];
      for (let key = 1; key <= count; key++) {
        const random = seeded(ofCustomers ? 1 : 2, key);
        const [nation, city] = place(random);
        const row = [
          key,
          `${name}#${key}`,
          `${random.between(1, 999)} street`,
          city,
          nationName(nation),
          regionName(nation),
          phone(random, nation),
        ];
        yield ofCustomers ? [...row, random.pick(SEGMENTS)] : row;
      }
    },
  };
}

const part: BenchTable = {
  name: 'ssb_part',
  columns: {
    p_partkey: 'LONG',
    p_name: 'STRING',
    p_mfgr: 'STRING',
    p_category: 'STRING',
    p_brand1: 'STRING',
    p_color: 'STRING',
    p_type: 'STRING',
    p_size: 'LONG',
    p_container: 'STRING',
  },
  *rows(scale) {
    for (let key = 1; key <= counts(scale).parts; key++) {
      const random = seeded(3, key);
      const maker = `MFGR#${random.between(1, 5)}`;
      const category = `${maker}${random.between(1, 5)}`;
      const brand = `${category}${random.between(1, 40)}`;
      const color = random.pick(COLORS);
      yield [
        key,
        `${color} ${random.pick(COLORS)}`,
        maker,
        category,
        brand,
        color,
        partType(random),
        random.between(1, 50),
        containerName(random),
      ];
    }
  },
};

const lineorder: BenchTable = {
  name: 'lineorder',
  columns: {
    lo_orderkey: 'LONG',
    lo_linenumber: 'LONG',
    lo_custkey: 'LONG',
    lo_partkey: 'LONG',
    lo_suppkey: 'LONG',
    lo_orderdate: 'LONG',
    lo_orderpriority: 'STRING',
    lo_shippriority: 'STRING',
    lo_quantity: 'LONG',
    lo_extendedprice: 'LONG',
    lo_ordtotalprice: 'LONG',
    lo_discount: 'LONG',
    lo_revenue: 'LONG',
    lo_supplycost: 'LONG',
    lo_tax: 'LONG',
    lo_commitdate: 'LONG',
    lo_shipmode: 'STRING',
  },
  *rows(scale) {
    const { customers, suppliers, parts, orders } = counts(scale);
    for (let key = 1; key <= orders; key++) {
      const random = seeded(4, key);
      const [buyer, day, priority] = [random.between(1, customers), random.between(0, 2405), random.pick(PRIORITIES)];
      const lines = Array.from({ length: random.between(1, 7) }, () => ({
        part: random.between(1, parts),
        supplier: random.between(1, suppliers),
        quantity: random.between(1, 50),
        discount: random.between(0, 10),
        tax: random.between(0, 8),
        committed: day + random.between(30, 90),
        mode: random.pick(SHIP_MODES),
      }));
      const total = lines.reduce((sum, line) => sum + line.quantity * retailPrice(line.part), 0);
      for (const [index, line] of lines.entries()) {
        const price = line.quantity * retailPrice(line.part);
        const revenue = Math.floor((price * (100 - line.discount)) / 100);
        const cost = Math.floor((6 * retailPrice(line.part)) / 10);
        yield [
          ...[key, index + 1, buyer, line.part, line.supplier, dateKey(day), priority, '0', line.quantity, price, total],
          ...[line.discount, revenue, cost, line.tax, dateKey(line.committed), line.mode],
        ];
      }
    }
  },
};

export const SSB_TABLES: readonly BenchTable[] = [
  dates,
  peopleTable('ssb_customer', 'c', true),
  peopleTable('ssb_supplier', 's', false),
  part,
  lineorder,
];
