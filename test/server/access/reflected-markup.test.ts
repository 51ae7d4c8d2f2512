import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Role } from '../../../src/configuration/properties.js';
import { ALLOW_ALL_CALLER } from '../../../src/model/access/authorizer.js';
import type { Route } from '../../../src/server/http.types.js';
import { BODIES } from '../routes/request-bodies.js';
import { openSecuredHouse } from './secured-house.js';

/**
 * Markup in every place of every route's requests (CVE-2021-44791 of the original): no answer is a document that a browser shows, and
 * no header is made of what was sent.
 */
const house = await openSecuredHouse(12_400);
const markup = suite('reflected markup');
markup.after(() => house.close());

const MARKS: readonly string[] = [
  ...[
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '"><svg onload=alert(1)>',
    "'><iframe src=javascript:alert(1)>",
    '<b>x</b>',
  ],
  ...[
    '</title><script>alert(1)</script>',
    '<!--',
    ']]><script>alert(1)</script>',
    '<?xml version="1.0"?>',
    '<!DOCTYPE html><html>',
    '<a href=//evil>x</a>',
  ],
  ...[
    'javascript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    '<math><mtext></table><mglyph><style>',
    '<object data=x>',
    '<base href=//evil>',
  ],
  ...[
    '<meta http-equiv=refresh content=0;url=//evil>',
    '<link rel=import href=//evil>',
    '<form action=//evil>',
    '<svg/onload=alert(1)//',
    '<x onclick=alert(1)>',
  ],
  ...[
    '\u2028<script>',
    '\ufeff<script>alert(1)</script>',
    '+ADw-script+AD4-alert(1)+ADw-/script+AD4-',
    '\uff1cscript\uff1e',
    '&lt;script&gt;',
    '%3Cscript%3E',
  ],
  ...[
    'x\r\nX-Injected: 1',
    'x\nSet-Cookie: a=b',
    'x\r\n\r\n<script>alert(1)</script>',
    'x\u560d\u560aX-Injected: 1',
    'x\u2029X-Injected: 1',
  ],
  ...[
    '\u0024{7*7}',
    '{{7*7}}',
    '<video><source onerror=alert(1)>',
    '<keygen autofocus onfocus=alert(1)>',
    '#{7*7}',
    '<%= 7*7 %>',
    '\u0024{jndi:ldap://evil/x}',
    '{{constructor.constructor("alert(1)")()}}',
    '`\u0024{alert(1)}`',
    '[[\u0024{7*7}]]',
  ],
  ...[
    '"-alert(1)-"',
    "';alert(1)//",
    '\\"><script>',
    '</script><script>alert(1)</script>',
    '<scr\0ipt>',
    '<ſcript>',
    'callback=alert',
    '<style>@import "//evil"',
    '*/alert(1)/*',
  ],
];
const QUERY_NAMES = ['x', 'full', 'interval', 'callback', 'type', 'offset', 'resultFormat', 'max', 'state'];
/** Types of answers that a browser shows as text, or hands to the program that asked. */
const SHOWN_AS_TEXT =
  /^(application\/json|text\/plain|text\/csv|application\/octet-stream|application\/x-google-protobuf|application\/x-ndjson|text\/tab-separated-values)\b/;

interface Probe {
  readonly role: Role;
  readonly route: Route;
  readonly path: string;
  readonly body: string | undefined;
}

/** The mark in each hole of the path, in a parameter of the query, and in the body or a template of it. */
function* probesOf(role: Role, route: Route): Generator<Probe> {
  const templates = BODIES[`${route.method} ${route.path}`] ?? [];
  for (const [index, mark] of MARKS.entries()) {
    const path = route.path.replaceAll(/\{[^}]+\}/g, () => encodeURIComponent(mark));
    const query = `?${QUERY_NAMES[index % QUERY_NAMES.length]}=${encodeURIComponent(mark)}&${encodeURIComponent(mark)}`;
    const template = templates[index % Math.max(1, templates.length)];
    const written =
      template === undefined
        ? JSON.stringify({ [mark]: mark })
        : JSON.stringify(template).replaceAll('NAME', JSON.stringify(mark).slice(1, -1));
    yield { role, route, path: path + query, body: route.method === 'GET' ? undefined : index % 3 === 0 ? mark : written };
  }
}

const routes = [...house.routesOf].flatMap(([role, each]) =>
  each.filter(({ permission }) => permission.access !== 'internal').map((route) => [role, route] as const),
);

markup(`${routes.length} routes, ${MARKS.length} marks each`, async () => {
  assert.ok(MARKS.length >= 50 && routes.length > 120, `${MARKS.length} ${routes.length}`);
  const faults: string[] = [];
  let asked = 0;
  let reflected = 0;
  for (const [role, route] of routes)
    for (const { path, body } of probesOf(role, route)) {
      const answer = await house.ask(ALLOW_ALL_CALLER, route.method, path, body, role);
      asked++;
      const type = answer.headers['Content-Type'] ?? answer.headers['content-type'] ?? '';
      if (answer.body !== '' && !SHOWN_AS_TEXT.test(type))
        faults.push(`${route.method} ${path}: ${answer.status} '${type}' ${answer.body.slice(0, 100)}`);
      for (const [name, value] of Object.entries(answer.headers))
        if (/[^\t\x20-\x7e]/.test(`${name}${value}`) || /[<>]/.test(name))
          faults.push(`${route.method} ${path}: header ${name}: ${JSON.stringify(value)}`);
      if (answer.body.includes('<')) reflected++;
    }
  assert.equal(faults.slice(0, 20), []);
  assert.ok(asked >= routes.length * 50 && reflected > 100, `${asked} requests, ${reflected} answers repeat a mark`);
});

markup('every answer on a socket says that its type is meant, and that nothing in it runs or is framed', async () => {
  for (const path of [
    '/status/health',
    '/%3Cscript%3E',
    '/svc/v2/sql/%3Cscript%3E',
    '/status/%3Cscript%3E?a=%3Cscript%3E',
    '/proxy/coordinator/%3Cscript%3E',
  ]) {
    const response = await fetch(house.urlOf('router') + path);
    await response.text();
    assert.is(response.headers.get('x-content-type-options'), 'nosniff', path);
    assert.match(response.headers.get('content-security-policy') ?? '', /default-src 'none'.*frame-ancestors 'none'/, path);
    assert.match(response.headers.get('content-type') ?? '', SHOWN_AS_TEXT, path);
  }
});

markup.run();
