import {
  expiringTokensMetric,
  QUERIES,
  serverCertificateMetrics,
  SharedTelemetry,
  syncMetrics,
  validityMetrics,
  readValidity,
  watchMetrics,
  type ControlPlaneCore,
  type SyncReports,
} from '@causeway/control-plane';
import type { LeaseReaper } from '@causeway/controllers';
import { DNS_SERVER } from '@causeway/dns';
import { injectFrom, type Injection } from '@causeway/runtime';
import type { Metric, TelemetryOptions } from '@causeway/telemetry';
import { XdsPort } from '@causeway/agent-service';
import type { ZoneSettings } from './config';
import { DATAPLANE_TOKENS, ZONE_PROXY_TOKENS } from './identity/workload-identity.module';
import { ZoneLeader } from './leader/zone-leader.module';
import type { ZoneToken } from './global/zone-token';

const SOURCES = {
  shared: SharedTelemetry,
  queries: QUERIES,
  leader: ZoneLeader,
  dns: DNS_SERVER,
  xds: XdsPort,
  dataplanes: DATAPLANE_TOKENS,
  zoneProxies: ZONE_PROXY_TOKENS,
};

/** Returns the telemetry options of a zone: the shared ones, addresses, sync and DNS. */
export function zoneTelemetry(
  { clock, cp, settings }: ControlPlaneCore<ZoneSettings>,
  token: Pick<ZoneToken, 'fault' | 'validity'> | undefined,
): Injection<TelemetryOptions> {
  return injectFrom(SOURCES, ({ shared, queries, leader, dns, xds, dataplanes, zoneProxies }) => {
    const base = shared.options();
    const reports = (): SyncReports => new Map([[settings.CAUSEWAY_ZONE_NAME, leader.session()?.kinds ?? []]]);
    const metrics = [
      ...zoneMetrics(leader, cp.role === 'zone' && cp.federated),
      ...syncMetrics(reports, clock),
      ...dns.metrics(),
      ...xds.metrics(),
      ...serverCertificateMetrics(() => [...shared.listeners(), { name: 'xDS', certificates: () => xds.certificates }]),
      ...validityMetrics({ name: 'zone_token', what: 'the token that the zone shows its global' }, () => [
        { labels: {}, validity: token?.validity },
      ]),
      expiringTokensMetric({ use: 'dataplane', holders: 'Dataplanes' }, () => dataplanes.expiring()),
      expiringTokensMetric({ use: 'zone_proxy', holders: 'ingresses and egresses' }, () => zoneProxies.expiring()),
    ];
    const warnings = (): readonly string[] => [
      ...(base.warnings?.() ?? []),
      ...xds.warnings(),
      ...(token?.fault === undefined ? [] : [token.fault]),
    ];
    return {
      ...base,
      warnings,
      impediments: () => [...(base.impediments?.() ?? []), ...leader.link.impediments()],
      metrics: [...base.metrics, ...watchMetrics(() => queries.watches.metrics()), ...metrics],
    };
  });
}

function zoneMetrics(leader: ZoneLeader, federated: boolean): readonly Metric[] {
  const pool = (part: 'size' | 'used' | 'cooling', help: string): Metric => ({
    name: `vip_pool_${part}`,
    help,
    labels: ['kind', 'mesh'],
    read: () =>
      leader.pools().map(({ kind, mesh, [part]: value }) => ({
        labels: mesh === undefined ? { kind } : { kind, mesh },
        value: Number(value),
      })),
  });
  const lease = (name: string, help: string, read: (counts: LeaseReaper['counts']) => number): Metric => ({
    name,
    help,
    read: () => {
      const counts = leader.leases();
      return counts ? [{ value: read(counts) }] : [];
    },
  });
  return [
    pool('size', 'Addresses of the range; with the label mesh where a mesh has ranges of its own'),
    pool('used', 'Addresses held by services'),
    pool('cooling', 'Freed addresses that no other service may get yet'),
    {
      name: 'global_connected',
      help: '1 while this replica holds the session with the global; absent where the zone has none',
      read: () => (federated ? [{ value: Number(leader.session()?.connected ?? false) }] : []),
    },
    {
      name: 'workload_authority_end_seconds',
      help: 'Until when the authority is valid that signs certificates of workloads, seconds since 1970; of the leader alone',
      read: () => {
        const certificate = leader.workloadAuthority();
        const end = certificate === undefined ? undefined : readValidity(certificate)?.end;
        return end === undefined ? [] : [{ value: end / 1_000 }];
      },
    },
    lease('agent_leases', 'Leases of agents, as the leader knows them', ({ total }) => total),
    lease('agent_leases_expired', 'Leases that have expired and were not ended', ({ expired }) => expired),
    lease('agent_leases_held', '1 while too many leases end at once and are kept', ({ isHeld }) => Number(isHeld)),
    lease('agent_leases_ended_total', 'Leases that this leader has ended with their Dataplanes', ({ ended }) => ended),
  ];
}
