// Remembers what a build was made from: a hash over its input files, kept beside the outputs in build/stamps.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
/** Folder of the bundled program. */
export const PROGRAM = join(ROOT, 'build', 'program');

/** Files below `paths` (files or folders, relative to the root) that `wanted` accepts, sorted; absent paths count as empty. */
export function filesBelow(paths, wanted = () => true) {
  const found = [];
  const visit = (path) => {
    if (statSync(path).isDirectory()) for (const name of readdirSync(path)) visit(join(path, name));
    else if (wanted(path)) found.push(relative(ROOT, path));
  };
  for (const path of paths) if (existsSync(join(ROOT, path))) visit(join(ROOT, path));
  return found.sort();
}

export function hashFiles(paths, wanted) {
  const hash = createHash('sha256');
  for (const path of filesBelow(paths, wanted)) {
    const content = readFileSync(join(ROOT, path));
    hash.update(`${path}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

const stampFile = (name) => join(ROOT, 'build', 'stamps', name);

export function readStamp(name) {
  return existsSync(stampFile(name)) ? readFileSync(stampFile(name), 'utf8') : undefined;
}

export function writeStamp(name, hash) {
  mkdirSync(dirname(stampFile(name)), { recursive: true });
  writeFileSync(stampFile(name), hash);
}

export function dropStamp(name) {
  rmSync(stampFile(name), { force: true });
}
