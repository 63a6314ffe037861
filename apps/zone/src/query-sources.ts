import type { DataplaneTokens, ZoneProxyTokens } from '@causeway/access';
import { SharedQuerySources, type ControlPlaneCore } from '@causeway/control-plane';
import { ProxyDirectory } from '@causeway/controllers';
import { DNS_SERVER } from '@causeway/dns';
import {
  dataplaneInsight,
  type DataplaneAccess,
  type Issuers,
  type QuerySources,
  type ZoneAccess,
} from '@causeway/queries';
import { identityKey, Unavailable } from '@causeway/resources';
import { injectFrom, type Injection, type Provided } from '@causeway/runtime';
import { XdsPort } from '@causeway/agent-service';
import { POSTGRES_BACKEND } from '@causeway/store-postgres';
import { accessFacts } from './access-facts';
import type { ZoneSettings } from './config';
import { WorkloadOperation } from './identity/workload-operation';
import { DATAPLANE_TOKENS, RotationOperation, ZONE_PROXY_TOKENS } from './identity/workload-identity.module';
import { ZoneLeader } from './leader/zone-leader.module';
import { AgentRivals } from './proxies/agent-rivals';

const SOURCES = {
  shared: SharedQuerySources,
  leader: ZoneLeader,
  dns: DNS_SERVER,
  proxies: ProxyDirectory,
  rotation: RotationOperation,
  dataplaneTokens: DATAPLANE_TOKENS,
  zoneTokens: ZONE_PROXY_TOKENS,
  xds: XdsPort,
  backend: POSTGRES_BACKEND,
};

/** Returns the query sources of a zone: the shared ones, its DNS, its proxies, the session with its global, and workload identity. */
export function zoneQuerySources(core: ControlPlaneCore<ZoneSettings>): Injection<QuerySources> {
  return injectFrom(SOURCES, (sources) => {
    const { shared, leader, proxies, xds, backend } = sources;
    const base = shared.get();
    const { cp } = base;
    return {
      ...base,
      insights: zoneInsights(core, base.insights, sources),
      issuers: { ...base.issuers, ...zoneIssuers(core, base, sources) },
      zone: {
        proxies,
        agentLeases: backend.agentLeases,
        instances: {
          instancesOf: (service) => {
            // Prometheus would drop its targets on an empty list.
            if (!xds.resources.loader.hasLoaded) throw new Unavailable('the instances of this zone are not known yet');
            return xds.resources.model.listInstances(identityKey(service));
          },
        },
        callers: accessFacts(xds, proxies),
      },
      syncDecisions: cp.role === 'zone' && cp.federated ? { confirmGlobal: () => leader.confirmGlobal() } : {},
    };
  });
}

/** Returns the issuers of a zone, in addition to those of every control plane. */
function zoneIssuers(
  core: ControlPlaneCore<ZoneSettings>,
  { cp, index, meshes }: Pick<QuerySources, 'cp' | 'index' | 'meshes'>,
  { leader, backend, rotation, dataplaneTokens: { tokens }, zoneTokens }: Provided<typeof SOURCES>,
): Issuers {
  return {
    dataplaneAccess: {
      ...pickMethods(tokens),
      issue: (request) => {
        const isKuma =
          request.services === undefined &&
          request.machines === undefined &&
          meshes.state(request.mesh)?.parameters.dataplaneTokens === 'Kuma';
        return tokens.issue({ ...request, isKuma });
      },
    },
    workloadAccess: new WorkloadOperation({
      core,
      index,
      store: backend.store,
      tokens,
      isConnected: () => (cp.role === 'zone' && cp.federated ? leader.session()?.connected : undefined),
    }),
    ...(zoneTokens.tokens && { zoneAccess: toZoneAccess(zoneTokens.tokens) }),
    authorityAccess: rotation,
  };
}

/** Returns the facts that only a zone has about its resources. */
function zoneInsights(
  { clock, logger, settings }: ControlPlaneCore<ZoneSettings>,
  shared: QuerySources['insights'],
  { leader, dns, proxies, backend, dataplaneTokens, zoneTokens }: Provided<typeof SOURCES>,
): NonNullable<QuerySources['insights']> {
  const rivals = new AgentRivals({ store: backend.store, clock, logger, length: settings.CAUSEWAY_AGENT_LEASE });
  return {
    ...shared,
    impediments: async () => [...((await shared?.impediments?.()) ?? []), ...(await leader.link.currentImpediments())],
    rivals: () => rivals.list(),
    dnsLookup: ({ name, type }) => dns.lookup(name, type),
    insightOf: (resource) => {
      if (resource.id.kind === 'Zone') return leader.findInsight(resource);
      const proxy = proxies.ofOwner(identityKey(resource.id));
      return proxy && dataplaneInsight(proxy);
    },
    deletionWarnings: (id) => [
      ...(shared?.deletionWarnings?.(id) ?? []),
      ...dataplaneTokens.deletionWarnings(id),
      ...zoneTokens.deletionWarnings(id),
    ],
    keyFaults: () => [...(shared?.keyFaults?.() ?? []), ...dataplaneTokens.faults(), ...zoneTokens.faults()],
  };
}

function pickMethods(tokens: DataplaneTokens['tokens']): Pick<DataplaneAccess, 'list' | 'revoke' | 'rotate'> {
  return { list: () => tokens.list(), revoke: (id) => tokens.revoke(id), rotate: () => tokens.rotate() };
}

/** A zone without a global issues tokens for its own ingress and egress; no zone connects to it. */
function toZoneAccess(tokens: NonNullable<ZoneProxyTokens['tokens']>): ZoneAccess {
  return {
    issue: (order) => tokens.issue(order),
    list: () => tokens.list(),
    revoke: (id) => tokens.revoke(id),
    rotate: () => tokens.rotate(),
    authority: () => undefined,
  };
}
