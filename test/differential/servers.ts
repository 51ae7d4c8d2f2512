import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { callJson, runTask, startDolmen, waitForCount } from '../../bench/server.js';
import { parseJson, stringifyJson } from '../../src/base/json.js';
import type { Answer, DifferentialCase, ExpressionRequest, Json } from './case.js';
import { expressionQuery } from './expression-request.js';
import { rowsOfNative } from './native-rows.js';
import { dataSchemaOf, LOOKUP, linesOf, TABLES } from './tables.js';

const RUN = fileURLToPath(new URL('../../../test/differential/oracle/run.sh', import.meta.url));
const BUILT = fileURLToPath(new URL('../../../build/druid-oracle', import.meta.url));
const ORACLE_READY_WITHIN_MS = 240_000;

/** Dolmen and the original, side by side on loopback, holding the same tables. */
export interface Servers {
  askDolmen(one: DifferentialCase): Promise<Answer>;
  askOriginal(one: DifferentialCase): Promise<Answer>;
  stop(): Promise<void>;
}

/** Why the original cannot be started here, or undefined when it can. Its jars: `test/differential/oracle/run.sh prepare`. */
export function whyNoOriginal(): string | undefined {
  if (spawnSync('java', ['-version']).status !== 0) return 'there is no Java here';
  if (spawnSync('javac', ['-version']).status !== 0) return 'there is no Java compiler here';
  const jars = path.join(process.env['ORACLE_DIR'] ?? BUILT, 'lib');
  return existsSync(jars) ? undefined : `there are no jars of the original: test/differential/oracle/run.sh prepare fetches them`;
}

export async function startServers(portOffset: number): Promise<Servers> {
  const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-differential-'));
  const children: ChildProcess[] = [];
  // Nothing stays behind, however this process ends.
  process.once('exit', () => {
    for (const child of children) endAtOnce(child);
    rmSync(folder, { recursive: true, force: true });
  });
  const specs = path.join(folder, 'original');
  mkdirSync(specs);
  const files = new Map<string, string[]>();
  for (const table of TABLES) {
    const written = table.segments.map((rows, at) => {
      const file = path.join(folder, `${table.name}-${at}.json`);
      writeFileSync(file, `${linesOf(rows)}\n`);
      return file;
    });
    files.set(table.name, written);
    writeFileSync(
      path.join(specs, `${table.name}.json`),
      stringifyJson({ dataSchema: dataSchemaOf(table), inputFormat: { type: 'json' }, files: written }),
    );
  }
  const [original, dolmen] = await Promise.allSettled([
    startOriginal(specs, children),
    startLoadedDolmen(folder, portOffset, files, children),
  ]);
  const stop = async (): Promise<void> => {
    for (const one of [original, dolmen]) if (one.status === 'fulfilled') await one.value.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  if (original.status === 'rejected' || dolmen.status === 'rejected') {
    await stop();
    throw [original, dolmen].find((one) => one.status === 'rejected')?.reason;
  }
  const [originalUrl, dolmenUrl] = [original.value.url, dolmen.value.url];
  return {
    askDolmen: (one) => askDolmen(dolmenUrl, one),
    askOriginal: (one) => askOriginal(originalUrl, one),
    stop,
  };
}

/** Ends the process group that a child leads. */
function endAtOnce({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

/** The address of an original that runs already and holds these tables may be given by the environment: it takes a while to start. */
async function startOriginal(specs: string, children: ChildProcess[]): Promise<{ url: string; stop(): Promise<void> }> {
  const running = process.env['DIFFERENTIAL_ORIGINAL'];
  if (running !== undefined) return { url: running, stop: async () => undefined };
  const port = await freePort();
  const child = spawn(RUN, [String(port), specs], { stdio: ['ignore', 'ignore', 'pipe'], detached: true });
  children.push(child);
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await readyLine(child);
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await exited;
  };
  return { url: `http://127.0.0.1:${port}`, stop };
}

function readyLine(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let printed = '';
    const timer = setTimeout(() => reject(new Error(`the original was not ready in time:\n${printed}`)), ORACLE_READY_WITHIN_MS);
    child.stderr?.on('data', (chunk: Buffer) => {
      printed = (printed + chunk.toString()).slice(-8000);
      if (!printed.includes('oracle ready')) return;
      clearTimeout(timer);
      resolve();
    });
    child.once('exit', (code) => {
      clearTimeout(timer);
      reject(new Error(`the original ended with ${code}:\n${printed}`));
    });
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => (typeof address === 'object' && address !== null ? resolve(address.port) : reject(new Error('no port'))));
    });
  });
}

/** One task a file, so that every file becomes a segment of its own. */
async function startLoadedDolmen(
  folder: string,
  portOffset: number,
  files: ReadonlyMap<string, readonly string[]>,
  children: ChildProcess[],
): Promise<{ url: string; stop(): Promise<unknown> }> {
  const flags = ['--property', `svc.ingestion.local.allowedDirectories=["${folder}"]`];
  const server = await startDolmen({ dataDir: path.join(folder, 'dolmen'), portOffset, flags, onSpawn: (child) => children.push(child) });
  try {
    await loadTables(server.url, files);
    await installLookup(server.url);
    return server;
  } catch (error) {
    await server.stop();
    throw error;
  }
}

async function loadTables(url: string, files: ReadonlyMap<string, readonly string[]>): Promise<void> {
  for (const table of TABLES) {
    for (const [at, file] of (files.get(table.name) ?? []).entries()) {
      await runTask(url, {
        type: 'index_parallel',
        spec: {
          ioConfig: {
            type: 'index_parallel',
            inputSource: { type: 'local', files: [file] },
            inputFormat: { type: 'json' },
            appendToExisting: at > 0,
          },
          dataSchema: dataSchemaOf(table),
          tuningConfig: { type: 'index_parallel' },
        },
      });
    }
    await waitForCount(url, table.name, table.segments.flat().length);
  }
}

async function installLookup(url: string): Promise<void> {
  await callJson('POST', `${url}/svc/coordinator/v1/lookups/config`, {});
  await callJson('POST', `${url}/svc/coordinator/v1/lookups/config`, {
    __default: { [LOOKUP.name]: { version: 'v1', lookupExtractorFactory: { type: 'map', map: LOOKUP.map } } },
  });
  for (let attempt = 0; ; attempt++) {
    try {
      await callJson('POST', `${url}/svc/v2/sql`, { query: `SELECT LOOKUP('a', '${LOOKUP.name}')` });
      return;
    } catch (error) {
      if (attempt > 100) throw error;
      await new Promise((done) => setTimeout(done, 200));
    }
  }
}

async function askDolmen(url: string, one: DifferentialCase): Promise<Answer> {
  if (one.kind === 'sql') {
    const body = { ...one.request, resultFormat: 'array', header: true, sqlTypesHeader: true, typesHeader: true };
    const { status, text } = await post(`${url}/svc/v2/sql`, body);
    if (status !== 200) return failure(status, text);
    const [names, , types, ...rows] = parseJson(text) as Json[];
    return { state: 'rows', names: names ?? null, types: types ?? null, rows };
  }
  const query = one.kind === 'expressions' ? expressionQuery(one.request) : one.request;
  const { status, text } = await post(`${url}/svc/v2`, query);
  return status === 200 ? { state: 'rows', rows: rowsOfNative(query, parseJson(text) as Json) } : failure(status, text);
}

async function askOriginal(url: string, one: DifferentialCase): Promise<Answer> {
  if (one.kind === 'sql') {
    const { status, text } = await post(`${url}/sql`, one.request);
    if (status !== 200) return failure(isRefusal(text) ? 400 : 500, text);
    const { names, types, rows } = parseJson(text) as { readonly [name: string]: Json };
    return { state: 'rows', names: names ?? null, types: types ?? null, rows: rows ?? null };
  }
  if (one.kind === 'expressions' && 'columns' in one.request) return askExpression(url, one.request);
  const query = one.kind === 'expressions' ? expressionQuery(one.request) : one.request;
  const { status, text } = await post(`${url}/native`, query);
  return status === 200
    ? { state: 'rows', rows: rowsOfNative(query, parseJson(text) as Json) }
    : failure(isRefusal(text) ? 400 : 500, text);
}

async function askExpression(url: string, request: ExpressionRequest): Promise<Answer> {
  const { status, text } = await post(`${url}/expr`, { columns: request.columns ?? [], exprs: [request.expression] });
  if (status !== 200) return failure(isRefusal(text) ? 400 : 500, text);
  const [first] = parseJson(text) as { readonly error?: string; readonly v?: Json }[];
  if (first?.error !== undefined) return failure(isRefusal(first.error) ? 400 : 500, first.error);
  return { state: 'rows', rows: [[first?.v ?? null]] };
}

/** Errors of Java itself are the original's own failures, no answer to the question. */
function isRefusal(text: string): boolean {
  return !/NullPointerException|ClassCast|cannot be cast|IndexOutOfBounds|ArrayStoreException|StackOverflow|AssertionError|Cannot invoke|because the return value|Index\[\d+\] >= size|merge buffer memory|OutOfMemory|Java heap space/.test(
    text,
  );
}

function failure(status: number, text: string): Answer {
  return { state: status >= 500 && status !== 501 ? 'broken' : 'refused', message: text.slice(0, 600) };
}

/** Tried once more when the connection was closed while idle. */
async function post(url: string, body: Json | object, isRepeated = false): Promise<{ status: number; text: string }> {
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: stringifyJson(body),
      signal: AbortSignal.timeout(30_000),
    });
    return { status: answer.status, text: await answer.text() };
  } catch (error) {
    if (isRepeated || (error as Error).name === 'TimeoutError') return { status: 500, text: `no answer: ${String(error)}` };
    return post(url, body, true);
  }
}
