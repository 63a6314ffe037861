/** A REST server of a port of its own, for tests and benchmarks: control planes import RestModule. Production code does not import it. */
export { createRestServer, type RestServer, type RestServerOptions } from './rest-server';
export type { RegisteredRoute } from '../src/http/route-table';
export { DEFAULT_LIMITS, type RestAccess } from '../src/rest-dependencies';
