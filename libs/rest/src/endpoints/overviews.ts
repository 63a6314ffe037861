import {
  getDataplaneOverview,
  getZoneOverview,
  listAllDataplaneOverviews,
  listDataplaneOverviews,
  listZoneOverviews,
  type KindOperation,
} from '@causeway/api';
import { jsonHeaders, listBody } from '../answers/responses';
import { meshInPath, nameQuery, readMinRevision, readPage, readSelection } from '../http/request-decoding';
import { kindEndpoint, type Endpoint } from '../operations/endpoint';
import { findKind } from '../operations/kinds';
import type { EndpointSources } from '../operations/sources';

/** Endpoints of resources with their insights (docs/reference/kuma-rest.md §1.4, §1.5). */
export function overviewEndpoints({ queries, registry }: EndpointSources): readonly Endpoint[] {
  const list = (operation: KindOperation, kindName: string): Endpoint =>
    kindEndpoint(
      operation,
      () => findKind(registry, kindName),
      (query, kind, { request }) => {
        const selection = readSelection(query);
        const page = readPage(query);
        const minRevision = readMinRevision(query);
        return { kind, scope: { kind: kind.name, mesh: meshInPath(request), selection }, page, minRevision };
      },
      async ({ request, reply, signal }, wanted) => {
        const result = await queries.inspections.overviews(wanted.kind, wanted, () => signal);
        const text = listBody(request, wanted.page, result, (_, i) => JSON.stringify(result.overviews[i]));
        void reply.headers(jsonHeaders(result.revision));
        return text;
      },
    );
  const get = (operation: KindOperation, kindName: string): Endpoint =>
    kindEndpoint(
      operation,
      () => findKind(registry, kindName),
      (query, kind, { request }) => ({
        name: nameQuery(request, kind, meshInPath(request), query),
        minRevision: readMinRevision(query),
      }),
      ({ rights }, { name, minRevision }) => queries.inspections.overview(name, rights, minRevision),
    );
  return [
    list(listZoneOverviews, 'Zone'),
    get(getZoneOverview, 'Zone'),
    list(listAllDataplaneOverviews, 'Dataplane'),
    list(listDataplaneOverviews, 'Dataplane'),
    get(getDataplaneOverview, 'Dataplane'),
  ];
}
