import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const closing = suite('threads that are closed');

closing('a process waits for threads that answer after they were told to end', async () => {
  const entry = fileURLToPath(new URL('./closing-run.js', import.meta.url));
  // A start that fails closes the threads that verify its segments; the error is told after that.
  const { stdout } = await promisify(execFile)(process.execPath, [entry]);
  assert.is(stdout, 'closed\n');
});

closing.run();
