import type { KnownProxy, RevocationPlan } from '@causeway/controllers';
import type { AuthorityAccess, DataplaneAccess, WorkloadAccess, ZoneAccess } from '@causeway/queries';
import type { DataplaneSources } from '@causeway/queries/testing';
import type { ProxySource, SyncDecisions, UserAccess } from '@causeway/queries/testing';
import type { Identity } from '@causeway/resources';
import { EAST_AUTHORITY } from '../support/certificates';

const issued = { id: 'id', issuedAt: 0, expiresAt: Date.parse('2030-01-01'), issuedBy: 'anna', revoked: false };

/** Lets everything happen, and nothing does. */
export const openZoneAccess: ZoneAccess = {
  issue: async ({ zone }) => ({ token: 'a.b.c', id: 'id', zone, scope: ['cp'], expiresAt: '2030-01-01T00:00:00Z' }),
  list: async () => [{ ...issued, facts: { zone: 'east', scope: ['cp'] } }],
  revoke: async () => [],
  rotate: async () => 2,
  authority: () => 'PEM',
  invites: {
    issue: async ({ zone }) => ({ token: 'a.b.c', id: 'id', zone, expiresAt: '2030-01-01T00:00:00Z' }),
    list: async () => [{ ...issued, facts: { zone: 'east' } }],
    revoke: async () => [],
    redeem: async () => ({ token: 'd.e.f', id: 'id', zone: 'east', scope: ['cp'], expiresAt: '2030-01-01T00:00:00Z' }),
  },
};

/** Takes every decision of a global and of a zone, and nothing comes of it. */
export const openSyncDecisions: SyncDecisions = {
  confirmZone: async () => ({ incarnation: 'life-2', since: 0 }),
  resetEpoch: async () => 7,
  adoptZone: async (zone, storeId = '') => ({ zone, storeId, formerly: 'store-1' }),
  confirmGlobal: async () => undefined,
};

/** Issues tokens that are never verified. */
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

/** Issues dataplane tokens that are never verified. */
export const openDataplaneAccess: DataplaneAccess = {
  issue: async ({ mesh }) => ({ token: 'a.b.c', id: 'id', expiresAt: '2030-01-01T00:00:00Z', mesh }),
  list: async () => [{ ...issued, facts: { mesh: 'default', name: 'redis-1', tags: { version: ['1'] } } }],
  revoke: async () => [],
  rotate: async () => 2,
};

/** Takes every order about machines that have joined, and nothing comes of it. */
export const openWorkloadAccess: WorkloadAccess = {
  zone: 'east',
  plan: async (dataplane) => endsNothing(dataplane),
  revoke: async (dataplane) => endsNothing(dataplane),
  confirm: async () => undefined,
};

/** Leases of agents: none. */
export const openAgentLeases: NonNullable<DataplaneSources['agentLeases']> = {
  page: async () => ({ total: 0, leases: [] }),
  survey: async () => ({ now: 0, total: 0, expired: [], expiredTotal: 0 }),
};

/** An authority at rest; orders are taken, and nothing comes of them. */
export const openAuthorityAccess: AuthorityAccess = {
  authority: {
    state: async () => ({
      signing: 'a1',
      authorities: [
        { id: 'a1', certificate: EAST_AUTHORITY, key: { keyId: 'k', nonce: '', sealed: '' }, longestValidity: 1 },
      ],
      step: { type: 'steady' },
    }),
  },
  requests: { getPending: async () => undefined, submit: async () => undefined },
  evidence: { gaps: async () => ({ missing: [], unheard: [] }) },
};

/** The proxies of a zone: one, of this Dataplane, with a fault of each sort. */
export function openProxies(name: string): ProxySource {
  const type = 'type.googleapis.com/envoy.config.listener.v3.Listener';
  const at = 1_760_000_000_000;
  const facts: KnownProxy['facts'] = {
    kind: 'dataplane',
    node: `default.${name}`,
    address: '10.0.0.1',
    userAgent: 'envoy 1.40.0',
    form: 'delta',
    since: at,
    streams: 1,
    isSettled: true,
    authorities: ['ab12'],
    owner: { kind: 'Dataplane', mesh: 'default', zone: 'east', namespace: 'default', name },
    types: [{ type, subscribed: 0, held: 2, responses: { sent: 3, acked: 2, rejected: 1 } }],
    certificate: { uri: 'spiffe://default.east.mesh.local/workload/web', end: at + 86_400_000 },
    rejected: [{ type, name: 'inbound:10.0.0.1:80', version: 'ab12', reason: 'no way', at }],
    refused: [{ type, name: 'inbound:10.0.0.1:81', reason: 'name: is too long' }],
  };
  const proxy = { proxy: `default/${name}`, connected: true, instance: 'east-1', revision: 7, lastSeen: at, facts };
  return { all: () => [proxy] };
}

function endsNothing(dataplane: Identity): RevocationPlan {
  const found = { services: [], tokens: [], newBundles: [] };
  return { dataplane, otherZones: 'informed', disconnectedZones: [], kumaZones: [], ...found };
}
