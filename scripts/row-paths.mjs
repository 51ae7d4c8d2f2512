#!/usr/bin/env node
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { prepare } from './prepare.mjs';
import { ROOT } from './stamp.mjs';

// Writes docs/row-paths.md from what the profile says when each function of the bench is run.
await prepare();
const { rowPaths, rowPathsPage } = await import(pathToFileURL(join(ROOT, 'dist/test/docs/row-paths.js')).href);
writeFileSync(join(ROOT, 'docs/row-paths.md'), rowPathsPage(await rowPaths()));
