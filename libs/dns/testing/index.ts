/** Test support of this lib: what tests and benchmarks elsewhere import of its inside. Nothing that ships imports it. */
export { createDnsServer } from '../src/dns-server';
export { metricDefinitions } from '../src/metric-definitions';
