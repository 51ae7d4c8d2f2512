// Resources that requests act on, and what they may do there.

/** Kinds of resources. `VIEW` exists for the permissions of clients that know it; there are no views. */
export const RESOURCE_TYPES = ['DATASOURCE', 'VIEW', 'CONFIG', 'STATE', 'SYSTEM_TABLE', 'QUERY_CONTEXT', 'EXTERNAL'] as const;
export type ResourceType = (typeof RESOURCE_TYPES)[number];

export const ACTIONS = ['READ', 'WRITE'] as const;
/** WRITE does not include READ. */
export type Action = (typeof ACTIONS)[number];

/** A resource by its name as it is, not a pattern. */
export interface Resource {
  readonly type: ResourceType;
  readonly name: string;
}

export interface ResourceAction {
  readonly resource: Resource;
  readonly action: Action;
  /** Resource that is asked for in its place without `svc.auth.enableInputSourceSecurity`; null: none. */
  readonly unlessSecured?: Resource | null;
}

export const STATE: Resource = { type: 'STATE', name: 'STATE' };
export const CONFIG: Resource = { type: 'CONFIG', name: 'CONFIG' };
/** Users, roles and permissions. */
export const SECURITY: Resource = { type: 'CONFIG', name: 'security' };
/** Rows from outside of the cluster, whatever they are read from. */
export const EXTERNAL: Resource = { type: 'EXTERNAL', name: 'EXTERNAL' };

/** Rows from outside by the type of their input source, or of the place that they are exported to. */
export function externalOf(type: string): Resource {
  return { type: 'EXTERNAL', name: type };
}

export function dataSource(name: string): Resource {
  return { type: 'DATASOURCE', name };
}
