// Chooses how members and leaders are kept, by the metadata store.

import type { Configuration } from '../../configuration/configuration.js';
import type { Database } from '../../metadata/database.js';
import type { MetadataSettings } from '../../metadata/open-database.js';
import type { Coordination } from './coordination.js';
import { type MembershipStore, membershipOver } from './membership-store.js';
import { PostgresqlMembership } from './postgresql-store.js';
import { StoredCoordination } from './stored.js';

export function openMembership(settings: MetadataSettings, database: Database): MembershipStore {
  return settings.type === 'sqlite' ? membershipOver(database, Date.now) : new PostgresqlMembership(settings.postgresql, database);
}

/** Beats of a leader in the time of its lease. */
const BEATS_PER_LEASE = 4;

export function openCoordination(
  configuration: Configuration,
  { settings, database, session }: { readonly settings: MetadataSettings; readonly database: Database; readonly session: string },
  onError: (error: unknown) => void,
): Coordination {
  const heartbeatMs = configuration.get('svc.coordination.heartbeat');
  const leaseMs = configuration.get(settings.type === 'sqlite' ? 'svc.coordination.expiry' : 'svc.coordination.leaderExpiry');
  return new StoredCoordination({
    store: openMembership(settings, database),
    session,
    heartbeatMs: settings.type === 'sqlite' ? heartbeatMs : Math.min(heartbeatMs, Math.ceil(leaseMs / BEATS_PER_LEASE)),
    expiryMs: configuration.get('svc.coordination.expiry'),
    leaseMs,
    pulse: { settings, stallMs: configuration.get('svc.coordination.stallLimit') },
    onError,
  });
}
