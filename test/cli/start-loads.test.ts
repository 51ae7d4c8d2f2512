import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

/** Modules and libraries loaded before anything else can begin: each of them is part of every start. */
const SOURCE = fileURLToPath(new URL('../../src/', import.meta.url));

const cases = [
  { begins: 'main.js', before: 'a command is known', modulesMax: 20, packages: ['commander'] },
  {
    begins: 'cli/start.js',
    before: 'threads verify segments',
    modulesMax: 134,
    packages: ['@assemblyscript/loader', 'picocolors', 'properties-file'],
  },
  {
    begins: 'execution/threads/worker.js',
    before: 'a thread verifies its first segment',
    modulesMax: 81,
    packages: ['@assemblyscript/loader'],
  },
  {
    begins: 'cli/open-roles.js',
    before: 'the roles can be opened',
    modulesMax: Infinity,
    packages: ['@assemblyscript/loader', '@bufbuild/protobuf/wire', 'sqlite3'],
  },
  { begins: 'server/role-servers.js', before: 'a port can be opened', modulesMax: 30, packages: [] },
  {
    begins: 'cluster/middlemanager/task-main.js',
    before: 'a task can begin',
    modulesMax: Infinity,
    packages: ['@assemblyscript/loader'],
  },
] as const;

/** Files and packages that a compiled module imports, and they, and so on; not those that are imported by a call. */
function reachedFrom(file: string): { readonly files: ReadonlySet<string>; readonly packages: ReadonlySet<string> } {
  const files = new Set<string>();
  const packages = new Set<string>();
  const left = [join(SOURCE, file)];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (files.has(next)) continue;
    files.add(next);
    for (const [, from, alone] of readFileSync(next, 'utf8').matchAll(
      /^(?:import|export)\s[^;'"]*?from\s+'([^']+)'|^import\s+'([^']+)'/gm,
    )) {
      const specifier = from ?? alone ?? '';
      if (specifier.startsWith('.')) left.push(join(dirname(next), specifier));
      else if (!specifier.startsWith('node:')) packages.add(specifier);
    }
  }
  return { files: new Set([...files].map((path) => relative(SOURCE, path))), packages };
}

const loads = suite('what a start loads');

for (const { begins, before, modulesMax, packages } of cases) {
  loads(`before ${before}`, () => {
    const reached = reachedFrom(begins);
    assert.ok(reached.files.size <= modulesMax, `${reached.files.size} modules: ${[...reached.files].join(' ')}`);
    assert.equal([...reached.packages].sort(), [...packages]);
  });
}

loads('the bundled program finds the SQL parser in one file', () => {
  const program = fileURLToPath(new URL('../../../build/program/', import.meta.url));
  assert.is(createRequire(join(program, 'main.js')).resolve('sql-parser-cst'), join(program, 'node_modules', 'sql-parser-cst', 'index.js'));
});

const READY = /^ready /m;
/** Prints the CommonJS modules of the process when it ends. */
const TELL = `import { createRequire } from 'node:module';
import { isMainThread } from 'node:worker_threads';
if (isMainThread) process.on('exit', () => process.stdout.write('loaded ' + JSON.stringify(Object.keys(createRequire('/').cache)) + '\\n'));`;

loads('by a process that opened all roles: no library that only some requests need', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'dolmen-loads-'));
  const flags = ['--data-dir', dataDir, '--port-offset', '13700', '--no-sample'];
  const preload = `data:text/javascript,${encodeURIComponent(TELL)}`;
  const child = spawn(process.execPath, ['--import', preload, join(SOURCE, 'main.js'), 'start', ...flags]);
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const wasReady = READY.test(printed);
    printed += text;
    if (!wasReady && READY.test(printed)) child.kill('SIGTERM');
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  try {
    assert.is(await new Promise((resolve) => child.once('close', resolve)), 0, printed.slice(0, 1000));
    const files = JSON.parse(/^loaded (.*)$/m.exec(printed)?.[1] ?? '[]') as string[];
    const libraries = new Set(files.map((file) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? file));
    for (const needed of ['sql-parser-cst']) assert.ok(libraries.has(needed), `${needed} is among ${[...libraries]}`);
    for (const other of ['@js-joda/core', '@js-joda/timezone', 'lossless-json', 're2js', 'roaring', 'undici', 'zstd-napi']) {
      const found = files.filter(
        (file) => file.includes(`/node_modules/${other}/`) && !file.endsWith('/binding.js') && !file.endsWith('.node'),
      );
      assert.equal(found, [], other);
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});

loads.run();
