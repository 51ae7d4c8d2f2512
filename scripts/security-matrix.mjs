#!/usr/bin/env node
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { prepare } from './prepare.mjs';
import { ROOT } from './stamp.mjs';

// Writes the matrix of docs/security.md from the tables of routes.
await prepare();
const load = (path) => import(pathToFileURL(join(ROOT, 'dist/test', path)).href);
const [{ matrixOf, withMatrix }, { openSecuredHouse }] = await Promise.all([
  load('docs/security-matrix.js'),
  load('server/access/secured-house.js'),
]);
const house = await openSecuredHouse(31_600);
const page = join(ROOT, 'docs/security.md');
writeFileSync(page, withMatrix(readFileSync(page, 'utf8'), matrixOf(house.routesOf)));
await house.close();
process.exit(0);
