import { type BenchTable, dayText, type Random, randomOf } from './table.js';

/**
 * The eight tables of TPC-H: columns, domains, and the relations between them as the specification has them; the texts of names
 * and comments are ours, and those that queries look for are more frequent, so that queries have rows at small scales.
 */

const REGIONS = ['AFRICA', 'AMERICA', 'ASIA', 'EUROPE', 'MIDDLE EAST'] as const;

/** Name and number of the region; a nation's number is its place. */
export const NATIONS = [
  ['ALGERIA', 0],
  ['ARGENTINA', 1],
  ['BRAZIL', 1],
  ['CANADA', 1],
  ['EGYPT', 4],
  ['ETHIOPIA', 0],
  ['FRANCE', 3],
  ['GERMANY', 3],
  ['INDIA', 2],
  ['INDONESIA', 2],
  ['IRAN', 4],
  ['IRAQ', 4],
  ['JAPAN', 2],
  ['JORDAN', 4],
  ['KENYA', 0],
  ['MOROCCO', 0],
  ['MOZAMBIQUE', 0],
  ['PERU', 1],
  ['CHINA', 2],
  ['ROMANIA', 3],
  ['SAUDI ARABIA', 4],
  ['VIETNAM', 2],
  ['RUSSIA', 3],
  ['UNITED KINGDOM', 3],
  ['UNITED STATES', 1],
] as const;

export const regionName = (nation: number): string => REGIONS[NATIONS[nation]?.[1] ?? 0] ?? '';
export const nationName = (nation: number): string => NATIONS[nation]?.[0] ?? '';

export const SEGMENTS = ['AUTOMOBILE', 'BUILDING', 'FURNITURE', 'HOUSEHOLD', 'MACHINERY'] as const;
export const PRIORITIES = ['1-URGENT', '2-HIGH', '3-MEDIUM', '4-NOT SPECIFIED', '5-LOW'] as const;
export const SHIP_MODES = ['REG AIR', 'AIR', 'RAIL', 'SHIP', 'TRUCK', 'MAIL', 'FOB'] as const;
export const COLORS = ['almond', 'blue', 'coral', 'dim', 'forest', 'green', 'honeydew', 'ivory', 'lime', 'navy', 'olive', 'plum'] as const;
const TYPE_SIZES = ['STANDARD', 'SMALL', 'MEDIUM', 'LARGE', 'ECONOMY', 'PROMO'] as const;
const TYPE_FINISHES = ['ANODIZED', 'BURNISHED', 'PLATED', 'POLISHED', 'BRUSHED'] as const;
const TYPE_METALS = ['TIN', 'NICKEL', 'BRASS', 'STEEL', 'COPPER'] as const;
const CONTAINER_SIZES = ['SM', 'LG', 'MED', 'JUMBO', 'WRAP'] as const;
const CONTAINER_SHAPES = ['CASE', 'BOX', 'BAG', 'JAR', 'PKG', 'PACK', 'CAN', 'DRUM'] as const;
const INSTRUCTIONS = ['DELIVER IN PERSON', 'COLLECT COD', 'NONE', 'TAKE BACK RETURN'] as const;
const WORDS = ['carefully', 'final', 'deposits', 'sleep', 'quickly', 'ironic', 'accounts', 'above', 'the', 'silent', 'packages'] as const;

export const partType = (random: Random): string => `${random.pick(TYPE_SIZES)} ${random.pick(TYPE_FINISHES)} ${random.pick(TYPE_METALS)}`;
export const containerName = (random: Random): string => `${random.pick(CONTAINER_SIZES)} ${random.pick(CONTAINER_SHAPES)}`;

const counts = (scale: number) => ({
  suppliers: Math.ceil(10_000 * scale),
  customers: Math.ceil(150_000 * scale),
  parts: Math.ceil(200_000 * scale),
  orders: Math.ceil(1_500_000 * scale),
});
const comment = (random: Random): string => Array.from({ length: random.between(3, 7) }, () => random.pick(WORDS)).join(' ');
const address = (random: Random): string => `${random.between(1, 999)} ${random.pick(WORDS)} street`;
/** The country's code is ten more than the nation's number. */
export const phone = (random: Random, nation: number): string =>
  `${nation + 10}-${random.between(100, 999)}-${random.between(100, 999)}-${random.between(1000, 9999)}`;
const padded = (prefix: string, key: number): string => `${prefix}#${String(key).padStart(9, '0')}`;
const cents = (amount: number): number => amount / 100;

/** In cents; from 900.00 to 2098.99. */
export const retailPrice = (part: number): number => 90_000 + (Math.floor(part / 10) % 20_001) + 100 * (part % 1000);
/** One of the four suppliers of a part. */
function supplierOf(part: number, which: number, suppliers: number): number {
  return ((part + which * (Math.floor(suppliers / 4) + Math.floor((part - 1) / suppliers))) % suppliers) + 1;
}

function* keys(count: number, seed: number): Generator<[number, Random]> {
  for (let key = 1; key <= count; key++) yield [key, randomOf(seed * 1_000_003 + key * 7919)];
}

const region: BenchTable = {
  name: 'region',
  columns: { r_regionkey: 'LONG', r_name: 'STRING', r_comment: 'STRING' },
  rows: () => REGIONS.map((name, key) => [key, name, `comment of region ${key}`]),
};

const nation: BenchTable = {
  name: 'nation',
  columns: { n_nationkey: 'LONG', n_name: 'STRING', n_regionkey: 'LONG', n_comment: 'STRING' },
  rows: () => NATIONS.map(([name, regionKey], key) => [key, name, regionKey, `comment of nation ${key}`]),
};

const supplier: BenchTable = {
  name: 'supplier',
  columns: {
    s_suppkey: 'LONG',
    s_name: 'STRING',
    s_address: 'STRING',
    s_nationkey: 'LONG',
    s_phone: 'STRING',
    s_acctbal: 'DOUBLE',
    s_comment: 'STRING',
  },
  *rows(scale) {
    for (const [key, random] of keys(counts(scale).suppliers, 1)) {
      const nationKey = key % NATIONS.length;
      const text = random.between(1, 40) === 1 ? `${comment(random)} Customer slow Complaints` : comment(random);
      const balance = cents(random.between(-99_999, 999_999));
      yield [key, padded('Supplier', key), address(random), nationKey, phone(random, nationKey), balance, text];
    }
  },
};

const customer: BenchTable = {
  name: 'customer',
  columns: {
    c_custkey: 'LONG',
    c_name: 'STRING',
    c_address: 'STRING',
    c_nationkey: 'LONG',
    c_phone: 'STRING',
    c_acctbal: 'DOUBLE',
    c_mktsegment: 'STRING',
    c_comment: 'STRING',
  },
  *rows(scale) {
    for (const [key, random] of keys(counts(scale).customers, 2)) {
      const nationKey = random.between(0, NATIONS.length - 1);
      const balance = cents(random.between(-99_999, 999_999));
      const segment = random.pick(SEGMENTS);
      yield [key, padded('Customer', key), address(random), nationKey, phone(random, nationKey), balance, segment, comment(random)];
    }
  },
};

const part: BenchTable = {
  name: 'part',
  columns: {
    p_partkey: 'LONG',
    p_name: 'STRING',
    p_mfgr: 'STRING',
    p_brand: 'STRING',
    p_type: 'STRING',
    p_size: 'LONG',
    p_container: 'STRING',
    p_retailprice: 'DOUBLE',
    p_comment: 'STRING',
  },
  *rows(scale) {
    for (const [key, random] of keys(counts(scale).parts, 3)) {
      const name = Array.from({ length: 5 }, () => random.pick(COLORS)).join(' ');
      const maker = random.between(1, 5);
      const brand = `Brand#${maker}${random.between(1, 5)}`;
      const size = random.between(1, 50);
      const price = cents(retailPrice(key));
      yield [key, name, `Manufacturer#${maker}`, brand, partType(random), size, containerName(random), price, comment(random)];
    }
  },
};

const partsupp: BenchTable = {
  name: 'partsupp',
  columns: { ps_partkey: 'LONG', ps_suppkey: 'LONG', ps_availqty: 'LONG', ps_supplycost: 'DOUBLE', ps_comment: 'STRING' },
  *rows(scale) {
    const { parts, suppliers } = counts(scale);
    for (const [key, random] of keys(parts, 4))
      for (let which = 0; which < 4; which++)
        yield [key, supplierOf(key, which, suppliers), random.between(1, 9999), cents(random.between(100, 100_000)), comment(random)];
  },
};

/** Day of the last order, of the present, counted from 1992-01-01. */
const [LAST_ORDER, TODAY] = [2405, 1263];

interface Order {
  readonly row: readonly (string | number)[];
  readonly lines: readonly (readonly (string | number)[])[];
}

/** Orders with their lines, since the price and the status of an order follow from these. */
function* orders(scale: number): Generator<Order> {
  const { customers, parts, suppliers, orders: count } = counts(scale);
  const clerks = Math.max(1, Math.ceil(1000 * scale));
  for (const [number, random] of keys(count, 5)) {
    // TPC-H uses the first 8 of every 32 keys.
    const key = Math.floor((number - 1) / 8) * 32 + ((number - 1) % 8) + 1;
    const day = random.between(0, LAST_ORDER);
    // A third of the customers never orders.
    const buyer = random.between(0, Math.floor((customers - 1) / 3) - 1) * 3 + random.between(1, 2);
    let total = 0;
    let open = 0;
    const lines = Array.from({ length: random.between(1, 7) }, (_, line) => {
      const partKey = random.between(1, parts);
      const [quantity, discount, tax] = [random.between(1, 50), random.between(0, 10), random.between(0, 8)];
      const price = quantity * retailPrice(partKey);
      const shipped = day + random.between(1, 121);
      const received = shipped + random.between(1, 30);
      total += Math.round((price * (100 + tax) * (100 - discount)) / 10_000);
      if (shipped > TODAY) open++;
      return [
        key,
        partKey,
        supplierOf(partKey, random.between(0, 3), suppliers),
        line + 1,
        quantity,
        cents(price),
        cents(discount),
        cents(tax),
        received > TODAY ? 'N' : random.pick(['R', 'A']),
        shipped > TODAY ? 'O' : 'F',
        dayText(shipped),
        dayText(day + random.between(30, 90)),
        dayText(received),
        random.pick(INSTRUCTIONS),
        random.pick(SHIP_MODES),
        comment(random),
      ];
    });
    const status = open === 0 ? 'F' : open === lines.length ? 'O' : 'P';
    const priority = random.pick(PRIORITIES);
    const clerk = padded('Clerk', random.between(1, clerks));
    const text = random.between(1, 60) === 1 ? `${comment(random)} special pending requests` : comment(random);
    yield { row: [key, buyer, status, cents(total), dayText(day), priority, clerk, 0, text], lines };
  }
}

const ordersTable: BenchTable = {
  name: 'orders',
  columns: {
    o_orderkey: 'LONG',
    o_custkey: 'LONG',
    o_orderstatus: 'STRING',
    o_totalprice: 'DOUBLE',
    o_orderdate: 'DATE',
    o_orderpriority: 'STRING',
    o_clerk: 'STRING',
    o_shippriority: 'LONG',
    o_comment: 'STRING',
  },
  *rows(scale) {
    for (const order of orders(scale)) yield order.row;
  },
};

const lineitem: BenchTable = {
  name: 'lineitem',
  columns: {
    l_orderkey: 'LONG',
    l_partkey: 'LONG',
    l_suppkey: 'LONG',
    l_linenumber: 'LONG',
    l_quantity: 'DOUBLE',
    l_extendedprice: 'DOUBLE',
    l_discount: 'DOUBLE',
    l_tax: 'DOUBLE',
    l_returnflag: 'STRING',
    l_linestatus: 'STRING',
    l_shipdate: 'DATE',
    l_commitdate: 'DATE',
    l_receiptdate: 'DATE',
    l_shipinstruct: 'STRING',
    l_shipmode: 'STRING',
    l_comment: 'STRING',
  },
  *rows(scale) {
    for (const order of orders(scale)) yield* order.lines;
  },
};

export const TPCH_TABLES: readonly BenchTable[] = [region, nation, supplier, customer, part, partsupp, ordersTable, lineitem];
