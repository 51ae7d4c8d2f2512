#!/usr/bin/env node
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { prepare } from './prepare.mjs';
import { ROOT } from './stamp.mjs';

// Writes docs/native-coverage.md from what the compiled planner says to each documented name.
await prepare();
const { coveragePage } = await import(pathToFileURL(join(ROOT, 'dist/test/docs/native-coverage.js')).href);
writeFileSync(join(ROOT, 'docs/native-coverage.md'), coveragePage());
