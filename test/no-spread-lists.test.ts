import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { append, highest, lowest } from '../src/base/lists.js';

// Reads src and finds lists that are handed to a function as its arguments: each item lies on the stack, so that a list
// from outside of some ten thousand items ends the request with a full stack.

/** Lists whose length the program itself bounds. */
const ALLOWED: readonly { readonly file: string; readonly code: string; readonly reason: string }[] = [];

const SRC = fileURLToPath(new URL('../../src', import.meta.url));

interface Spread {
  readonly file: string;
  /** The line of source. */
  readonly code: string;
}

/** Calls of functions that take any number of arguments. */
const CALL = /(?:\.(?:push|unshift|splice|concat)|Math\.(?:max|min|hypot)|String\.from(?:CharCode|CodePoint)|(?:Array|Buffer)\.of)\(/g;

/** Whether one of the arguments behind `at` is spread: a `...` that stands in no bracket of its own. */
function spreadsArgument(text: string, at: number): boolean {
  let depth = 0;
  for (let index = at; index < text.length && depth >= 0; index++) {
    const char = text.charAt(index);
    if ('([{'.includes(char)) depth++;
    else if (')]}'.includes(char)) depth--;
    else if (depth === 0 && text.startsWith('...', index)) return true;
  }
  return false;
}

function spreadsOf(file: string, text: string): Spread[] {
  return [...text.matchAll(CALL)]
    .filter(({ index, 0: call }) => spreadsArgument(text, index + call.length))
    .map(({ index }) => ({
      file,
      code:
        text
          .slice(text.lastIndexOf('\n', index) + 1)
          .split('\n', 1)[0]
          ?.trim() ?? '',
    }));
}

const spreads = suite('lists as arguments');

const found = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && name !== join('base', 'lists.ts'))
  .flatMap((name) => spreadsOf(relative(SRC, join(SRC, name)), readFileSync(join(SRC, name), 'utf8')));

spreads('no list is spread into a call, so that none is too long for the stack', () => {
  const faults = found.filter(({ file, code }) => !ALLOWED.some((allowed) => allowed.file === file && allowed.code === code));
  assert.equal(
    faults.map(({ file, code }) => `src/${file}: ${code}; use append, highest or lowest of base/lists`),
    [],
  );
});

spreads('every allowance is in use', () => {
  const idle = ALLOWED.filter(({ file, code }) => !found.some((each) => each.file === file && each.code === code));
  assert.equal(idle, []);
});

for (const [text, count] of [
  ['list.push(...items);', 1],
  ['list.push(first, ...items.map((each) => each.name));', 1],
  ['Math.max(0,\n  ...counts)', 1],
  ['list.push({ ...item }, [...items]);', 0],
  ['list.push(of(...items));', 0],
  ['bar.append(list, items);', 0],
] as const) {
  spreads(`${JSON.stringify(text)} holds ${count}`, () => {
    assert.is(spreadsOf('a.ts', text).length, count);
  });
}

spreads('append, highest and lowest take a million items', () => {
  const items = Array.from({ length: 1_000_000 }, (_, index) => index);
  const list = [-1];
  append(list, items);
  assert.is(list.length, 1_000_001);
  assert.is(list.at(-1), 999_999);
  assert.equal([lowest(items), highest(items)], [0, 999_999]);
  assert.equal([lowest([]), highest([])], [Infinity, -Infinity]);
});

spreads.run();
