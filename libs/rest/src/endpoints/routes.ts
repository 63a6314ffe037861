import { explainRequest, listRoutesOfService } from '@causeway/api';
import { decodeRequestQuestion } from '@causeway/queries';
import { endpoint, type Endpoint } from '../operations/endpoint';
import type { EndpointSources } from '../operations/sources';

/** Endpoints that evaluate requests, and list the routes of services (seed GEP-1426). */
export function routeEndpoints({ queries }: EndpointSources): readonly Endpoint[] {
  return [
    endpoint(explainRequest, (call, { query: { zone }, body }) => {
      const { rights, signal } = call;
      return queries.routes.explain(call.path('mesh'), decodeRequestQuestion(body), { rights, zone, signal });
    }),
    endpoint(listRoutesOfService, (call, { query }) => {
      const { service, kind = 'MeshService', port, minRevision } = query;
      const [namespace, client, zone] = [
        query.namespace || 'default',
        query.client || undefined,
        query.zone || undefined,
      ];
      const question = { mesh: call.path('mesh'), kind, namespace, service, port, client, zone, minRevision };
      return queries.routes.table(question, call.rights, call.signal);
    }),
  ];
}
