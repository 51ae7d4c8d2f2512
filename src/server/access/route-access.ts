// Checks what a route demands of the sender of a request.

import { own } from '../../base/names.js';
import { type Caller, demand } from '../../model/access/authorizer.js';
import { dataSource } from '../../model/access/resource.js';
import type { RouteAccess } from '../http.types.js';

/** @throws ServiceError `forbidden`; never for routes whose handlers find their resources themselves */
export function authorizeRoute(permission: RouteAccess, caller: Caller, parameters: Readonly<Record<string, string>>): void {
  switch (permission.access) {
    case 'resource':
      return demand(caller, [permission]);
    case 'dataSource':
      return demand(caller, [{ resource: dataSource(own(parameters, permission.parameter) ?? ''), action: permission.action }]);
    case 'public':
    case 'authenticated':
    case 'forwarded':
    case 'internal':
    case 'found':
  }
}
