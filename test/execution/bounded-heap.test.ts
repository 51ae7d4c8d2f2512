import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

/** Far less than the texts of its result would take: 400,000 rows of twice 140 characters. */
const HEAP_MEBIBYTES = 64;

const bounded = suite('results that are larger than the heap');

bounded('all of many groups in an order, read one frame after the other', async () => {
  const entry = fileURLToPath(new URL('./bounded-heap-run.js', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [`--max-old-space-size=${HEAP_MEBIBYTES}`, entry]);
  assert.is(stdout, 'rows=400000\n');
});

bounded.run();
