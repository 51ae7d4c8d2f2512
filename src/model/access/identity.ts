// Who sent a request.

/** Who sent a request, as an authenticator found it. */
export interface Identity {
  readonly user: string;
  /** Name of the authenticator that recognised the user. */
  readonly authenticator: string;
  /** Name of the authorizer that decides for this user. */
  readonly authorizer: string;
  /** Groups of the directory that the user is in, as the directory names them. */
  readonly groups: readonly string[];
}

export const ALLOW_ALL = 'allowAll';

/** The sender of a request to a cluster without authenticators. */
export const ALLOW_ALL_IDENTITY: Identity = { user: ALLOW_ALL, authenticator: ALLOW_ALL, authorizer: ALLOW_ALL, groups: [] };
