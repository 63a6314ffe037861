/** The DNS server of a zone and of a host (libs/dns/README.md). */
export { checkAddresses, checkDnsTtl, checkSuffixes, checkUpstreams, type DnsSettings } from './dns-config';
export type { EndpointSource } from './answer/direct-names';
export { type DnsServer } from './dns-server';
export type { LearnedNameSource } from './machine/learned-names';
export { createMachineDns } from './machine/machine-dns';
export type { NamedService } from './table/named-service';
export { DNS_SERVER, DnsModule } from './dns.module';
