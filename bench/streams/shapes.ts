// Rows of several shapes, each as messages of Kafka and as lines of a file.

interface Column {
  readonly type: string;
  readonly name: string;
}

export interface Shape {
  readonly line: (n: number) => string;
  readonly dimensions: readonly (string | Column)[];
  readonly metrics?: readonly (Column & { readonly fieldName?: string })[];
  readonly granularity?: object;
  readonly inputFormat: object;
  /** Keys and headers of messages; absent: they have none. */
  readonly beside?: {
    readonly inputFormat: object;
    readonly dimensions: readonly string[];
    readonly of: (n: number) => { readonly key: string; readonly headers: readonly (readonly [string, string])[] };
  };
  /** Share of the rows asked for that are as many bytes, roughly. */
  readonly share: number;
}

const FIRST_MS = 1_700_000_000_000;
const NUMBERS = ['n', 'added'].map((name) => ({ type: 'long', name }));
const json = { type: 'json' };
const city = (n: number): string => `city ${(n * 31) % 900}`;
const user = (n: number): string => `user ${(n * 7919) % 20_000}`;
const added = (n: number): number => (n * 37) % 4000;

export const narrowLine = (n: number): string =>
  JSON.stringify({ t: FIRST_MS + n, n, channel: `#${n % 40}`, city: city(n), user: user(n), added: added(n) });

const COLUMNS = Array.from({ length: 25 }, (_, column) => column);

export const SHAPES: ReadonlyMap<string, Shape> = new Map<string, Shape>([
  ['narrow', { line: narrowLine, dimensions: ['channel', 'city', 'user', ...NUMBERS], inputFormat: json, share: 1 }],
  [
    'wide',
    {
      line: (n) =>
        JSON.stringify({
          t: FIRST_MS + n,
          n,
          ...Object.fromEntries(COLUMNS.map((column) => [`s${column}`, `v${(n * (column + 3)) % (10 * (column + 1) ** 2)}`])),
          ...Object.fromEntries(COLUMNS.map((column) => [`m${column}`, (n * (column + 7)) % 5000])),
        }),
      dimensions: [
        ...COLUMNS.map((column) => `s${column}`),
        ...COLUMNS.map((column) => ({ type: 'long', name: `m${column}` })),
        { type: 'long', name: 'n' },
      ],
      inputFormat: json,
      share: 0.2,
    },
  ],
  [
    'long strings',
    {
      line: (n) =>
        JSON.stringify({
          t: FIRST_MS + n,
          n,
          url: `https://example.org/${(n * 7919) % 100_003}/${'abcdefghij'.repeat(20)}`,
          agent: `Mozilla/5.0 (${n % 300}) ${'x'.repeat(80)}`,
          message: `message ${n} ${'lorem ipsum '.repeat(10)}`,
        }),
      dimensions: ['url', 'agent', 'message', { type: 'long', name: 'n' }],
      inputFormat: json,
      share: 0.4,
    },
  ],
  [
    'nested',
    {
      line: (n) =>
        JSON.stringify({ t: FIRST_MS + n, n, user: { name: user(n), place: { city: city(n) } }, tags: [`#${n % 40}`], added: added(n) }),
      dimensions: ['name', 'city', 'tag', ...NUMBERS],
      inputFormat: {
        type: 'json',
        flattenSpec: {
          useFieldDiscovery: true,
          fields: [
            { type: 'path', name: 'name', expr: '$.user.name' },
            { type: 'path', name: 'city', expr: '$.user.place.city' },
            { type: 'path', name: 'tag', expr: '$.tags[0]' },
          ],
        },
      },
      share: 0.5,
    },
  ],
  [
    'rollup',
    {
      line: narrowLine,
      dimensions: ['channel', 'city'],
      metrics: [
        { type: 'longSum', name: 'added', fieldName: 'added' },
        { type: 'longMax', name: 'n', fieldName: 'n' },
        { type: 'count', name: 'count' },
      ],
      granularity: { rollup: true, queryGranularity: 'minute' },
      inputFormat: json,
      share: 1,
    },
  ],
  [
    'csv',
    {
      line: (n) => `${FIRST_MS + n},${n},#${n % 40},${city(n)},${user(n)},${added(n)}`,
      dimensions: ['channel', 'city', 'user', ...NUMBERS],
      inputFormat: { type: 'csv', columns: ['t', 'n', 'channel', 'city', 'user', 'added'] },
      share: 1,
    },
  ],
  [
    'kafka',
    {
      line: narrowLine,
      dimensions: ['channel', 'city', 'user', ...NUMBERS],
      inputFormat: json,
      beside: {
        inputFormat: {
          type: 'kafka',
          valueFormat: json,
          keyFormat: { type: 'csv', columns: ['key'] },
          headerFormat: { type: 'string' },
        },
        dimensions: ['kafka.key', 'kafka.header.kind', 'kafka.header.host'],
        of: (n) => ({
          key: `key ${n % 50}`,
          headers: [
            ['kind', n % 2 === 0 ? 'a' : 'b'],
            ['host', `host ${n % 10}`],
          ],
        }),
      },
      share: 0.5,
    },
  ],
]);
