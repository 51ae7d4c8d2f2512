// A server under a tutorial: statements and tasks are sent to it, and every expectation is counted as met or missed.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Page } from './page.mjs';

const POLL_MS = 100;
const PATIENCE_MS = 120_000;

export class Session {
  /** Missed expectations: the step, what was expected, what was found. */
  misses = [];
  met = 0;

  /**
   * @param options.tree      folder of the source tree
   * @param options.url       of the Router
   * @param options.examples  working folder of the server, where tutorials have their files
   * @param options.segments  deep storage
   * @param options.rehomed   changes the address of a file that is on the web only
   */
  constructor({ tree, url, examples, segments, rehomed = (text) => text }) {
    this.tree = tree;
    this.url = url;
    this.examples = examples;
    this.segmentFolder = segments;
    this.rehomed = rehomed;
  }

  /** Files of segments in deep storage. */
  storedFiles() {
    const files = readdirSync(this.segmentFolder, { withFileTypes: true, recursive: true });
    return files.filter((entry) => entry.isFile() && !entry.name.startsWith('_')).length;
  }

  /** @param path below `docs` */
  page(path) {
    return new Page(join(this.tree, 'docs', path));
  }

  /** Counts an expectation. */
  is(step, found, expected) {
    if (same(found, expected)) this.met++;
    else this.misses.push({ step, expected: brief(expected), found: brief(found) });
  }

  async call(method, path, body) {
    const answer = await fetch(this.url + path, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const text = await answer.text();
    return { status: answer.status, text, body: /^[[{"\dtfn]/.test(text) ? parsed(text) : text };
  }

  /** Rows of a statement as objects; throws with the answer when it is refused. */
  async rows(query, context = {}) {
    const { status, body, text } = await this.call('POST', '/druid/v2/sql', { query: this.rehomed(query), context });
    if (status !== 200) throw new Error(`${status} ${text.slice(0, 400)}`);
    return body;
  }

  /** Compares the rows of a statement with those expected, in any order unless `ordered`. */
  async query(step, query, expected, { ordered = false, context } = {}) {
    await this.#step(step, async () => {
      const found = await this.rows(query, context);
      this.is(step, tabled(found, ordered), tabled(expected, ordered));
    });
  }

  /** Compares what `view` picks of the rows of a statement, in their order. */
  async sqlLike(step, query, view, expected) {
    await this.#step(step, async () => this.is(step, view(await this.rows(query)), expected));
  }

  /** Expects so many rows of a statement. */
  async count(step, query, expected) {
    await this.#step(step, async () => this.is(step, (await this.rows(query)).length, expected));
  }

  /** A native query; `view` picks of its answer what is compared. */
  async native(step, query, expected, view = (answer) => answer) {
    await this.#step(step, async () => {
      const { status, body, text } = await this.call('POST', '/druid/v2', query);
      if (status !== 200) throw new Error(`${status} ${text.slice(0, 400)}`);
      this.is(step, view(body), expected);
    });
  }

  /** Runs a statement that writes, and expects so many rows to be written, where a number is given. */
  async load(step, query, rows, context = {}) {
    await this.#step(step, async () => {
      const { status, body, text } = await this.call('POST', '/druid/v2/sql/task', { query: this.rehomed(query), context });
      if (status !== 200 && status !== 202) throw new Error(`${status} ${text.slice(0, 400)}`);
      const report = await this.#finished(body.taskId);
      const written = report?.multiStageQuery?.payload?.counters ?? {};
      if (rows !== undefined) this.is(`${step}: rows written`, rowsPushed(written), rows);
    });
  }

  /** Runs a SELECT as a task; `view` picks of the rows in its report what is compared. */
  async taskRows(step, query, view, expected) {
    await this.#step(step, async () => {
      const { status, body, text } = await this.call('POST', '/druid/v2/sql/task', { query: this.rehomed(query) });
      if (status !== 200 && status !== 202) throw new Error(`${status} ${text.slice(0, 400)}`);
      const report = await this.#finished(body.taskId);
      this.is(step, view(report?.multiStageQuery?.payload?.results?.results ?? []), expected);
    });
  }

  /** Submits a statement, follows it and reads its results. */
  async statement(step, query, { schema, rows, first }) {
    await this.#step(step, async () => {
      const path = '/druid/v2/sql/statements';
      const { status, body, text } = await this.call('POST', path, { query });
      if (status !== 200) throw new Error(`${status} ${text.slice(0, 400)}`);
      this.is(`${step}: accepted`, [body.state, body.durationMs], ['ACCEPTED', -1]);
      if (schema !== undefined) this.is(`${step}: schema`, body.schema, schema);
      const end = Date.now() + PATIENCE_MS;
      let told = body;
      while (told.state === 'ACCEPTED' || told.state === 'RUNNING') {
        if (Date.now() > end) throw new Error(`the statement is ${told.state} after ${PATIENCE_MS} ms`);
        await sleep(POLL_MS);
        told = (await this.call('GET', `${path}/${body.queryId}`)).body;
      }
      if (told.state !== 'SUCCESS') throw new Error(`the statement is ${told.state}: ${told.errorDetails?.errorMessage}`);
      const { numTotalRows, pages, dataSource } = told.result;
      this.is(
        `${step}: result`,
        [numTotalRows, pages.map(({ id, numRows }) => [id, numRows]), dataSource],
        [rows, [[0, rows]], '__query_select'],
      );
      const results = (await this.call('GET', `${path}/${body.queryId}/results`)).body;
      this.is(`${step}: rows`, results.length, rows);
      if (first !== undefined) this.is(`${step}: first row`, Object.values(results[0]), first);
    });
  }

  /** Runs a native task, a file below `examples` or a spec. */
  async task(step, spec) {
    await this.#step(step, async () => {
      const { status, body, text } = await this.call('POST', '/druid/indexer/v1/task', spec);
      if (status !== 200) throw new Error(`${status} ${text.slice(0, 400)}`);
      await this.#finished(body.task);
    });
  }

  /** Segments that count, and their rows; not those that only hide what an earlier tutorial has loaded. */
  async segments(step, dataSource, expected) {
    const ofRows = `"datasource" = '${dataSource}' AND "is_active" = 1 AND "num_rows" > 0`;
    const query = `SELECT COUNT(*) AS "segments", SUM("num_rows") AS "rows" FROM sys.segments WHERE ${ofRows}`;
    await this.query(step, query, [expected]);
  }

  /** Repeats until the outcome is the expected one, or patience ends. */
  async until(step, look, expected, patienceMs = 30_000) {
    await this.#step(step, async () => {
      const end = Date.now() + patienceMs;
      for (;;) {
        const found = await look();
        if (same(found, expected) || Date.now() > end) return this.is(step, found, expected);
        await sleep(POLL_MS);
      }
    });
  }

  async #finished(task) {
    const path = `/druid/indexer/v1/task/${encodeURIComponent(task)}`;
    const end = Date.now() + PATIENCE_MS;
    for (;;) {
      const { body } = await this.call('GET', `${path}/status`);
      const { statusCode, errorMsg, dataSource } = body.status;
      if (statusCode === 'FAILED') throw new Error(`task ${task} failed: ${errorMsg}`);
      if (statusCode === 'SUCCESS') {
        await this.loaded(dataSource);
        return (await this.call('GET', `${path}/reports`)).body;
      }
      if (Date.now() > end) throw new Error(`task ${task} is ${statusCode} after ${PATIENCE_MS} ms`);
      await sleep(POLL_MS);
    }
  }

  /** Waits until what was published is served. */
  async loaded(dataSource) {
    const end = Date.now() + PATIENCE_MS;
    const path = `/druid/coordinator/v1/datasources/${encodeURIComponent(dataSource)}/loadstatus?forceMetadataRefresh=true&interval=1000/3000`;
    for (;;) {
      const { status, body } = await this.call('GET', path);
      if (status !== 200 || Object.values(body ?? {}).every((percent) => percent === 100)) break;
      if (Date.now() > end) throw new Error(`"${dataSource}" is not loaded after ${PATIENCE_MS} ms`);
      await sleep(POLL_MS);
    }
    // A Broker hears of it a moment later.
    const name = encodeURIComponent(dataSource);
    while (Date.now() < end) {
      const used = (await this.call('GET', `/druid/coordinator/v1/datasources/${name}/segments`)).body;
      const known = (await this.call('GET', `/druid/v2/datasources/${name}/candidates?intervals=1000/3000`)).body;
      if (!Array.isArray(used) || !Array.isArray(known)) return;
      if (known.length >= used.length && used.every((id) => known.some(({ version }) => id.includes(version)))) return;
      await sleep(POLL_MS);
    }
  }

  async #step(step, work) {
    try {
      await work();
    } catch (error) {
      this.misses.push({ step, expected: 'an answer', found: error instanceof Error ? error.message : String(error) });
    }
  }
}

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text; // lines of JSON, or plain text
  }
}

function rowsPushed(counters) {
  let rows = 0;
  for (const workers of Object.values(counters))
    for (const counter of Object.values(workers)) rows += counter.segmentGenerationProgress?.rowsPushed ?? 0;
  return rows;
}

/** Rows with their cells as text: tables of documentation have nothing else. */
function tabled(rows, ordered) {
  const texts = rows.map((row) =>
    JSON.stringify(
      Object.entries(row)
        .map(([name, cell]) => [name, cellText(cell)])
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    ),
  );
  return ordered ? texts : texts.sort();
}

function cellText(cell) {
  if (cell === null) return 'null';
  return typeof cell === 'string' ? cell : JSON.stringify(cell);
}

/** Whatever the order of keys. */
function same(found, expected) {
  return JSON.stringify(found, byName) === JSON.stringify(expected, byName);
}

function byName(_key, value) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function brief(value) {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
  return text.length > 600 ? `${text.slice(0, 600)}…` : text;
}
