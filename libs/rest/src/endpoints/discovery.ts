import { discoverHosts, discoverTargets } from '@causeway/api';
import type { DiscoveryDocument } from '@causeway/queries';
import { JSON_TYPE } from '../answers/responses';
import type { Call } from '../operations/call';
import { endpoint, type Endpoint } from '../operations/endpoint';
import type { EndpointSources } from '../operations/sources';

/** Endpoints of services in formats of programs outside the mesh (docs/guides/without-proxy.md). */
export function discoveryEndpoints({ queries: { discovery, defaultMesh } }: EndpointSources): readonly Endpoint[] {
  return [
    endpoint(discoverTargets, async (call, { query: { minRevision, mesh, namespace, service, port } }) => {
      const selection = { mesh, namespace, service, port };
      return answerConditionally(
        call,
        await discovery.prometheus(selection, call.rights, minRevision, call.signal),
        JSON_TYPE,
      );
    }),
    endpoint(discoverHosts, async (call, { query: { mesh = defaultMesh, minRevision } }) => {
      const found = await discovery.hosts(mesh, call.rights, minRevision, call.signal);
      return answerConditionally(call, found, 'text/plain; charset=utf-8');
    }),
  ];
}

/** Returns the document, or 304 if the client already has it. */
function answerConditionally(call: Call, { body, etag, revision }: DiscoveryDocument, type: string): string {
  const { reply } = call;
  void reply.headers({ etag, 'causeway-revision': String(revision) });
  const held = (call.header('if-none-match') ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (held.includes(etag) || held.includes('*')) {
    void reply.status(304);
    return '';
  }
  void reply.header('content-type', type);
  return body;
}
