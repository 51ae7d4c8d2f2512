import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseJson } from '../../src/base/json.js';
import type { Answer, DifferentialCase, ExpressionRequest, Json } from './case.js';
import { expressionQuery } from './expression-request.js';
import { failure, post } from './http.js';
import { rowsOfNative } from './native-rows.js';

const RUN = fileURLToPath(new URL('../../../test/differential/oracle/run.sh', import.meta.url));
const BUILT = fileURLToPath(new URL('../../../build/druid-oracle', import.meta.url));
const READY_WITHIN_MS = 240_000;
/** Some requests never end in the original: its process is ended with them. */
const ANSWERS_WITHIN_MS = 20_000;

/** Why the original cannot be started here, or undefined when it can. Its jars: `test/differential/oracle/run.sh prepare`. */
export function whyNoOriginal(): string | undefined {
  if (spawnSync('java', ['-version']).status !== 0) return 'there is no Java here';
  if (spawnSync('javac', ['-version']).status !== 0) return 'there is no Java compiler here';
  const jars = path.join(process.env['ORACLE_DIR'] ?? BUILT, 'lib');
  return existsSync(jars) ? undefined : `there are no jars of the original: test/differential/oracle/run.sh prepare fetches them`;
}

/** A process of the original that holds the tables. */
interface Running {
  readonly url: string;
  readonly child: ChildProcess | undefined;
}

/**
 * The original, started anew whenever it did not answer in time. An address of one that runs already and holds these tables may be given by
 * the environment, as it takes a while to start; that one is never ended.
 */
export class Original {
  readonly #specs: string;
  readonly #onSpawn: (child: ChildProcess) => void;
  #running: Promise<Running>;

  /** @param specs  the folder of the ingestion specs of its tables */
  static async start(specs: string, onSpawn: (child: ChildProcess) => void): Promise<Original> {
    const original = new Original(specs, onSpawn);
    await original.#running;
    return original;
  }

  private constructor(specs: string, onSpawn: (child: ChildProcess) => void) {
    this.#specs = specs;
    this.#onSpawn = onSpawn;
    this.#running = this.#spawn();
  }

  /** The answer to a request, which is asked again where the process was ended for another one's sake. */
  async ask(one: DifferentialCase): Promise<Answer> {
    for (;;) {
      const asked = this.#running;
      const { url, child } = await asked;
      const deadline = AbortSignal.timeout(ANSWERS_WITHIN_MS);
      try {
        return await askAt(url, one, deadline);
      } catch (error) {
        if (asked !== this.#running) continue;
        // Requests are begun in the order they came in: the first whose time is over is one that runs, not one that waits.
        if (child !== undefined) {
          this.#running = ended(child).then(() => this.#spawn());
          await this.#running;
        }
        return { state: 'unanswered', message: deadline.aborted ? `not within ${ANSWERS_WITHIN_MS} ms` : String(error) };
      }
    }
  }

  async stop(): Promise<void> {
    const { child } = await this.#running;
    if (child !== undefined) await ended(child);
  }

  async #spawn(): Promise<Running> {
    const running = process.env['DIFFERENTIAL_ORIGINAL'];
    if (running !== undefined) return { url: running, child: undefined };
    const port = await freePort();
    const child = spawn(RUN, [String(port), this.#specs], { stdio: ['ignore', 'ignore', 'pipe'], detached: true });
    this.#onSpawn(child);
    await readyLine(child);
    return { url: `http://127.0.0.1:${port}`, child };
  }
}

/** Ends the process group that a child leads. */
export function endAtOnce({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  endAtOnce(child);
  await exited;
}

function readyLine(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let printed = '';
    const timer = setTimeout(() => reject(new Error(`the original was not ready in time:\n${printed}`)), READY_WITHIN_MS);
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

async function askAt(url: string, one: DifferentialCase, deadline: AbortSignal): Promise<Answer> {
  if (one.kind === 'sql') {
    const { status, text } = await post(`${url}/sql`, one.request, deadline);
    if (status !== 200) return failure(isRefusal(text) ? 400 : 500, text);
    const { names, types, rows } = parseJson(text) as { readonly [name: string]: Json };
    return { state: 'rows', names: names ?? null, types: types ?? null, rows: rows ?? null };
  }
  if (one.kind === 'expressions' && 'columns' in one.request) return askExpression(url, one.request, deadline);
  const query = one.kind === 'expressions' ? expressionQuery(one.request) : one.request;
  const { status, text } = await post(`${url}/native`, query, deadline);
  return status === 200
    ? { state: 'rows', rows: rowsOfNative(query, parseJson(text) as Json) }
    : failure(isRefusal(text) ? 400 : 500, text);
}

async function askExpression(url: string, request: ExpressionRequest, deadline: AbortSignal): Promise<Answer> {
  const { status, text } = await post(`${url}/expr`, { columns: request.columns ?? [], exprs: [request.expression] }, deadline);
  if (status !== 200) return failure(isRefusal(text) ? 400 : 500, text);
  const [first] = parseJson(text) as { readonly error?: string; readonly v?: Json }[];
  if (first?.error !== undefined) return failure(isRefusal(first.error) ? 400 : 500, first.error);
  return { state: 'rows', rows: [[first?.v ?? null]] };
}

/** Errors of Java itself are the original's own failures, no answer to the question. */
function isRefusal(text: string): boolean {
  return !/NullPointerException|ClassCast|cannot be cast|IndexOutOfBounds|Problem invoking method|Index \d+ out of bounds|function 'a\dit|ArrayStoreException|StackOverflow|AssertionError|Value cannot fit in an int|Cannot invoke|because the return value|Index\[\d+\] >= size|merge buffer memory|OutOfMemory|Java heap space/.test(
    text,
  );
}
