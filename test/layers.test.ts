import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

/** Who may import whom: a part imports from its own folder and from parts of a lower number. Equal numbers are strangers. */
const LAYERS: Readonly<Record<string, number>> = {
  'main.ts': 12,
  cli: 11,
  server: 10,
  cluster: 9,
  ingestion: 7,
  execution: 6,
  planner: 4,
  results: 4,
  storage: 4,
  expression: 3,
  kernels: 3,
  metadata: 3,
  sketch: 2,
  model: 2,
  configuration: 1,
  base: 0,
};

interface Import {
  readonly file: string;
  /** Path below `src`, or the bare specifier of a package. */
  readonly target: string;
  readonly isPackage: boolean;
  readonly typeOnly: boolean;
}

const SOURCE = fileURLToPath(new URL('../../src/', import.meta.url));
const FILES = readdirSync(SOURCE, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
  .map((entry) => relative(SOURCE, join(entry.parentPath, entry.name)))
  .sort();
const IMPORTS = FILES.flatMap(importsOf);

function importsOf(file: string): Import[] {
  const text = readFileSync(join(SOURCE, file), 'utf8')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/^\s*\/\/.*$/gm, '');
  const found: Import[] = [];
  const pattern = /(?:^|\n)\s*(?:import|export)\s+(type\s+)?(?:[\w*{}\s,$]+?\sfrom\s+)?'([^']+)'|\bimport\('([^']+)'\)/g;
  for (const [, type, specifier, dynamic] of text.matchAll(pattern)) {
    const target = specifier ?? dynamic ?? '';
    if (target.startsWith('node:')) continue;
    const isPackage = !target.startsWith('.');
    found.push({
      file,
      target: isPackage ? target : normalize(join(dirname(file), target)).replace(/\.js$/, '.ts'),
      isPackage,
      typeOnly: type !== undefined,
    });
  }
  return found;
}

const part = (path: string): string => path.split('/')[0] ?? '';
const packageName = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

const layers = suite('layers');

layers('modules and imports were seen', () => {
  assert.ok(FILES.length > 30, `only ${FILES.length} modules`);
  assert.ok(IMPORTS.filter(({ isPackage }) => !isPackage).length > FILES.length, 'hardly any imports');
});

layers('every part has a layer', () => {
  assert.equal(
    [...new Set(FILES.map(part))].filter((name) => !(name in LAYERS)),
    [],
  );
});

layers('imports point downwards', () => {
  const upward = IMPORTS.filter(({ file, target, isPackage }) => {
    if (isPackage || part(file) === part(target)) return false;
    return (LAYERS[part(target)] ?? 99) >= (LAYERS[part(file)] ?? -1);
  });
  assert.equal(
    upward.map(({ file, target }) => `${file} → ${target}`),
    [],
  );
});

layers('ARCHITECTURE.md lists the parts from the top layer down', () => {
  const page = readFileSync(join(SOURCE, '..', 'ARCHITECTURE.md'), 'utf8');
  const listed = [...page.matchAll(/^[├└]── ([\w.]+)/gm)].map(([, name = '']) => name);
  assert.equal([...listed].sort(), Object.keys(LAYERS).sort());
  const layersListed = listed.map((name) => LAYERS[name] ?? -1);
  assert.equal(
    layersListed,
    [...layersListed].sort((a, b) => b - a),
  );
});

layers('no files import each other in a circle, types included', () => {
  const circles = stronglyConnected(
    new Map(
      FILES.map((file) => [file, IMPORTS.filter((each) => each.file === file && !each.isPackage).map(({ target }) => target)] as const),
    ),
  );
  assert.equal(
    circles.map((circle) => circle.join(' ↔ ')),
    [],
  );
});

layers('no file has above 400 lines, no folder above 25 files', () => {
  const longest = FILES.filter((file) => readFileSync(join(SOURCE, file), 'utf8').split('\n').length > 401);
  const folders = FILES.map((file) => dirname(file));
  const fullest = new Set(folders.filter((folder) => folders.filter((each) => each === folder).length > 25));
  assert.equal([longest, [...fullest]], [[], []]);
});

layers('circles are found', () => {
  const graph = new Map([
    ['a', ['b']],
    ['b', ['c', 'd']],
    ['c', ['a']],
    ['d', ['d', 'e']],
    ['e', []],
  ]);
  assert.equal(stronglyConnected(graph), [['a', 'b', 'c']]);
});

/** Groups of two nodes and more, each of which leads to all others of its group (Tarjan). */
function stronglyConnected(graph: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  const order = new Map<string, number>();
  const stack: string[] = [];
  const groups: string[][] = [];
  const visit = (node: string): number => {
    const number = order.size;
    order.set(node, number);
    let low = number;
    stack.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!graph.has(next)) continue;
      if (!order.has(next)) low = Math.min(low, visit(next));
      else if (stack.includes(next)) low = Math.min(low, order.get(next) ?? low);
    }
    if (low === number) {
      const group = stack.splice(stack.indexOf(node));
      if (group.length > 1) groups.push(group.sort());
    }
    return low;
  };
  for (const node of graph.keys()) if (!order.has(node)) visit(node);
  return groups;
}

layers('a file imports a module once', () => {
  const repeated = FILES.flatMap((file) => {
    const specifiers = [...readFileSync(join(SOURCE, file), 'utf8').matchAll(/^import [^;]*? from '([^']+)';$/gm)].map(([, name]) => name);
    return specifiers.filter((name, at) => specifiers.indexOf(name) !== at).map((name) => `${file} → ${name}`);
  });
  assert.equal(repeated, []);
});

layers('private members are #names', () => {
  const keyword = /^\s+private (?!constructor\b)/m;
  assert.equal(
    FILES.filter((file) => keyword.test(readFileSync(join(SOURCE, file), 'utf8'))),
    [],
  );
});

layers('relative imports name files that exist', () => {
  const known = new Set(FILES);
  const absent = IMPORTS.filter(({ target, isPackage }) => !isPackage && !known.has(target) && !target.endsWith('.d.ts'));
  assert.equal(
    absent.map(({ file, target }) => `${file} → ${target}`),
    [],
  );
});

layers('roles meet only through cluster/rpc and contracts', () => {
  const roles = ['router', 'broker', 'historical', 'coordinator', 'overlord', 'middlemanager'];
  const roleOf = (path: string): string | undefined => roles.find((role) => path.startsWith(`cluster/${role}/`));
  const direct = IMPORTS.filter(({ file, target, typeOnly }) => {
    const [from, to] = [roleOf(file), roleOf(target)];
    return from !== undefined && to !== undefined && from !== to && !(typeOnly && target.endsWith('contract.ts'));
  });
  assert.equal(
    direct.map(({ file, target }) => `${file} → ${target}`),
    [],
  );
});

layers('routes ask a role to write: no file of server opens a metadata transaction', () => {
  const writing = FILES.filter((file) => part(file) === 'server').filter((file) =>
    /[tT]ransaction\(/.test(readFileSync(join(SOURCE, file), 'utf8')),
  );
  const fenced = IMPORTS.filter(({ file, target }) => part(file) === 'server' && target === 'metadata/leadership.ts');
  assert.equal([...writing, ...fenced.map(({ file }) => file)], []);
});

layers('a package is imported in one file', () => {
  const importers = new Map<string, Set<string>>();
  for (const { file, target, isPackage } of IMPORTS) {
    if (!isPackage) continue;
    const files = importers.get(packageName(target)) ?? new Set();
    importers.set(packageName(target), files.add(file));
  }
  const shared = [...importers].filter(([, files]) => files.size > 1).map(([name, files]) => `${name}: ${[...files].join(', ')}`);
  assert.equal(shared, []);
});

layers('every imported package is a dependency', () => {
  const manifest: { dependencies: Record<string, string> } = JSON.parse(
    readFileSync(fileURLToPath(new URL('../../package.json', import.meta.url)), 'utf8'),
  );
  const used = new Set(IMPORTS.filter(({ isPackage }) => isPackage).map(({ target }) => packageName(target)));
  const declared = new Set(Object.keys(manifest.dependencies));
  assert.equal(
    [...used].filter((name) => !declared.has(name)),
    [],
  );
});

layers.run();
