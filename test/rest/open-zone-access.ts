import type { ZoneAccess } from '@causeway/rest';

/** Lets everything happen, and nothing does. */
export const openZoneAccess: ZoneAccess = {
  issue: async ({ zone }) => ({ token: 'a.b.c', id: 'id', zone, scope: ['cp'], expiresAt: '2030-01-01T00:00:00Z' }),
  revoke: async () => undefined,
  rotate: async () => 2,
  authority: () => 'PEM',
};
