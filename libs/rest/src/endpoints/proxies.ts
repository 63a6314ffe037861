import { getProxy, listLeases, listProxies, releaseLeases } from '@causeway/api';
import { tableBody } from '../answers/responses';
import { pageRange } from '../http/request-decoding';
import { endpoint, type Endpoint } from '../operations/endpoint';
import type { EndpointSources } from '../operations/sources';

/** Endpoints of a zone's proxies (docs/reference/proxies.md), and of its agents' leases (docs/reference/leases.md). */
export function proxyEndpoints({ queries }: EndpointSources): readonly Endpoint[] {
  const { proxies, leases } = queries;
  return [
    endpoint(listProxies, async ({ request, rights, signal }, { query: { size, offset, ...selection } }) => {
      const range = pageRange({ size, offset });
      return tableBody(request, await proxies.page(selection, range, rights, signal), range);
    }),
    endpoint(getProxy, (call, { query: { namespace } }) => {
      const name = {
        mesh: call.path('mesh'),
        name: call.path('name'),
        ...(namespace === undefined ? {} : { namespace }),
      };
      return proxies.one(name, call.rights);
    }),
    endpoint(listLeases, async ({ request }, { query }) => {
      const range = pageRange(query);
      const { hold, ...page } = await leases.page(range);
      return { ...tableBody(request, page, range), ...(hold && { hold }) };
    }),
    endpoint(releaseLeases, ({ rights }) => leases.release(rights.caller.user)),
  ];
}
