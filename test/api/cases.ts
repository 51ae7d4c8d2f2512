import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import * as assert from 'uvu/assert';
import { callJson, runTask, waitForCount } from '../../bench/server.js';

/** One golden case: a request and what must come back. Files lie in `test/cases/<kind>/<what it shows>.json`. */
interface Case {
  readonly name: string;
  readonly about: string;
  readonly request: { readonly path: string; readonly body: unknown };
  /** Sent as it is instead of `request.body`. */
  readonly bodyText?: string;
  readonly contentType?: string;
  readonly status: number;
  /** A string is compared with the body's text; `"*"` inside stands for anything. */
  readonly expected: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Keys of objects left out of the comparison. */
  readonly ignore?: readonly string[];
  /** Text the error message must hold. */
  readonly mentions?: string;
}

interface Table {
  readonly dataSource: string;
  readonly timestampColumn: string;
  readonly dimensions: readonly unknown[];
  /** Columns that are not among the dimensions are typed by their values. */
  readonly useSchemaDiscovery?: boolean;
  readonly segmentGranularity: string;
  /** Rolled up into these, by this granularity, to so many rows. */
  readonly rollup?: { readonly metrics: readonly unknown[]; readonly queryGranularity: string; readonly rows: number };
  readonly rows: readonly unknown[];
}

const FOLDER = fileURLToPath(new URL('../../../test/cases/', import.meta.url));

export function readCases(): readonly Case[] {
  const cases: Case[] = [];
  for (const kind of readdirSync(FOLDER, { withFileTypes: true })) {
    if (!kind.isDirectory()) continue;
    for (const file of readdirSync(path.join(FOLDER, kind.name)).sort()) {
      cases.push({
        name: `${kind.name}/${path.basename(file, '.json')}`,
        ...JSON.parse(readFileSync(path.join(FOLDER, kind.name, file), 'utf8')),
      });
    }
  }
  return cases;
}

/** Loads the tables of the files right in `test/cases` by inline ingestion tasks and waits until they answer. */
export async function loadCaseTables(base: string): Promise<void> {
  for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.json')))
    await loadTable(base, JSON.parse(readFileSync(path.join(FOLDER, file), 'utf8')));
}

async function loadTable(base: string, table: Table): Promise<void> {
  await runTask(base, {
    type: 'index_parallel',
    spec: {
      ioConfig: {
        type: 'index_parallel',
        inputSource: { type: 'inline', data: table.rows.map((row) => JSON.stringify(row)).join('\n') },
        inputFormat: { type: 'json' },
      },
      dataSchema: {
        dataSource: table.dataSource,
        timestampSpec: { column: table.timestampColumn, format: 'iso' },
        dimensionsSpec: { dimensions: table.dimensions, useSchemaDiscovery: table.useSchemaDiscovery === true },
        granularitySpec: {
          type: 'uniform',
          segmentGranularity: table.segmentGranularity,
          queryGranularity: table.rollup?.queryGranularity ?? 'none',
          rollup: table.rollup !== undefined,
        },
        ...(table.rollup === undefined ? {} : { metricsSpec: table.rollup.metrics }),
      },
      tuningConfig: { type: 'index_parallel' },
    },
  });
  await waitForCount(base, table.dataSource, table.rollup?.rows ?? table.rows.length);
}

export async function runCase(base: string, golden: Case): Promise<void> {
  const answer = await fetch(base + golden.request.path, {
    method: 'POST',
    headers: { 'content-type': golden.contentType ?? 'application/json' },
    body: golden.bodyText ?? JSON.stringify(golden.request.body),
  });
  const text = await answer.text();
  assert.is(answer.status, golden.status, `${golden.about}: ${text}`);
  for (const [name, value] of Object.entries(golden.headers ?? {})) assert.is(answer.headers.get(name), value, name);
  if (typeof golden.expected === 'string') assert.is(text, golden.expected);
  else assert.equal(withWildcards(without(JSON.parse(text), ignoredKeys(golden)), golden.expected), golden.expected, golden.about);
  if (golden.mentions !== undefined) assert.ok(text.includes(golden.mentions), `the message must name ${golden.mentions}: ${text}`);
  // Whatever was sent, the process carries on.
  assert.is(await callJson('GET', `${base}/status/health`), true);
}

/** The types of a scan's columns are compared where the case names them. */
function ignoredKeys({ expected, ignore = [] }: Case): readonly string[] {
  return JSON.stringify(expected).includes('rowSignature') ? ignore : [...ignore, 'rowSignature'];
}

function without(value: unknown, keys: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => without(item, keys));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([key, item]) => (keys.includes(key) ? [] : [[key, without(item, keys)]])));
}

/** Puts "*" where the expected value says so; an expected object with a wildcard need not name every key. */
function withWildcards(found: unknown, expected: unknown): unknown {
  if (expected === '*') return '*';
  if (Array.isArray(found) && Array.isArray(expected)) return found.map((item, index) => withWildcards(item, expected[index]));
  if (typeof found !== 'object' || found === null || typeof expected !== 'object' || expected === null) return found;
  const wanted = expected as Record<string, unknown>;
  const open = Object.values(wanted).includes('*');
  const entries = Object.entries(found).filter(([key]) => !open || key in wanted);
  return Object.fromEntries(entries.map(([key, item]) => [key, withWildcards(item, wanted[key])]));
}
