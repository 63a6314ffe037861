import { isIP } from 'node:net';
import type { DynamicModule } from '@nestjs/common';
import { exitWithProblems, INDEX, type ControlPlaneCore, type ModuleImports } from '@causeway/control-plane';
import {
  checkAddresses,
  checkDnsTtl,
  checkSuffixes,
  checkUpstreams,
  DnsModule,
  type DnsSettings,
  type EndpointSource,
} from '@causeway/dns';
import { identityKey } from '@causeway/resources';
import { injectFrom } from '@causeway/runtime';
import { XdsPort } from '@causeway/agent-service';
import type { EnvoyResources } from '@causeway/xds-translation';
import { configuredRanges } from './address-ranges';
import type { ZoneSettings } from './config';

/** Returns the DNS settings; ends the program, with one line for each reason, if they are invalid. */
export function dnsSettings(settings: ZoneSettings): DnsSettings {
  const problems = dnsProblems(settings);
  if (problems.length > 0) exitWithProblems(problems);
  return {
    ttl: settings.CAUSEWAY_DNS_TTL,
    suffixes: settings.CAUSEWAY_DNS_SUFFIXES,
    directSuffix: settings.CAUSEWAY_DNS_DIRECT_SUFFIX ?? '',
    meshOrder: settings.CAUSEWAY_DNS_MESH_ORDER,
    ranges: Object.values(configuredRanges(settings)),
    forward: {
      enabled: settings.CAUSEWAY_DNS_FORWARD === 'on',
      upstreams: settings.CAUSEWAY_DNS_UPSTREAMS,
      publicClients: settings.CAUSEWAY_DNS_FORWARD_PUBLIC,
      pending: settings.CAUSEWAY_DNS_FORWARD_PENDING,
      pendingPerClient: settings.CAUSEWAY_DNS_FORWARD_PENDING_PER_CLIENT,
    },
    limits: {
      ratePerClient: settings.CAUSEWAY_DNS_RATE,
      tcpConnections: settings.CAUSEWAY_DNS_TCP_CONNECTIONS,
      tcpConnectionsPerClient: settings.CAUSEWAY_DNS_TCP_CONNECTIONS_PER_CLIENT,
      tcpIdle: settings.CAUSEWAY_DNS_TCP_IDLE,
    },
  };
}

/** Creates the module of the zone's DNS server; `imports` are the modules that provide the index. */
export function dnsModule(
  options: ModuleImports & {
    readonly core: ControlPlaneCore<ZoneSettings>;
    readonly config: DnsSettings;
  },
): DynamicModule {
  const { imports, core, config } = options;
  const { settings } = core;
  return DnsModule.forRootAsync({
    imports,
    ...injectFrom({ index: INDEX, xds: XdsPort }, ({ index, xds: { resources } }) => ({
      server: { ...core, index, zone: settings.CAUSEWAY_ZONE_NAME, config, endpoints: endpointsIn(resources) },
      addresses: dnsAddresses(settings),
      port: settings.CAUSEWAY_DNS_PORT,
    })),
  });
}

/** Returns the addresses of DNS: the given ones, else that of REST; 127.0.0.1 if that is a name (`localhost`). */
export function dnsAddresses({
  CAUSEWAY_DNS_BIND_ADDRESS: given,
  CAUSEWAY_BIND_ADDRESS: rest,
}: Pick<ZoneSettings, 'CAUSEWAY_DNS_BIND_ADDRESS' | 'CAUSEWAY_BIND_ADDRESS'>): readonly string[] {
  if (given.length > 0) return given;
  return [isIP(rest) === 0 ? '127.0.0.1' : rest];
}

function endpointsIn(resources: EnvoyResources): EndpointSource {
  return {
    version: () => resources.revision,
    findPorts: (service) =>
      resources.loader.hasLoaded ? resources.model.listInstances(identityKey(service)) : undefined,
  };
}

function dnsProblems(settings: ZoneSettings): string[] {
  const { CAUSEWAY_DNS_DIRECT_SUFFIX: direct } = settings;
  const reasons = {
    CAUSEWAY_DNS_BIND_ADDRESS: checkAddresses(dnsAddresses(settings)),
    CAUSEWAY_DNS_TTL: checkDnsTtl(settings.CAUSEWAY_DNS_TTL, settings.CAUSEWAY_VIP_COOLDOWN),
    CAUSEWAY_DNS_SUFFIXES: checkSuffixes(settings.CAUSEWAY_DNS_SUFFIXES),
    CAUSEWAY_DNS_DIRECT_SUFFIX: checkSuffixes(direct === undefined ? [] : [direct]),
    CAUSEWAY_DNS_UPSTREAMS: checkUpstreams(settings.CAUSEWAY_DNS_UPSTREAMS),
  };
  return Object.entries(reasons).flatMap(([setting, each]) => each.map((reason) => `${setting}: ${reason}`));
}
