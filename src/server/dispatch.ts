// Finds the route for a method and path.

import { BoundedCache } from '../base/bounded-cache.js';
import { assert, ServiceError } from '../base/errors.js';
import { createByName } from '../base/names.js';
import type { Route } from './http.types.js';

interface FoundRoute {
  readonly route: Route;
  readonly parameters: Readonly<Record<string, string>>;
}

const REMEMBERED_PATHS_MAX = 256;
const REMEMBERED_LENGTH_MAX = 256;

/**
 * Finds the route that answers a path. Placeholders: `{name}` takes one segment, `{name*}` as a last segment takes the
 * rest of the path, one segment at least, undecoded. A literal segment wins over `{name}`, that over `{name*}`.
 */
export class RouteTable {
  readonly #root = new Node();
  /** Routes found before, by method and path: few paths make up most requests. */
  readonly #found = new Map<string, BoundedCache<string, FoundRoute>>();

  constructor(routes: Iterable<Route>) {
    for (const route of routes) this.#add(route);
  }

  /**
   * @param path  percent-encoded, under `/svc`; a trailing slash makes no difference
   * @throws ServiceError `not_found`, `method_not_allowed` naming what is allowed, `input_invalid` for broken encoding
   */
  find(method: string, path: string): FoundRoute {
    const found = this.#found.get(method)?.find(path);
    if (found !== undefined) return found;
    const searched = this.#search(method, path);
    this.#remember(method, path, searched);
    return searched;
  }

  #search(method: string, path: string): FoundRoute {
    const segments = splitPath(path);
    const node = this.#root.find(segments, 0);
    if (node === undefined) throw new ServiceError('not_found', `no such path: ${path}`);
    const route = node.routes.get(method === 'HEAD' ? 'GET' : method);
    if (route === undefined) {
      throw new ServiceError('method_not_allowed', `${path} does not answer ${method}; it answers ${[...node.routes.keys()].join(', ')}`);
    }
    return { route, parameters: readParameters(route.path, segments) };
  }

  #remember(method: string, path: string, found: FoundRoute): void {
    if (path.length > REMEMBERED_LENGTH_MAX) return;
    const byPath = this.#found.get(method) ?? new BoundedCache<string, FoundRoute>(REMEMBERED_PATHS_MAX);
    this.#found.set(method, byPath);
    byPath.keep(path, found);
  }

  #add(route: Route): void {
    const node = splitPath(route.path).reduce((at, segment) => at.childFor(segment), this.#root);
    assert(!node.routes.has(route.method), `two routes for ${route.method} ${route.path}`);
    const other = node.routes.values().next().value;
    assert(other === undefined || other.path === route.path, `${route.path} and ${other?.path} differ in the names of placeholders only`);
    node.routes.set(route.method, route);
  }
}

class Node {
  readonly routes = new Map<string, Route>();
  readonly #literals = new Map<string, Node>();
  #placeholder: Node | undefined;
  #rest: Node | undefined;

  childFor(segment: string): Node {
    if (/^\{.+\*\}$/.test(segment)) return (this.#rest ??= new Node());
    if (/^\{.+\}$/.test(segment)) return (this.#placeholder ??= new Node());
    const known = this.#literals.get(segment);
    if (known !== undefined) return known;
    const made = new Node();
    this.#literals.set(segment, made);
    return made;
  }

  find(segments: readonly string[], at: number): Node | undefined {
    const segment = segments[at];
    if (segment === undefined) return this.routes.size > 0 ? this : undefined;
    return this.#literals.get(segment)?.find(segments, at + 1) ?? this.#placeholder?.find(segments, at + 1) ?? this.#rest;
  }
}

function splitPath(path: string): string[] {
  const end = path.length > 1 && path.endsWith('/') ? path.length - 1 : path.length;
  return path.slice(1, end).split('/');
}

function readParameters(pattern: string, segments: readonly string[]): Readonly<Record<string, string>> {
  if (!pattern.includes('{')) return NO_PARAMETERS;
  const parameters = createByName<string>();
  splitPath(pattern).forEach((segment, at) => {
    if (segment.endsWith('*}')) parameters[segment.slice(1, -2)] = segments.slice(at).join('/');
    else if (segment.startsWith('{')) parameters[segment.slice(1, -1)] = decodeSegment(segments[at] ?? '');
  });
  return parameters;
}

const NO_PARAMETERS: Readonly<Record<string, string>> = {};

export function decodeSegment(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new ServiceError('input_invalid', `path segment '${segment}' is not percent-encoded UTF-8`);
  }
}
