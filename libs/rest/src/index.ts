/**
 * The REST interface of a control plane: one generic endpoint for every kind of the registry, OpenAPI made from it,
 * and one filter that turns every failure into a problem document.
 *
 *   request → endpoint → reads (index) | writes (Admission → store) → answer
 */
export { type RegisteredRoute } from './http/route-table';
export { REST_APPLICATION_OPTIONS, restAdapter } from './http/rest-adapter';
export { RestModule } from './rest.module';
export { QUERIES as REST_QUERIES } from './rest-dependencies';
export { createRestServer, type RestServer } from './rest-server';
export { DEFAULT_LIMITS, type RestAccess, type RestDependencies, type RestLimits } from './rest-dependencies';
