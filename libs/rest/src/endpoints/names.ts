import {
  explainHostname,
  listServiceDataplanes,
  listHostnames,
  listServiceHostnames,
  lookUpName,
  resolveHostname,
} from '@causeway/api';
import { tableBody } from '../answers/responses';
import {
  kindInPath,
  meshInPath,
  nameQuery,
  pageRange,
  readMinRevision,
  readOffsetPage,
} from '../http/request-decoding';
import { endpoint, kindEndpoint, type Endpoint } from '../operations/endpoint';
import { findKind } from '../operations/kinds';
import type { EndpointSources } from '../operations/sources';

/** Endpoints of hostnames: their claims, their addresses, and the names of services. */
export function nameEndpoints({ queries, registry }: EndpointSources): readonly Endpoint[] {
  const { defaultMesh, hostnames, inspections, resolution } = queries;
  return [
    endpoint(listHostnames, async (call, { query: { name = '', zone, minRevision, ...page } }) => {
      const range = pageRange(page);
      const wanted = { containing: name, ...range, ...(zone === undefined ? {} : { zone }) };
      const table = await hostnames.table({ mesh: call.path('mesh'), page: wanted, minRevision }, call.signal);
      void call.reply.header('causeway-revision', String(table.revision));
      return tableBody(call.request, table, range);
    }),
    endpoint(lookUpName, (_call, { query: { name, type, minRevision } }) =>
      hostnames.lookup({ name, ...(type === undefined ? {} : { type }) }, minRevision),
    ),
    endpoint(explainHostname, ({ rights, signal }, { query: { zone }, body: { hostname, mesh = defaultMesh } }) =>
      hostnames.explain({ hostname, mesh, ...(zone === undefined ? {} : { zone }) }, rights, undefined, signal),
    ),
    endpoint(resolveHostname, ({ rights, signal }, { query: { zone }, body: { hostname, mesh = defaultMesh } }) =>
      resolution.resolve({ hostname, mesh, ...(zone === undefined ? {} : { zone }) }, rights, undefined, signal),
    ),
    kindEndpoint(
      listServiceHostnames,
      ({ request }) => {
        const { kind } = kindInPath(request, registry, true);
        hostnames.checkHasHostnames(kind);
        return kind;
      },
      (query, kind, { request }) => ({
        name: nameQuery(request, kind, meshInPath(request), query),
        minRevision: readMinRevision(query),
      }),
      async ({ rights }, { name, minRevision }) => {
        const items = await hostnames.ofService(name, rights, minRevision);
        return { total: items.length, items };
      },
    ),
    kindEndpoint(
      listServiceDataplanes,
      () => findKind(registry, 'MeshService'),
      (query, kind, { request }) => ({
        name: nameQuery(request, kind, meshInPath(request), query),
        range: readOffsetPage(query),
        minRevision: readMinRevision(query),
      }),
      async ({ rights, signal, request }, { name, range, minRevision }) => {
        const table = await inspections.dataplanesOf(name, rights, { range, minRevision }, signal);
        return tableBody(request, table, range);
      },
    ),
  ];
}
