/** What tests and benchmarks outside of this lib need of its inside. Nothing that ships imports it. */
export { createDnsServer } from '../src/dns-server';
export { metricDefinitions } from '../src/metric-definitions';
