// Routes that every process answers about the users and roles that it knows.

import type { Route } from '../../http.types.js';
import { json, route } from '../exchange.js';
import { SECURITY_READ, SECURITY_WRITE, type SecuritySource } from './security-source.js';

export type LoadStatusSource = Pick<SecuritySource, 'directory' | 'iterations' | 'authorizers' | 'refreshAll'>;

/** Path of the hint that something has changed. */
export const CHANGED_PATH = '/internal/v1/access/changed';

export function loadStatusRoutes({ directory, iterations, authorizers, refreshAll }: LoadStatusSource): readonly Route[] {
  const parts = [
    ['authentication', [...iterations.keys()]],
    ['authorization', authorizers],
  ] as const;
  return [
    ...parts.flatMap(([part, names]) => [
      route('GET', `/svc-ext/basic-security/${part}/loadStatus`, SECURITY_READ, async () =>
        json(200, Object.fromEntries(names.map((name) => [name, directory.isLoaded]))),
      ),
      route('GET', `/svc-ext/basic-security/${part}/refreshAll`, SECURITY_WRITE, async () => {
        await refreshAll();
        return { status: 200 };
      }),
    ]),
    {
      method: 'POST',
      path: CHANGED_PATH,
      permission: { access: 'internal' },
      errors: 'map',
      async handle() {
        await directory.refresh();
        return { status: 200 };
      },
    },
  ];
}
