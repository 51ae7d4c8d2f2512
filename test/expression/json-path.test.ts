import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { findAtPath, type Path, parseJqPath, parseJsonPath, printJsonPath } from '../../src/expression/json-path.js';

const field = (name: string) => ({ kind: 'field', name }) as const;
const element = (index: number) => ({ kind: 'element', index }) as const;

const paths = suite('paths into JSON');

const jsonPaths: readonly [text: string, path: Path][] = [
  ['$', []],
  ['$.', []],
  ['$.x', [field('x')]],
  ["$['y']", [field('y')]],
  ['$["y"]', [field('y')]],
  ['$.y[1]', [field('y'), element(1)]],
  ['$.y[-1]', [field('y'), element(-1)]],
  ['$[0][2].z', [element(0), element(2), field('z')]],
  ["$['a.b'].c d", [field('a.b'), field('c d')]],
  ["$['it\\'s']", [field("it's")]],
];
for (const [text, path] of jsonPaths) paths(text, () => assert.equal(parseJsonPath(text), path));

const jqPaths: readonly [text: string, path: Path][] = [
  ['.', []],
  ['.x', [field('x')]],
  ['.x.y[1]', [field('x'), field('y'), element(1)]],
  ['."a b"[0]', [field('a b'), element(0)]],
  ['.["a b"].c?', [field('a b'), field('c')]],
  ['.[3]', [element(3)]],
];
for (const [text, path] of jqPaths) paths(text, () => assert.equal(parseJqPath(text), path));

const refused: readonly [parse: (text: string) => Path, text: string, message: RegExp][] = [
  [parseJsonPath, 'x', /column 1; expected "\$"/],
  [parseJsonPath, '', /found the end at column 1/],
  [parseJsonPath, '$..x', /found "..x" at column 2/],
  [parseJsonPath, '$.x[*]', /found "\[\*\]" at column 4/],
  [parseJsonPath, "$['x'", /column 2/],
  [parseJsonPath, '$[99999999999]', /column 2/],
  [parseJsonPath, `$${'[0]'.repeat(501)}`, /more than 500 parts/],
  [parseJqPath, '$.x', /column 1; expected "\."/],
  [parseJqPath, '.x | .y', /column 3/],
];
for (const [parse, text, message] of refused)
  paths(`refuses ${text.slice(0, 20)}`, () => {
    assert.throws(
      () => parse(text),
      (error: unknown) => error instanceof ServiceError && error.code === 'query_invalid' && message.test(error.message),
    );
  });

paths('printing and parsing are inverse', () => {
  const part = fc.oneof(fc.string({ minLength: 1 }).map(field), fc.integer({ min: -9, max: 9 }).map(element));
  fc.assert(fc.property(fc.array(part, { maxLength: 6 }), (path) => assert.equal(parseJsonPath(printJsonPath(path)), path)));
});

paths('finds what lies at a path, and nothing of prototypes', () => {
  const data: unknown = JSON.parse('{"x": 1, "y": [1, 2, {"z": null}], "__proto__": 5}');
  const found = (text: string): unknown => findAtPath(data, parseJsonPath(text));
  assert.is(found('$.x'), 1);
  assert.is(found('$.y[1]'), 2);
  assert.equal(found('$.y[-1]'), { z: null });
  assert.is(found('$.y[2].z'), null);
  assert.is(found('$.y[9]'), undefined);
  assert.is(found('$.y.x'), undefined);
  assert.is(found('$.x.x'), undefined);
  assert.is(found('$.__proto__'), 5);
  assert.is(found('$.constructor'), undefined);
  assert.is(found('$.y.length'), undefined);
});

paths.run();
