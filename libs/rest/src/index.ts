/** The REST interface of a control plane (libs/rest/README.md). */
export { type RegisteredRoute } from './http/route-table';
export { REST_APPLICATION_OPTIONS, restAdapter } from './http/rest-adapter';
export { LocalSocket } from './http/local-socket';
export { RestTls } from './http/rest-tls';
export { RestModule } from './rest.module';
export { createRestServer, type RestServer, type RestServerOptions } from './rest-server';
export { type AnsweredRequest } from './http/answered-request';
export { DEFAULT_LIMITS, type RestAccess, type RestDependencies, type RestLimits } from './rest-dependencies';
