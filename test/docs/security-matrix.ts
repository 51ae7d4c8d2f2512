import type { Role } from '../../src/configuration/properties.js';
import type { Action } from '../../src/model/access/resource.js';
import type { FoundBy, Route } from '../../src/server/http.types.js';

/** Kinds of senders that every route is asked by; the readers' permissions are those of `permissionsOf`. */
export const SENDERS = ['none', 'wrong password', 'no role', 'datasource reader', 'state reader', 'admin'] as const;
export type Sender = (typeof SENDERS)[number];

/** 401: not recognised; 403: not allowed; ok: answered, each with what the sender may see. */
export type Outcome = '401' | '403' | 'ok';

/** The datasource that the reader may read; requests of the matrix are about it. */
export const OPEN = 'wiki';

export interface MatrixRow {
  readonly role: Role;
  readonly route: Route;
  readonly right: string;
  readonly outcomes: Readonly<Record<Sender, Outcome>>;
}

/** Who of the recognised senders is answered by handlers that find their resources. */
const FOUND: Readonly<Record<FoundBy, (action: Action) => readonly Sender[]>> = {
  list: () => ['no role', 'datasource reader', 'state reader', 'admin'],
  query: () => ['datasource reader', 'admin'],
  task: (action) => (action === 'READ' ? ['datasource reader', 'admin'] : ['admin']),
  submittedTask: () => ['admin'],
  supervisor: (action) => (action === 'READ' ? ['datasource reader', 'admin'] : ['admin']),
  owner: (action) => (action === 'READ' ? ['state reader', 'admin'] : ['admin']),
};

const RIGHTS: Readonly<Record<FoundBy, string>> = {
  list: 'entries that the reader may see',
  query: 'READ of what the query reads',
  task: "of the task's datasource",
  submittedTask: 'WRITE of the datasource, READ of what is read',
  supervisor: "of the supervisor's datasource",
  owner: 'own, or of STATE',
};

/** Routes that say nothing of what they find: their answer is the same whether or not there is something to be refused. */
const SILENT: ReadonlySet<string> = new Set([
  // An unknown id is accepted or not found, whoever sends it.
  'DELETE /svc/v2/{id}',
  'DELETE /svc/v2/sql/{sqlQueryId}',
  'GET /svc/v2/profile/{queryId}',
  // An unknown supervisor is not found, whoever asks.
  ...['', '/status', '/health', '/stats', '/parseErrors'].map((rest) => `GET /svc/indexer/v1/supervisor/{supervisorId}${rest}`),
  ...['suspend', 'resume', 'terminate', 'shutdown', 'reset', 'resetOffsets', 'taskGroups/handoff'].map(
    (verb) => `POST /svc/indexer/v1/supervisor/{supervisorId}/${verb}`,
  ),
  // Segments of tasks are listed only where that is configured.
  'GET /svc/indexer/v1/task/{taskId}/segments',
]);

/** JDBC has a shape of errors of its own, whose status is always 500; credentials may come in the body. */
const isJdbc = ({ path }: Route): boolean => path.startsWith('/svc/v2/sql/avatica');

function outcomesOf(route: Route): Readonly<Record<Sender, Outcome>> {
  const { permission } = route;
  const action: Action = route.method === 'GET' ? 'READ' : 'WRITE';
  const allowed = (senders: readonly Sender[]) => (sender: Sender) => senders.includes(sender);
  const isAnswered = ((): ((sender: Sender) => boolean) => {
    switch (permission.access) {
      case 'public':
        return () => true;
      case 'authenticated':
        return allowed(['no role', 'datasource reader', 'state reader', 'admin']);
      case 'internal':
      case 'forwarded':
        return () => false;
      case 'resource': {
        const isState = permission.resource.type === 'STATE' && permission.action === 'READ';
        return allowed(isState ? ['state reader', 'admin'] : ['admin']);
      }
      case 'dataSource':
        return allowed(permission.action === 'READ' ? ['datasource reader', 'admin'] : ['admin']);
      case 'found':
        return allowed(SILENT.has(`${route.method} ${route.path}`) ? FOUND.list(action) : FOUND[permission.finds](action));
    }
  })();
  const isPublic = permission.access === 'public';
  return Object.fromEntries(
    SENDERS.map((sender) => {
      if (isAnswered(sender)) return [sender, 'ok'];
      return [sender, !isPublic && (sender === 'none' || sender === 'wrong password') ? '401' : '403'];
    }),
  ) as Record<Sender, Outcome>;
}

function rightOf({ permission, method }: Route): string {
  switch (permission.access) {
    case 'public':
      return 'none';
    case 'authenticated':
      return 'any user';
    case 'internal':
    case 'forwarded':
      return permission.access;
    case 'resource':
      return `${permission.action} ${permission.resource.type} ${permission.resource.name}`;
    case 'dataSource':
      return `${permission.action} DATASOURCE of the path`;
    case 'found':
      return permission.finds === 'task' || permission.finds === 'owner'
        ? `${method === 'GET' ? 'READ' : 'WRITE'}, ${RIGHTS[permission.finds]}`
        : RIGHTS[permission.finds];
  }
}

/** One row for each route of each role, without those that only forward, and without internal ones. */
export function matrixOf(routesOf: ReadonlyMap<Role, readonly Route[]>): readonly MatrixRow[] {
  const met = new Set<string>();
  return [...routesOf].flatMap(([role, routes]) =>
    routes.flatMap((route): MatrixRow[] => {
      const key = `${route.method} ${route.path}`;
      if (route.permission.access === 'internal' || route.permission.access === 'forwarded' || isJdbc(route) || met.has(key)) return [];
      met.add(key);
      return [{ role, route, right: rightOf(route), outcomes: outcomesOf(route) }];
    }),
  );
}

export const MATRIX_BEGINS = '<!-- matrix: written by scripts/security-matrix.mjs -->';
export const MATRIX_ENDS = '<!-- end of matrix -->';

/** The page with the matrix of these routes in its place. */
export function withMatrix(page: string, rows: readonly MatrixRow[]): string {
  const begin = page.indexOf(MATRIX_BEGINS) + MATRIX_BEGINS.length;
  const table = [
    `| route | right | ${SENDERS.join(' | ')} |`,
    `|---|---|${SENDERS.map(() => '---').join('|')}|`,
    ...rows
      .map(
        ({ route, right, outcomes }) =>
          `| \`${route.method} ${route.path}\` | ${right} | ${SENDERS.map((each) => outcomes[each]).join(' | ')} |`,
      )
      .sort(),
  ];
  return `${page.slice(0, begin)}\n\n${table.join('\n')}\n\n${page.slice(page.indexOf(MATRIX_ENDS))}`;
}
