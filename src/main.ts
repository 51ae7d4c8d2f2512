// Entry of the program.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { INSTALLATION } from './base/installation.js';
import { parseJsonWithDoubles } from './base/json.js';
import { exitCodeOf } from './cli/exit-codes.js';
import { createProgram } from './cli/program.js';

/** The program: its command line, its exit code. Each command is loaded when it is asked for. */
const manifest = parseJsonWithDoubles(readFileSync(join(INSTALLATION, 'package.json'), 'utf8')) as { version: string };
// Whoever read our output has seen enough (`| head`).
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});
try {
  process.exitCode = await createProgram(manifest.version).run(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`dolmen: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = exitCodeOf(error);
}
