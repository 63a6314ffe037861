/** The REST interface of a control plane (libs/rest/README.md). */
export { REST_APPLICATION_OPTIONS, restAdapter } from './http/rest-adapter';
export { LocalSocket } from './http/local-socket';
export { RestTls } from './http/rest-tls';
export { RestModule } from './rest.module';
export { type AnsweredRequest } from './http/answered-request';
export { type RestDependencies, type RestLimits } from './rest-dependencies';
