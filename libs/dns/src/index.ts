/**
 * The DNS server of a zone: it answers the hostnames of services with their virtual IPs and forwards every other name.
 *
 *   IndexReader → NameTableUpdater → NameTable, Authority → Answers → Responder ⇄ UdpListener, TcpListener
 *                                                                          └ other names → Forwarder → upstreams
 */
export { checkAddresses, checkDnsTtl, checkSuffixes, checkUpstreams, type DnsSettings } from './dns-config';
export type { EndpointSource } from './answer/direct-names';
export { type DnsServer } from './dns-server';
export type { NameSource } from './machine/learned-names';
export { createMachineDns } from './machine/machine-dns';
export type { NamedService } from './table/named-service';
export { DNS_SERVER, DnsModule, type DnsModuleOptions } from './dns.module';
