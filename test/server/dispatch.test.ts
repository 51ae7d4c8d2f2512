import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { RouteTable } from '../../src/server/dispatch.js';
import type { Route } from '../../src/server/http.types.js';

const dispatch = suite('dispatch');

function route(method: Route['method'], path: string): Route {
  return { method, path, permission: { access: 'public' }, errors: 'map', handle: async () => ({ status: 200 }) };
}

const TABLE = new RouteTable([
  route('GET', '/'),
  route('GET', '/a'),
  route('POST', '/a'),
  route('GET', '/a/{x}'),
  route('GET', '/a/fixed'),
  route('GET', '/a/fixed/{y}/end'),
  route('GET', '/a/{x}/tail'),
  route('GET', '/files/{path*}'),
  route('GET', '/files/readme'),
]);

const found = [
  { method: 'GET', path: '/', route: '/', parameters: {} },
  { method: 'GET', path: '//', route: '/', parameters: {} },
  { method: 'GET', path: '/a/', route: '/a', parameters: {} },
  { method: 'HEAD', path: '/a', route: '/a', parameters: {} },
  { method: 'GET', path: '/a/1', route: '/a/{x}', parameters: { x: '1' } },
  { method: 'GET', path: '/a/fixed', route: '/a/fixed', parameters: {} },
  { method: 'GET', path: '/a/fixed/tail', route: '/a/{x}/tail', parameters: { x: 'fixed' } },
  { method: 'GET', path: '/a/fixed/2/end', route: '/a/fixed/{y}/end', parameters: { y: '2' } },
  { method: 'GET', path: '/a/b%2Fc%20d', route: '/a/{x}', parameters: { x: 'b/c d' } },
  { method: 'GET', path: '/files/x/y%20z', route: '/files/{path*}', parameters: { path: 'x/y%20z' } },
  { method: 'GET', path: '/files/readme', route: '/files/readme', parameters: {} },
  { method: 'GET', path: '/files/readme/more', route: '/files/{path*}', parameters: { path: 'readme/more' } },
];
for (const { method, path, ...expected } of found) {
  dispatch(`${method} ${path}`, () => {
    const { route: chosen, parameters } = TABLE.find(method, path);
    assert.equal({ route: chosen.path, parameters: { ...parameters } }, expected);
  });
}

const refused = [
  { method: 'GET', path: '/b', code: 'not_found' },
  { method: 'GET', path: '/a/1/2', code: 'not_found' },
  { method: 'GET', path: '/files', code: 'not_found' },
  { method: 'PUT', path: '/a', code: 'method_not_allowed' },
  { method: 'PATCH', path: '/a/1', code: 'method_not_allowed' },
  { method: 'GET', path: '/a/%FF', code: 'input_invalid' },
] as const;
for (const { method, path, code } of refused) {
  dispatch(`${method} ${path} is ${code}`, () => {
    assert.throws(
      () => TABLE.find(method, path),
      (error: unknown) => error instanceof ServiceError && error.code === code,
    );
  });
}

dispatch('two routes for one request are a mistake of ours', () => {
  assert.throws(() => new RouteTable([route('GET', '/a/{x}'), route('GET', '/a/{x}')]), /two routes/);
  assert.throws(() => new RouteTable([route('GET', '/a/{x}'), route('POST', '/a/{y}')]), /placeholders/);
});

dispatch.run();
