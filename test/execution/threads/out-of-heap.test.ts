import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const heap = suite('threads without heap');

heap('a query that needs more heap than a thread has ends with an error of its own; the next has a new thread', async () => {
  const entry = fileURLToPath(new URL('./out-of-heap-run.js', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ['--max-old-space-size=64', entry]);
  assert.is(stdout, 'resource_limit 1\n');
});

heap.run();
