#!/usr/bin/env node
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { prepare } from './prepare.mjs';
import { ROOT } from './stamp.mjs';

// Writes docs/sql-coverage.md from what the compiled planner says to the examples of each documented function.
await prepare();
const { sqlCoveragePage } = await import(pathToFileURL(join(ROOT, 'dist/test/docs/sql-coverage.js')).href);
writeFileSync(join(ROOT, 'docs/sql-coverage.md'), sqlCoveragePage());
