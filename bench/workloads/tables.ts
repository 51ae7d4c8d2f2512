import { randomSource } from '../data/random.js';
import type { TableCell, TypedTable } from '../data/typed-table.js';
import { below, pick, type Random, wordOf, zipf } from '../pageviews/words.js';

/*
 * Four tables of facts and two that they are joined with, as four trades have them: events of advertising, readings of devices with gaps,
 * trades of an exchange, and lines of logs. Rows ascend in time over thirty days. The same (rows, seed) gives the same bytes.
 */
export interface WorkTable extends TypedTable {
  /** Facts have as many rows as are asked for; the others have their own number. */
  readonly kind: 'facts' | 'members';
  rows(count: number, seed: number): Iterable<readonly TableCell[]>;
}

const START = Date.UTC(2025, 4, 1);
const SPAN_MS = 30 * 86_400_000;
const CAMPAIGNS = 5000;
const DEVICES = 3000;

const hash = (number: number): number => Math.imul(number ^ 0x5bd1e995, 0x85ebca6b) >>> 0;
const hex = (number: number): string => hash(number).toString(16).padStart(8, '0');
const timeOf = (part: number): string => new Date(START + Math.floor(part * SPAN_MS)).toISOString();
/** About normal, of mean 0 and deviation 1. */
const normal = (random: Random): number => (random() + random() + random() + random() - 2) * Math.sqrt(3);

const ads: WorkTable = {
  name: 'ads',
  kind: 'facts',
  columns: {
    __time: 'time',
    kind: 'string',
    campaignId: 'long',
    person: 'string',
    placement: 'string',
    country: 'string',
    system: 'string',
    bid: 'double',
    costMicros: 'long',
    revenue: 'double',
    isFraud: 'long',
    position: 'long',
    keywords: 'tags',
  },
  *rows(count, seed) {
    const random = randomSource(seed);
    for (let row = 0; row < count; row++) {
      const luck = random();
      const kind = luck < 0.85 ? 'impression' : luck < 0.97 ? 'click' : luck < 0.993 ? 'install' : 'purchase';
      const person = zipf(random, count >> 2);
      const keywords = Array.from({ length: 1 + below(random, 3) }, () => wordOf(zipf(random, 900)));
      yield [
        timeOf(row / count),
        kind,
        zipf(random, CAMPAIGNS),
        `${hex(person)}-${hex(person + 77)}`,
        `${wordOf(zipf(random, 2000))}/${pick(random, ['top', 'side', 'foot'])}`,
        wordOf(zipf(random, 120)),
        pick(random, ['Android', 'iOS', 'Windows', 'macOS']),
        (random() * 5).toFixed(4),
        kind === 'click' ? below(random, 2_000_000) : kind === 'impression' ? below(random, 3000) : 0,
        kind === 'purchase' ? (random() * 90).toFixed(2) : '',
        random() < 0.02 ? 1 : 0,
        below(random, 12),
        [...new Set(keywords)].sort().join('|'),
      ];
    }
  },
};

const campaigns: WorkTable = {
  name: 'campaigns',
  kind: 'members',
  columns: { __time: 'time', id: 'long', advertiser: 'string', vertical: 'string', budget: 'double', startDay: 'long' },
  *rows(_, seed) {
    const random = randomSource(seed);
    for (let id = 0; id < CAMPAIGNS; id++)
      yield [
        timeOf(0),
        id,
        `${wordOf(zipf(random, 300))} & Co`,
        wordOf(below(random, 14)),
        (random() * 100_000).toFixed(2),
        below(random, 30),
      ];
  },
};

const readings: WorkTable = {
  name: 'readings',
  kind: 'facts',
  columns: {
    __time: 'time',
    device: 'string',
    sequence: 'long',
    temperature: 'double',
    humidity: 'double',
    battery: 'long',
    signal: 'long',
    status: 'string',
    firmware: 'string',
  },
  *rows(count, seed) {
    const random = randomSource(seed);
    const warmth = Float64Array.from({ length: DEVICES }, () => 20 + normal(random) * 5);
    const sent = new Int32Array(DEVICES);
    for (let row = 0; row < count; row++) {
      const device = below(random, DEVICES);
      const day = Math.floor((row / count) * 30);
      // A tenth of the devices is silent on every day, another one each day.
      const from = (device + day) % 10 === 0 ? (device + 1) % DEVICES : device;
      warmth[from] = (warmth[from] ?? 0) + normal(random) * 0.3;
      sent[from] = (sent[from] ?? 0) + 1;
      yield [
        timeOf(row / count),
        `device-${String(from).padStart(4, '0')}`,
        sent[from] ?? 0,
        random() < 0.07 ? '' : (warmth[from] ?? 0).toFixed(2),
        random() < 0.3 ? '' : (40 + normal(random) * 15).toFixed(1),
        100 - (Math.floor((row / count) * 90 + from) % 100),
        -30 - below(random, 70),
        random() < 0.95 ? 'ok' : pick(random, ['warm', 'cold', 'fault', 'lost']),
        `${1 + (from % 4)}.${Math.floor((row / count) * 6)}.${from % 9}`,
      ];
    }
  },
};

const devices: WorkTable = {
  name: 'devices',
  kind: 'members',
  columns: { __time: 'time', device: 'string', model: 'string', owner: 'string', room: 'string' },
  *rows(_, seed) {
    const random = randomSource(seed);
    // Some devices are unknown here, and some that are known send nothing.
    for (let id = 0; id < DEVICES + 100; id++)
      if (id % 41 !== 7)
        yield [
          timeOf(0),
          `device-${String(id).padStart(4, '0')}`,
          `M${below(random, 12)}`,
          `${wordOf(zipf(random, 200))} ${wordOf(below(random, 90))}`,
          below(random, 3) > 0 ? wordOf(below(random, 40)) : '',
        ];
  },
};

const trades: WorkTable = {
  name: 'trades',
  kind: 'facts',
  columns: {
    __time: 'time',
    symbol: 'string',
    price: 'double',
    size: 'long',
    venue: 'string',
    side: 'string',
    tradeId: 'long',
    account: 'long',
    fee: 'double',
    notional: 'double',
  },
  *rows(count, seed) {
    const random = randomSource(seed);
    const prices = Float64Array.from({ length: 800 }, () => Math.exp(random() * 9));
    for (let row = 0; row < count; row++) {
      const symbol = zipf(random, 800);
      const price = (prices[symbol] ?? 1) * Math.exp(normal(random) * 0.001);
      prices[symbol] = price;
      const size = 1 + zipf(random, 5000);
      yield [
        timeOf(row / count),
        wordOf(symbol).slice(0, 6).toUpperCase() + String(symbol % 10),
        price,
        size,
        pick(random, ['XNYS', 'XNAS', 'XLON', 'XETR', 'XTKS', 'DARK']),
        random() < 0.5 ? 'B' : 'S',
        10_000_000_000 + row * 3 + below(random, 3),
        hash(zipf(random, 60_000)),
        random() < 0.1 ? '' : price * size * 0.0001,
        price * size * 1_000_000,
      ];
    }
  },
};

const LEVELS = ['INFO', 'DEBUG', 'WARN', 'ERROR', 'FATAL'] as const;

const logs: WorkTable = {
  name: 'logs',
  kind: 'facts',
  columns: {
    __time: 'time',
    level: 'string',
    service: 'string',
    host: 'string',
    message: 'string',
    trace: 'string',
    status: 'long',
    tookMs: 'long',
    labels: 'tags',
    detail: 'json',
  },
  *rows(count, seed) {
    const random = randomSource(seed);
    for (let row = 0; row < count; row++) {
      const service = zipf(random, 60);
      const tookMs = Math.floor(Math.exp(random() * 9));
      const status = random() < 0.2 ? '' : pick(random, [200, 200, 200, 204, 301, 404, 500, 503]);
      const who = zipf(random, 20_000);
      const message = pick(random, [
        `GET /api/${wordOf(zipf(random, 400))}/${who} took ${tookMs} ms`,
        `user ${wordOf(who)} logged in from 10.${below(random, 256)}.${below(random, 256)}.${below(random, 256)}`,
        `connection to ${wordOf(zipf(random, 90))}.internal:${5000 + below(random, 40)} refused, attempt ${1 + below(random, 5)}`,
        `job ${hex(row)} finished: ${below(random, 5000)} rows in ${tookMs} ms`,
        'cache flushed',
      ]);
      const user = random() < 0.4 ? `,"user":{"id":${who},"plan":"${pick(random, ['free', 'team', 'firm'])}"}` : '';
      yield [
        timeOf(row / count),
        LEVELS[zipf(random, LEVELS.length)] ?? 'INFO',
        `svc-${wordOf(service)}`,
        `host-${zipf(random, 700)}`,
        message,
        `${hex(row >> 2)}${hex((row >> 2) + 5)}`,
        status,
        tookMs,
        Array.from({ length: 1 + below(random, 4) }, (_, at) => `${pick(random, ['zone', 'team', 'tier'])}-${at}-${zipf(random, 30)}`).join(
          '|',
        ),
        `{"bytes":${below(random, 90_000)},"region":"${wordOf(zipf(random, 20))}","retry":${random() < 0.1 ? 'true' : 'false'}${user}}`,
      ];
    }
  },
};

export const TABLES: readonly WorkTable[] = [ads, campaigns, readings, devices, trades, logs];
