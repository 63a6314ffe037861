/** Test support of this lib: internals that tests and benchmarks elsewhere import. Production code does not import it. */
export { createDnsServer } from '../src/dns-server';
export { metricDefinitions } from '../src/metric-definitions';
