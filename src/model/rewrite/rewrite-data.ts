// Rewrites plain data, such as plans, innermost parts first.

import { own } from '../../base/names.js';

/**
 * Plain data of plans and row sources with `change` made of every object in it, innermost first. What has nothing to
 * change is given back as it is.
 */
export function rewriteData<Data>(data: Data, change: (object: object) => object): Data {
  // It is rebuilt with the same shape, which TypeScript does not see.
  return rewrite(data, change) as Data;
}

function rewrite(data: unknown, change: (object: object) => object): unknown {
  if (typeof data !== 'object' || data === null || ArrayBuffer.isView(data)) return data;
  if (Array.isArray(data)) {
    // Lists of plain values, which may be long, hold no objects.
    const first: unknown = data.find((each) => each !== null);
    if (typeof first !== 'object') return data;
    let elements: unknown[] | undefined;
    for (let index = 0; index < data.length; index++) {
      const each = data[index];
      const rewritten = rewrite(each, change);
      if (rewritten !== each) (elements ??= [...data])[index] = rewritten;
    }
    return elements ?? data;
  }
  // Rows, which may be very many and whose columns may be made when they are read, hold no parts of plans.
  if ('kind' in data && data.kind === 'inline') return change(data);
  // Nothing is copied before something in it has changed: mostly nothing has.
  let fields: Map<string, unknown> | undefined;
  const names = Object.keys(data);
  for (let index = 0; index < names.length; index++) {
    const name = names[index] ?? '';
    const value = own(data as Readonly<Record<string, unknown>>, name);
    if (typeof value !== 'object') continue;
    const rewritten = rewrite(value, change);
    if (rewritten === value) continue;
    fields ??= new Map(Object.entries(data));
    fields.set(name, rewritten);
  }
  return change(fields === undefined ? data : Object.fromEntries(fields));
}
