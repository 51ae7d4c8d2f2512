import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

interface LockedPackage {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const lock: { readonly packages: Readonly<Record<string, LockedPackage>> } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const packages = new Map(Object.entries(lock.packages));

/** Paths below which Node looks for the packages that `path` needs, nearest first. */
function searchPaths(path: string): string[] {
  const parts = path.split('/node_modules/');
  const above = parts.map((_, at) => parts.slice(0, parts.length - at).join('/node_modules/'));
  return [...above.filter((folder) => folder !== '').map((folder) => `${folder}/node_modules/`), 'node_modules/'];
}

test('the lock file has every package that a locked package needs, on every platform', () => {
  const absent: string[] = [];
  for (const [path, { dependencies, optionalDependencies }] of packages) {
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      if (!searchPaths(path).some((folder) => packages.has(`${folder}${name}`))) absent.push(`${path || 'package.json'} needs ${name}`);
    }
  }
  assert.equal(absent, []);
});

test('the lock file names a version of every package and no registry', () => {
  assert.equal(
    [...packages].filter(([, { version }]) => version === undefined).map(([path]) => path),
    [],
  );
  assert.not.match(readFileSync('package-lock.json', 'utf8'), /https?:\/\/[^"]*\.tgz/);
});

test.run();
