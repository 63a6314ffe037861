import type { SyncDecisions, UserAccess, ZoneAccess } from '@causeway/queries';

const issued = { id: 'id', issuedAt: 0, expiresAt: Date.parse('2030-01-01'), issuedBy: 'anna', revoked: false };

/** Lets everything happen, and nothing does. */
export const openZoneAccess: ZoneAccess = {
  issue: async ({ zone }) => ({ token: 'a.b.c', id: 'id', zone, scope: ['cp'], expiresAt: '2030-01-01T00:00:00Z' }),
  list: async () => [{ ...issued, facts: { zone: 'east', scope: ['cp'] } }],
  revoke: async () => [],
  rotate: async () => 2,
  authority: () => 'PEM',
};

/** Takes every decision of a global and of a zone, and nothing comes of it. */
export const openSyncDecisions: SyncDecisions = {
  confirmZone: async () => ({ incarnation: 'life-2', since: 0 }),
  resetEpoch: async () => 7,
  adoptZone: async (zone, storeId = '') => ({ zone, storeId, formerly: 'store-1' }),
  confirmGlobal: async () => undefined,
};

/** Issues tokens that nobody verifies. */
export const openUserAccess: UserAccess = {
  issue: async ({ name, groups = [] }) => ({
    token: 'a.b.c',
    id: 'id',
    name,
    groups,
    expiresAt: '2030-01-01T00:00:00Z',
  }),
  list: async () => [{ ...issued, facts: { name: 'anna', groups: ['dev'] } }],
  revoke: async () => [],
  rotate: async () => 2,
};
