import { setTimeout as sleep } from 'node:timers/promises';

/*
 * Rows of which every answer is known by arithmetic, and questions about them: row i is at second 432 * i, `n` is i, `k` is `k` and i mod 7.
 * Every question says itself what is right, and whatever else comes is an error that can be tried again, another error, or wrong.
 */

export const TABLE = 'known';
export const DAYS = 24;
const ROWS_PER_DAY = 200;
const STEP_MS = 86_400_000 / ROWS_PER_DAY;
export const ROWS = DAYS * ROWS_PER_DAY;
const START_MS = Date.UTC(2024, 0, 1);
const INTERVAL = '2024-01-01/2024-02-01';
const KEYS = 7;

export const LOOKUP = Object.fromEntries(Array.from({ length: KEYS }, (_, key) => [`k${key}`, key % 2 === 0 ? 'even' : 'odd']));

interface Row {
  readonly day: number;
  readonly n: number;
  readonly k: string;
}

const rows: readonly Row[] = Array.from({ length: ROWS }, (_, n) => ({ day: Math.floor(n / ROWS_PER_DAY), n, k: `k${n % KEYS}` }));
const timeOf = (day: number): string => new Date(START_MS + day * 86_400_000).toISOString();

/** A task that loads all rows, a segment for each day. */
export const loadOf = (dataSource = TABLE): unknown => ({
  type: 'index_parallel',
  spec: {
    ioConfig: {
      type: 'index_parallel',
      inputSource: {
        type: 'inline',
        data: rows.map(({ n, k }) => `${new Date(START_MS + n * STEP_MS).toISOString()},${n},${k}`).join('\n'),
      },
      inputFormat: { type: 'csv', columns: ['time', 'n', 'k'] },
    },
    dataSchema: {
      dataSource,
      timestampSpec: { column: 'time', format: 'iso' },
      dimensionsSpec: { dimensions: [{ type: 'long', name: 'n' }, 'k'] },
      granularitySpec: { type: 'uniform', segmentGranularity: 'day', queryGranularity: 'none', rollup: false },
    },
    tuningConfig: { type: 'index_parallel' },
  },
});

const sum = (some: readonly Row[]): number => some.reduce((total, { n }) => total + n, 0);
function grouped<Key>(keyOf: (row: Row) => Key): readonly (readonly [Key, readonly Row[]])[] {
  const groups = new Map<Key, Row[]>();
  for (const row of rows) {
    const key = keyOf(row);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return [...groups];
}

/** A question and its only right answer. */
export interface Question {
  readonly name: string;
  readonly path: string;
  readonly body: object;
  /** The answer in the form in which it is compared with the right one. */
  read(answer: unknown): unknown;
  readonly right: unknown;
}

const AGGREGATIONS = [
  { type: 'count', name: 'rows' },
  { type: 'longSum', name: 'sum', fieldName: 'n' },
];
const UNCACHED = { useCache: false, populateCache: false, useResultLevelCache: false, populateResultLevelCache: false };

type Result = { readonly result: { readonly rows: number; readonly sum: number } };

function native(name: string, query: object, right: unknown, read: (answer: never) => unknown): Question {
  const { context = {}, ...rest } = query as { readonly context?: object };
  const body = { dataSource: TABLE, intervals: [INTERVAL], ...rest, context: { ...UNCACHED, ...context } };
  return { name, path: '/svc/v2', body, right, read: read as Question['read'] };
}

function sql(name: string, query: string, right: unknown, context: object = {}): Question {
  const body = { query, resultFormat: 'array', context: { ...UNCACHED, ...context } };
  return { name, path: '/svc/v2/sql', body, right, read: (answer) => answer };
}

const byDay = grouped(({ day }) => day);
const byKey = grouped(({ k }) => k);
const EACH_DAY = byDay.map(([day, group]) => ({ timestamp: timeOf(day), result: { rows: group.length, sum: sum(group) } }));
const timeseries = { queryType: 'timeseries', granularity: 'day', aggregations: AGGREGATIONS };

export const QUESTIONS: readonly Question[] = [
  native('timeseries', timeseries, EACH_DAY, (answer) => answer),
  native(
    'timeseries by segment',
    { ...timeseries, granularity: 'all', context: { bySegment: true } },
    byDay.map(([, group]) => [group.length, sum(group)]).sort(compared),
    (answer: readonly { readonly result: { readonly results: readonly Result[] } }[]) =>
      answer.map(({ result: { results } }) => [results[0]?.result.rows, results[0]?.result.sum]).sort(compared),
  ),
  native(
    'groupBy',
    { queryType: 'groupBy', granularity: 'all', dimensions: ['k'], aggregations: AGGREGATIONS },
    byKey.map(([k, group]) => ({ k, rows: group.length, sum: sum(group) })),
    (answer: readonly { readonly event: unknown }[]) => answer.map(({ event }) => event),
  ),
  native(
    'topN',
    { queryType: 'topN', granularity: 'all', dimension: 'k', metric: 'sum', threshold: 3, aggregations: AGGREGATIONS },
    byKey
      .map(([k, group]) => ({ k, rows: group.length, sum: sum(group) }))
      .sort((a, b) => b.sum - a.sum)
      .slice(0, 3),
    (answer: readonly { readonly result: unknown }[]) => answer[0]?.result,
  ),
  native(
    'scan',
    { queryType: 'scan', columns: ['n'], resultFormat: 'compactedList' },
    rows.map(({ n }) => n),
    (answer: readonly { readonly events: readonly (readonly [number])[] }[]) =>
      answer.flatMap(({ events }) => events.map(([n]) => n)).sort((a, b) => a - b),
  ),
  native(
    'ordered scan',
    { queryType: 'scan', columns: ['__time', 'n'], order: 'descending', limit: 500, resultFormat: 'compactedList' },
    rows
      .slice(-500)
      .map(({ n }) => n)
      .reverse(),
    (answer: readonly { readonly events: readonly (readonly [number, number])[] }[]) =>
      answer.flatMap(({ events }) => events.map(([, n]) => n)),
  ),
  native(
    'search',
    { queryType: 'search', granularity: 'all', searchDimensions: ['k'], query: { type: 'contains', value: 'k' } },
    byKey.map(([k, group]) => [k, group.length]),
    (answer: readonly { readonly result: readonly { readonly value: string; readonly count: number }[] }[]) =>
      answer[0]?.result.map(({ value, count }) => [value, count]),
  ),
  native(
    'timeBoundary',
    { queryType: 'timeBoundary' },
    [timeOf(0), new Date(START_MS + (ROWS - 1) * STEP_MS).toISOString()],
    (answer: readonly { readonly result: { readonly minTime: string; readonly maxTime: string } }[]) => [
      answer[0]?.result.minTime,
      answer[0]?.result.maxTime,
    ],
  ),
  native(
    'segmentMetadata',
    { queryType: 'segmentMetadata', merge: true, analysisTypes: [] },
    ROWS,
    (answer: readonly { readonly numRows: number }[]) => answer.reduce((total, { numRows }) => total + numRows, 0),
  ),
  sql(
    'SQL join with a lookup',
    `SELECT l.v, COUNT(*), SUM(n) FROM ${TABLE} JOIN lookup.parity l ON ${TABLE}.k = l.k GROUP BY 1 ORDER BY 1`,
    grouped(({ k }) => LOOKUP[k] ?? '')
      .map(([v, group]) => [v, group.length, sum(group)] as const)
      .sort(compared),
  ),
  sql(
    'SQL join with a subquery',
    `SELECT COUNT(*), SUM(a.n) FROM ${TABLE} a JOIN (SELECT k, MAX(n) AS m FROM ${TABLE} GROUP BY k) b ON a.n = b.m`,
    [[KEYS, sum(rows.slice(-KEYS))]],
  ),
  sql('SQL distinct', `SELECT COUNT(DISTINCT n), MIN(n), MAX(n) FROM ${TABLE}`, [[ROWS, 0, ROWS - 1]], {
    useApproximateCountDistinct: false,
  }),
  sql(
    'SQL rows',
    `SELECT n FROM ${TABLE} WHERE k = 'k3' ORDER BY __time`,
    rows.filter(({ k }) => k === 'k3').map(({ n }) => [n]),
  ),
  sql(
    'SQL by day',
    `SELECT TIME_FLOOR(__time, 'P1D'), SUM(n) FROM ${TABLE} GROUP BY 1 ORDER BY 1`,
    byDay.map(([day, group]) => [timeOf(day), sum(group)]),
  ),
  sql('SQL union', `SELECT SUM(n) FROM (SELECT n FROM ${TABLE} UNION ALL SELECT n FROM ${TABLE})`, [[2 * sum(rows)]]),
  native('allows uncovered intervals', { ...timeseries, context: { uncoveredIntervalsLimit: 10 } }, EACH_DAY, (answer) => answer),
];

function compared(a: readonly unknown[], b: readonly unknown[]): number {
  const [first, second] = [JSON.stringify(a), JSON.stringify(b)];
  return first < second ? -1 : first > second ? 1 : 0;
}

/** Kinds of answers: what an error says decides whether asking again may help. */
export type Kind = 'right' | 'retryable' | 'error' | 'wrong' | 'partial';

export interface Answered {
  readonly name: string;
  readonly kind: Kind;
  readonly startMs: number;
  readonly endMs: number;
  /** Why it is not right. */
  readonly detail: string;
}

/** Asks one question. An answer of other rows that says so is an error; one that does not is `partial`, or `wrong` when it has what is not there. */
export async function ask(url: string, { name, path, body, right, read }: Question): Promise<Answered> {
  const startMs = performance.now();
  const told = (kind: Kind, detail = ''): Answered => ({ name, kind, detail, startMs, endMs: performance.now() });
  let status: number;
  let text: string;
  try {
    const answer = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(240_000),
    });
    status = answer.status;
    text = await answer.text();
  } catch (error) {
    const isLate = (error as Error).name === 'TimeoutError';
    return told(isLate ? 'error' : 'retryable', `${(error as Error).message} ${String((error as Error).cause ?? '')}`);
  }
  if ([502, 503, 504].includes(status)) return told('retryable', `${status} ${text.slice(0, 300)}`);
  if (status !== 200) return told('error', `${status} ${text.slice(0, 500)}`);
  return judge(text, { right, read }, told);
}

function judge(text: string, { right, read }: Pick<Question, 'right' | 'read'>, told: (kind: Kind, detail?: string) => Answered): Answered {
  let found: string;
  try {
    found = JSON.stringify(read(JSON.parse(text)));
  } catch {
    return told('wrong', text.slice(-300));
  }
  const wanted = JSON.stringify(right);
  if (found === wanted) return told('right');
  return told(found.length < wanted.length ? 'partial' : 'wrong', found.slice(0, 300));
}

/** Words of failures that may be gone when the statement is submitted again. */
const RETRYABLE = /unavailable|timeout|cannot reach|half-way|served by no Historical/i;
const STATEMENT = `SELECT COUNT(*), SUM(n) FROM ${TABLE}`;

/** The same of a statement that runs as a task: its record tells what became of it. */
export async function askStatement(url: string): Promise<Answered> {
  const startMs = performance.now();
  const told = (kind: Kind, detail = ''): Answered => ({ name: 'statement', kind, detail, startMs, endMs: performance.now() });
  const call = async (method: string, tail: string, body?: object): Promise<{ readonly status: number; readonly text: string }> => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    const answer = await fetch(`${url}/svc/v2/sql/statements${tail}`, { method, ...sent, signal: AbortSignal.timeout(60_000) });
    return { status: answer.status, text: await answer.text() };
  };
  try {
    const sent = await call('POST', '', { query: STATEMENT, context: { executionMode: 'ASYNC' } });
    if (sent.status !== 200) return told([502, 503, 504].includes(sent.status) ? 'retryable' : 'error', `${sent.status} ${sent.text}`);
    const { queryId } = JSON.parse(sent.text) as { readonly queryId: string };
    for (;;) {
      const { status, text } = await call('GET', `/${queryId}`);
      const { state, errorDetails } = JSON.parse(text) as { readonly state?: string; readonly errorDetails?: unknown };
      if (state === 'SUCCESS') break;
      if (state === 'FAILED') {
        const detail = JSON.stringify(errorDetails);
        return told(RETRYABLE.test(detail) ? 'retryable' : 'error', detail);
      }
      if (status >= 400 && status !== 503) return told('error', `${status} ${text}`);
      await sleep(200);
    }
    const { status, text } = await call('GET', `/${queryId}/results?resultFormat=array`);
    if (status !== 200) return told([502, 503, 504].includes(status) ? 'retryable' : 'error', `${status} ${text}`);
    return judge(text, { right: [[ROWS, sum(rows)]], read: (answer) => answer }, told);
  } catch (error) {
    return told('retryable', String((error as Error).message));
  }
}

/** Clients that ask all questions in turn until they are ended. */
export class Load {
  readonly answers: Answered[] = [];
  readonly #clients: Promise<void>[];
  #isEnded = false;

  constructor(url: string, { clients, pauseMs, withStatements }: { clients: number; pauseMs: number; withStatements: boolean }) {
    const asking = async (client: number): Promise<void> => {
      for (let turn = client * 5; !this.#isEnded; turn++) {
        const question = QUESTIONS[turn % QUESTIONS.length];
        if (question !== undefined) this.answers.push(await ask(url, question));
        await sleep(pauseMs);
      }
    };
    const submitting = async (): Promise<void> => {
      for (; !this.#isEnded; await sleep(1000)) this.answers.push(await askStatement(url));
    };
    this.#clients = Array.from({ length: clients }, (_, client) => asking(client));
    if (withStatements) this.#clients.push(submitting());
  }

  async end(): Promise<readonly Answered[]> {
    this.#isEnded = true;
    await Promise.all(this.#clients);
    return this.answers;
  }

  /** Answers by kind. */
  counts(): Readonly<Record<Kind, number>> {
    const counts = { right: 0, retryable: 0, error: 0, wrong: 0, partial: 0 };
    for (const { kind } of this.answers) counts[kind]++;
    return counts;
  }
}
