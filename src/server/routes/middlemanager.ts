// Routes of the MiddleManager.

import type { MiddleManager } from '../../cluster/middlemanager/middle-manager.js';
import { decodeSegment } from '../dispatch.js';
import type { Route } from '../http.types.js';
import { CONFIG_WRITE, json, readOffset, route, STATE_READ, STATE_WRITE, text } from './exchange.js';

/** @param host  `host:port` of the middle manager, under which its answers are filed */
export function middleManagerRoutes(worker: MiddleManager, host: string): readonly Route[] {
  return [
    route('GET', '/svc/worker/v1/enabled', STATE_READ, async () => json(200, { [host]: worker.enabled })),
    route('GET', '/svc/worker/v1/tasks', STATE_READ, async () => json(200, worker.runningTasks())),
    route('GET', '/svc/worker/v1/task/{taskId}/log', STATE_READ, (request, { taskId = '' }) =>
      text(worker.readLog(taskId, readOffset(request))),
    ),
    route('POST', '/svc/worker/v1/task/{taskId}/shutdown', STATE_WRITE, async (_request, { taskId = '' }) => {
      await worker.shutdownTask(taskId);
      return json(200, { task: taskId });
    }),
    ...(['GET', 'POST'] as const).map((method) =>
      route(
        method,
        '/svc/worker/v1/chat/{taskId}/{path*}',
        method === 'GET' ? STATE_READ : STATE_WRITE,
        async (request, { taskId = '', path = '' }) => {
          const segments = path.split('/').map(decodeSegment);
          const query = new Map(request.query);
          return json(200, await worker.chat(taskId, { method, path: segments, query, body: request.body.toString() }));
        },
      ),
    ),
    route('POST', '/svc/worker/v1/disable', CONFIG_WRITE, async () => {
      worker.setEnabled(false);
      return json(200, { [host]: 'disabled' });
    }),
    route('POST', '/svc/worker/v1/enable', CONFIG_WRITE, async () => {
      worker.setEnabled(true);
      return json(200, { [host]: 'enabled' });
    }),
  ];
}
