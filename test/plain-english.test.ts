import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

// Reads the source: a stranger who opens a file learns from its first line what it is for, and comments begin with the thing
// that they describe rather than with a riddle about it.

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FOLDERS = ['src', 'test', 'bench', 'scripts', 'assembly'];
/** First words of sentences that do not name their thing: `By set.`, `What a lease found`. */
const RIDDLES = /^(?:What|Of|Whose|By|As|Where|That|Those|Which|How) /;

function filesBelow(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return filesBelow(path);
    return /\.(?:ts|mjs)$/.test(name) ? [path] : [];
  });
}

interface Opening {
  readonly line: number;
  readonly text: string;
}

/** First lines of the comments of a file, without their marks. */
function commentOpenings(source: string): Opening[] {
  const lines = source.split('\n').map((line) => line.trim());
  return lines.flatMap((line, index) => {
    const before = lines[index - 1] ?? '';
    const isFirst = line.startsWith('/*') || (line.startsWith('// ') && !before.startsWith('//')) || /^\/\*\*?$/.test(before);
    const text = /^(?:\/\*\*?|\/\/|\*) (.*)$/.exec(line)?.[1];
    return isFirst && text !== undefined ? [{ line: index + 1, text }] : [];
  });
}

function beginsWithSentence(source: string): boolean {
  return /^(?:\/\/ \S|\/\*\*? \S|\/\*\*?\n \* \S)/.test(source);
}

const english = suite('plain English');

const FILES = FOLDERS.map((folder) => join(ROOT, folder))
  .filter((folder) => existsSync(folder))
  .flatMap(filesBelow)
  .map((path) => ({ file: relative(ROOT, path), source: readFileSync(path, 'utf8') }));

english('every file of src opens with a comment that says what it is for', () => {
  const silent = FILES.filter(({ file, source }) => file.startsWith('src') && !beginsWithSentence(source));
  assert.equal(
    silent.map(({ file }) => file),
    [],
    'begin these with a line such as `// Reads the filters of native queries.`',
  );
});

english('comments begin with the thing they describe', () => {
  const found = FILES.flatMap(({ file, source }) =>
    commentOpenings(source).flatMap(({ line, text }) => (RIDDLES.test(text) ? [`${file}:${line}: ${text}`] : [])),
  );
  assert.equal(found, []);
});

english('openings are found in comments of every form', () => {
  const source = [
    'const a = 1; // By name.',
    '/** One. */',
    '/**',
    ' * Two,',
    ' * By three.',
    ' */',
    '  // Four,',
    '  // By five.',
    '/*',
    ' * Six.',
    ' */',
  ].join('\n');
  assert.equal(
    commentOpenings(source).map(({ text }) => text),
    ['One. */', 'Two,', 'Four,', 'Six.'],
  );
});

english.run();
