/**
 * The REST interface of a control plane as a Nest module. Controllers translate between HTTP and libs/queries (reads)
 * or Admission (writes); OpenAPI is made from the registry.
 *
 *   request → hooks → guards → pipes → controller → Queries | Admission → response; errors → ProblemFilter
 */
export { REST_APPLICATION_OPTIONS, restAdapter } from './http/rest-adapter';
export { LocalSocket } from './http/local-socket';
export { RestTls } from './http/rest-tls';
export { RestModule } from './rest.module';
export { type AnsweredRequest } from './http/answered-request';
export { type RestDependencies, type RestLimits } from './rest-dependencies';
