/**
 * The DNS server of a zone: hostnames of services to their virtual IPs.
 *
 *   ResourceIndex → NameTableUpdater → NameTable, Authority → Answers → Responder ⇄ UDP and TCP doors
 *                                                          not ours → Forwarder → upstreams
 */
export { DNS_SERVER, DnsModule, type DnsModuleOptions } from './dns.module';
export { createDnsServer, type DnsServer, type DnsServerOptions } from './dns-server';
export { checkAddresses, checkDnsTtl, checkSuffixes, checkUpstreams } from './check-settings';
export { DEFAULT_DNS_CONFIG, type DnsConfig, type DnsLimits, type DnsSettings, type ForwardConfig } from './dns-config';
export { type DnsMetric } from './metric-definitions';
