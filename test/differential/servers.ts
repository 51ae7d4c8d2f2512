import type { ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { callJson, runTask, startDolmen, waitForCount } from '../../bench/server.js';
import { parseJson, stringifyJson } from '../../src/base/json.js';
import type { Answer, DifferentialCase, Json } from './case.js';
import { expressionQuery } from './expression-request.js';
import { failure, post } from './http.js';
import { rowsOfNative } from './native-rows.js';
import { endAtOnce, Original } from './original.js';
import { type DifferentialTable, dataSchemaOf, LOOKUP, linesOf, TABLES } from './tables.js';

/** Dolmen and the original, side by side on loopback, holding the same tables. */
export interface Servers {
  askDolmen(one: DifferentialCase): Promise<Answer>;
  askOriginal(one: DifferentialCase): Promise<Answer>;
  stop(): Promise<void>;
}

export async function startServers(portOffset: number, tables = TABLES): Promise<Servers> {
  const children: ChildProcess[] = [];
  const folder = ownFolder(children);
  const specs = path.join(folder, 'original');
  mkdirSync(specs);
  for (const table of tables)
    writeFileSync(
      path.join(specs, `${table.name}.json`),
      stringifyJson({ dataSchema: dataSchemaOf(table), inputFormat: { type: 'json' }, files: writeFiles(folder, table) }),
    );
  const [original, dolmen] = await Promise.allSettled([
    Original.start(specs, (child) => children.push(child)),
    startLoadedDolmen(folder, portOffset, tables, children),
  ]);
  const stop = async (): Promise<void> => {
    for (const one of [original, dolmen]) if (one.status === 'fulfilled') await one.value.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  if (original.status === 'rejected' || dolmen.status === 'rejected') {
    await stop();
    throw [original, dolmen].find((one) => one.status === 'rejected')?.reason;
  }
  const dolmenUrl = dolmen.value.url;
  return {
    askDolmen: (one) => askDolmen(dolmenUrl, one),
    askOriginal: (one) => original.value.ask(one),
    stop,
  };
}

/** A folder of this process's own, which ends with it, as do the processes that are noted. */
export function ownFolder(children: readonly ChildProcess[]): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-differential-'));
  // Nothing stays behind, however this process ends.
  process.once('exit', () => {
    for (const child of children) endAtOnce(child);
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

/** Files of a folder, one for each segment. */
function writeFiles(folder: string, table: DifferentialTable): string[] {
  return table.segments.map((rows, at) => {
    const file = path.join(folder, `${table.name}-${at}.json`);
    writeFileSync(file, `${linesOf(rows)}\n`);
    return file;
  });
}

/** A Dolmen that holds tables. */
export async function startLoadedDolmen(
  folder: string,
  portOffset: number,
  tables: readonly DifferentialTable[],
  children: ChildProcess[],
  ownFlags: readonly string[] = [],
): Promise<{ url: string; stop(): Promise<unknown> }> {
  const flags = ['--property', `svc.ingestion.local.allowedDirectories=["${folder}"]`, ...ownFlags];
  const server = await startDolmen({ dataDir: path.join(folder, 'dolmen'), portOffset, flags, onSpawn: (child) => children.push(child) });
  try {
    await Promise.all(tables.map((table) => loadTable(server.url, table, writeFiles(folder, table))));
    await installLookup(server.url);
    return server;
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** One task a file, so that every file becomes a segment of its own. */
async function loadTable(url: string, table: DifferentialTable, files: readonly string[]): Promise<void> {
  for (const [at, file] of files.entries()) {
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

export async function askDolmen(url: string, one: DifferentialCase): Promise<Answer> {
  return askAt(url, one, AbortSignal.timeout(30_000)).catch((error: unknown) => failure(500, `no answer: ${String(error)}`));
}

async function askAt(url: string, one: DifferentialCase, deadline: AbortSignal): Promise<Answer> {
  if (one.kind === 'sql') {
    const body = { ...one.request, resultFormat: 'array', header: true, sqlTypesHeader: true, typesHeader: true };
    const { status, text } = await post(`${url}/svc/v2/sql`, body, deadline);
    if (status !== 200) return failure(status, text);
    const [names, , types, ...rows] = parseJson(text) as Json[];
    return { state: 'rows', names: names ?? null, types: types ?? null, rows };
  }
  const query = one.kind === 'expressions' ? expressionQuery(one.request) : one.request;
  const { status, text } = await post(`${url}/svc/v2`, query, deadline);
  return status === 200 ? { state: 'rows', rows: rowsOfNative(query, parseJson(text) as Json) } : failure(status, text);
}
