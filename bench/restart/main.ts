import { closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { readAt, type SegmentFile } from '../../src/storage/codecs/array-decoder.js';
import { decompressInto } from '../../src/storage/codecs/zstd.js';
import { arraysOf, BLOCK_HEADER_BYTES, type Footer, storedColumns } from '../../src/storage/format.js';
import { verifySegment } from '../../src/storage/jobs/verify-segment.js';
import { wikiIngestion, writeWikiCsv } from '../data/wiki.js';
import { median } from '../harness.js';
import { runTask, sqlRows, startDolmen, waitForCount } from '../server.js';

/**
 * Time from the restart of a server to its first answer, measured in turn with the time one thread of this process takes to
 * only read and decompress all of its segment files. Files come from the page cache either way.
 */
const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '5' },
    threads: { type: 'string', default: '1' },
    data: { type: 'string' },
    json: { type: 'string' },
  },
});
/** Blocks decompress to less. */
const room = new Uint8Array(1 << 20);
const PORT_OFFSET = 11_200;
const QUESTION = 'SELECT channel, COUNT(*) AS cnt, SUM(added) AS a FROM wiki GROUP BY 1 ORDER BY 3 DESC LIMIT 5';

const folder = values.data ?? mkdtempSync(path.join(tmpdir(), 'dolmen-bench-'));
const flags = ['--property', `svc.processing.numThreads=${values.threads}`];
try {
  if (values.data === undefined) await load(folder, Number(values.rows));
  const files = openFiles(path.join(folder, 'segment-cache', 'segments'));
  const readMs: number[] = [];
  const answerMs: number[] = [];
  const readyMs: number[] = [];
  for (let round = -1; round < Number(values.rounds); round++) {
    const read = timed(() => files.reduce((bytes, file) => bytes + readAndDecompress(file), 0));
    const { ready, answer } = await restart();
    if (round < 0) continue;
    readMs.push(read);
    readyMs.push(ready);
    answerMs.push(answer);
  }
  for (const { source } of files) closeSync(source.descriptor);
  const result = { readMs: median(readMs), readyMs: median(readyMs), answerMs: median(answerMs), ratio: median(answerMs) / median(readMs) };
  console.log(`${files.length} segment files read and decompressed by one thread   ${result.readMs.toFixed(0).padStart(6)} ms`);
  console.log(`server started and ready                            ${result.readyMs.toFixed(0).padStart(6)} ms`);
  console.log(
    `server started and its first answer here            ${result.answerMs.toFixed(0).padStart(6)} ms   ratio ${result.ratio.toFixed(2)}`,
  );
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(result, null, 2)}\n`);
} finally {
  if (values.data === undefined) rmSync(folder, { recursive: true, force: true });
}

async function load(into: string, rows: number): Promise<void> {
  const input = path.join(into, 'input');
  mkdirSync(input, { recursive: true });
  writeWikiCsv(path.join(input, 'wiki.csv'), rows, 1);
  const server = await startDolmen({ dataDir: into, portOffset: PORT_OFFSET, flags });
  try {
    await runTask(server.url, wikiIngestion(input));
    await waitForCount(server.url, 'wiki', rows);
  } finally {
    await server.stop();
  }
}

async function restart(): Promise<{ ready: number; answer: number }> {
  const began = performance.now();
  const server = await startDolmen({ dataDir: folder, portOffset: PORT_OFFSET, flags });
  const ready = performance.now() - began;
  try {
    const rows = await sqlRows(server.url, QUESTION);
    const answer = performance.now() - began;
    if (rows.length !== 5) throw new Error(`the first answer has ${rows.length} rows`);
    return { ready, answer };
  } finally {
    await server.stop();
  }
}

function openFiles(directory: string): { readonly source: SegmentFile; readonly footer: Footer }[] {
  return readdirSync(directory).map((name) => {
    const file = path.join(directory, name);
    const source = { file, descriptor: openSync(file, 'r') };
    return { source, footer: verifySegment(source) };
  });
}

/** Bytes that came out. */
function readAndDecompress({ source, footer }: { readonly source: SegmentFile; readonly footer: Footer }): number {
  let bytes = 0;
  for (const array of storedColumns(footer).flatMap(arraysOf)) {
    let at = array.start;
    for (const size of array.bytes) {
      bytes += decompressInto(room, readAt(source, at, size).subarray(BLOCK_HEADER_BYTES));
      at += size;
    }
  }
  return bytes;
}

function timed(work: () => number): number {
  const began = performance.now();
  if (work() === 0) throw new Error('there is nothing to read');
  return performance.now() - began;
}
