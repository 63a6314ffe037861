import { fail, type Foundations } from '@causeway/control-plane';
import { checkDnsSettings, checkDnsTtl, createDnsServer, type DnsServer, type DnsSettings } from '@causeway/dns';
import { configuredRanges } from './address-ranges';
import type { ZoneSettings } from './config';

/** What the settings say of DNS; ends the program, a line a reason, when they are not in order. */
export function dnsSettings(settings: ZoneSettings): DnsSettings {
  const dns: DnsSettings = {
    ttl: settings.CAUSEWAY_DNS_TTL,
    suffixes: settings.CAUSEWAY_DNS_SUFFIXES,
    meshOrder: settings.CAUSEWAY_DNS_MESH_ORDER,
    ranges: Object.values(configuredRanges(settings)),
    forward: {
      enabled: settings.CAUSEWAY_DNS_FORWARD === 'on',
      upstreams: settings.CAUSEWAY_DNS_UPSTREAMS,
      publicAskers: settings.CAUSEWAY_DNS_FORWARD_PUBLIC,
    },
  };
  const ttl = checkDnsTtl(settings.CAUSEWAY_DNS_TTL, settings.CAUSEWAY_VIP_REST);
  const problems = [...(ttl === undefined ? [] : [`CAUSEWAY_DNS_TTL: ${ttl}`]), ...checkDnsSettings(dns)];
  return problems.length === 0 ? dns : fail(problems);
}

/** The zone's DNS server, on every replica; it answers once it is bound. */
export function createDns(foundations: Foundations, zone: string, config: DnsSettings): DnsServer {
  const { index, clock, logger } = foundations;
  return createDnsServer({ index, zone, clock, logger, config });
}
