import { meshLoops, type ControlPlaneCore, type StoreBinding } from '@causeway/control-plane';
import {
  createConditionsReconciler,
  createDefinitionsLoop,
  createExternalAddressesLoop,
  createExternalTrustLoop,
  createIdentityPathLoop,
  createKeptSecretsLoop,
  createLeaseConditionsLoop,
  createPolicyStatusLoop,
  createProgressReporter,
  createAppMeshLoops,
  createRouteStatusLoop,
  reportedPolicies,
  reportedRoutes,
  createSharedIdentityLoop,
  createTrustCertificatesLoop,
  createZoneReconcilers,
  TrustAcceptanceReporter,
  TrustPublisher,
  ZoneProgress,
  type ExternalHosts,
  type IdentityPathReplicas,
  type LeaseHealth,
  type ProxyDirectory,
} from '@causeway/controllers';
import { type ControlLoop } from '@causeway/loops';
import type { AuthorityLifecycle } from '@causeway/identity';
import type { ZoneSync } from '@causeway/kds';
import type { FollowedPolicies, FollowedRoutes, Meshes } from '@causeway/meshes';
import type { Kind } from '@causeway/resources';
import type { LeaderTerm, Logger } from '@causeway/runtime';
import type { IndexReader } from '@causeway/store';
import { configuredRanges } from '../address-ranges';
import type { ZoneSettings } from '../config';

/** Sources of the loops of a zone's leader. */
export interface LoopSources {
  readonly core: ControlPlaneCore<ZoneSettings>;
  readonly index: IndexReader;
  readonly meshes: Meshes;
  readonly routes: FollowedRoutes;
  readonly policies: FollowedPolicies;
  readonly proxies: ProxyDirectory;
  readonly hosts: ExternalHosts;
  readonly binding: StoreBinding;
}

/** Dependencies of the loops of a term, besides the zone. */
export interface TermParts {
  readonly authorities: AuthorityLifecycle;
  readonly health: LeaseHealth;
  readonly sync: ZoneSync | undefined;
  readonly replicas: IdentityPathReplicas;
  readonly term: LeaderTerm;
}

/** Creates the loops of one term that report on routes and policies: the zone's own to their users, the global's to the global. */
function routeLoops(
  { core: { cp, registry }, index, meshes, routes, policies, proxies }: LoopSources,
  { sync, term }: TermParts,
): readonly ControlLoop[] {
  const findKind = (name: string): Kind | undefined => registry.kind(name);
  const status = [
    ...createAppMeshLoops({ cp, routes }, term),
    createRouteStatusLoop({ cp, meshes, routes, progress: new ZoneProgress(proxies) }, term),
    createPolicyStatusLoop({ cp, meshes, policies, findKind, progress: new ZoneProgress(proxies) }, term),
  ];
  if (cp.role !== 'zone' || !sync) return status;
  const findPosition = (kind: string): ReturnType<ZoneSync['findPosition']> => sync.findPosition(kind);
  const reported = [reportedRoutes(routes), reportedPolicies(policies, index)];
  return [...status, createProgressReporter({ cp, reported, proxies, findPosition }, term)];
}

/** Creates the loop that changes the form of SPIFFE ids. */
function identityPathLoop({ core: { cp, settings } }: LoopSources, { replicas, sync }: TermParts): ControlLoop {
  return createIdentityPathLoop({
    cp,
    replicas,
    zone: settings.CAUSEWAY_ZONE_NAME,
    validity: settings.CAUSEWAY_WORKLOAD_CERT_VALIDITY,
    skew: settings.CAUSEWAY_CLOCK_SKEW,
    ...(sync && { isCutOff: () => !sync.status().connected }),
  });
}

/** Returns the callbacks of loops that log warnings. */
function loopWarnings(
  logger: Logger,
): Pick<Parameters<typeof createZoneReconcilers>[0], 'onHeld' | 'onRaisedCooldown' | 'onUnusableName' | 'onExhausted'> {
  return {
    onHeld: (abandoned, registered) =>
      logger.warn('many registered Dataplanes are without a proxy: they are kept', { abandoned, registered }),
    onRaisedCooldown: ({ mesh, wanted, least }) =>
      logger.warn('vipCooldown of a mesh is less than twice CAUSEWAY_DNS_TTL and is raised to that', {
        mesh,
        wanted,
        least,
      }),
    onUnusableName: (dataplane, service) =>
      logger.warn('a Dataplane names a service whose name no MeshService can have', { dataplane, service }),
    onExhausted: (kind, ranges, service) =>
      logger.warn('a range of virtual IPs is used up: services are left without', { kind, ranges, service }),
  };
}

/** Creates the control loops of one term. */
export function createLoops(options: LoopSources, parts: TermParts): readonly ControlLoop[] {
  const { core, index, meshes, binding, proxies } = options;
  const { authorities, health } = parts;
  const { cp, settings, logger } = core;
  const trust = new TrustPublisher({
    zone: settings.CAUSEWAY_ZONE_NAME,
    certificates: () => authorities.certificates(),
  });
  const loops = createZoneReconcilers({
    cp,
    meshes,
    proxies,
    ackWatermark: () => proxies.ackWatermark(index.point?.incarnation ?? ''),
    waitedFor: (revision) => proxies.waitedFor(index.point?.incarnation ?? '', revision),
    ranges: configuredRanges(settings),
    forceRanges: settings.CAUSEWAY_VIP_RANGE_FORCE,
    cooldown: settings.CAUSEWAY_VIP_COOLDOWN,
    grace: settings.CAUSEWAY_SERVICE_GRACE,
    abandonedAfter: settings.CAUSEWAY_XDS_ABANDONED_AFTER,
    leastCooldown: 2 * settings.CAUSEWAY_DNS_TTL,
    ...loopWarnings(logger),
  });
  const isFederated = cp.role === 'zone' && cp.federated;
  const shared = createSharedIdentityLoop(settings.CAUSEWAY_ZONE_NAME);
  return [
    ...meshLoops(core, meshes, binding),
    ...loops,
    trust,
    ...(isFederated ? [new TrustAcceptanceReporter(settings.CAUSEWAY_ZONE_NAME, proxies)] : []),
    shared,
    identityPathLoop(options, parts),
    createKeptSecretsLoop(core),
    createExternalTrustLoop(cp),
    createTrustCertificatesLoop(),
    createLeaseConditionsLoop(settings.CAUSEWAY_ZONE_NAME, health),
    createConditionsReconciler({ ...core, meshes }),
    createDefinitionsLoop(),
    createExternalAddressesLoop(options.hosts, parts.term),
    ...routeLoops(options, parts),
  ];
}
