import {
  getPolicyImpact,
  getTopology,
  listAffectingPolicies,
  listPoliciesOfVirtual,
  listPolicyScopes,
  previewPolicyImpact,
} from '@causeway/api';
import type { NameQuery } from '@causeway/admission';
import { topologyDot } from '@causeway/queries';
import { isJsonObject, type Kind, type Registry } from '@causeway/resources';
import type { PageRange, SortedPage } from '@causeway/runtime';
import { nextPageUrl } from '../answers/responses';
import { HttpError } from '../http/http-error';
import type { QueryReader } from '../http/query-reader';
import { readOrigin } from '../http/request-audit';
import {
  kindInPath,
  meshInPath,
  nameQuery,
  pageRange,
  readMinRevision,
  readOffsetPage,
} from '../http/request-decoding';
import { readSmallBody } from '../http/body-parser';
import type { RestRequest } from '../http/rest-request';
import type { Call } from '../operations/call';
import { endpoint, kindEndpoint, readingEndpoint, type Endpoint } from '../operations/endpoint';
import { findKind } from '../operations/kinds';
import type { EndpointSources } from '../operations/sources';

/** Endpoints of policies: which resources they affect, in which scopes, and the consequences of a change (seed GEP-713). */
export function policyEndpoints(sources: EndpointSources): readonly Endpoint[] {
  return [...affectingEndpoints(sources), ...consequenceEndpoints(sources), topologyEndpoint(sources)];
}

/** Endpoints of the policies that affect a resource, or a document that is not stored. */
function affectingEndpoints({ queries: { policies }, registry }: EndpointSources): readonly Endpoint[] {
  return [
    kindEndpoint(
      listAffectingPolicies,
      // `/meshes/x/_policies` belongs to the Mesh x: the router matches it before the paths of kinds.
      (call) =>
        isJsonObject(call.request.params) && 'plural' in call.request.params
          ? findKindInPath(call, registry)
          : findKind(registry, 'Mesh'),
      (query, kind, { request }) => {
        const mesh = kind.scope === 'mesh' ? meshInPath(request) : undefined;
        const name = nameQuery(request, kind, mesh, query);
        const options = affectingOptions(query.text('kind'), query.text('representation'), readMinRevision(query));
        return { name, options, range: readOffsetPage(query) };
      },
      async ({ request, rights, signal }, { name, options, range }) =>
        buildPage(request, await policies.affecting(name, options, { rights, signal, range }), range),
    ),
    endpoint(listPoliciesOfVirtual, async (call, { query }) => {
      const { namespace, kind: policyKind, representation, minRevision, ...page } = query;
      const range = pageRange(page);
      const virtual = {
        mesh: call.path('mesh'),
        namespace: namespace || 'default',
        group: call.path('group'),
        kind: call.path('kind'),
        name: call.path('name'),
      };
      const options = affectingOptions(policyKind, representation, minRevision);
      const { rights, signal } = call;
      return buildPage(
        call.request,
        await policies.affectingVirtual(virtual, options, { rights, signal, range }),
        range,
      );
    }),
  ];
}

/** Endpoints of the scopes of a policy, and of the consequences of its change. */
function consequenceEndpoints({ queries: { policies }, registry, admission }: EndpointSources): readonly Endpoint[] {
  const findPolicy = (call: Call): Kind => findKindInPath(call, registry);
  return [
    kindEndpoint(
      listPolicyScopes,
      findPolicy,
      readPolicy,
      async ({ request, rights, signal }, { name, minRevision, range }) =>
        buildPage(request, await policies.scopes(name, minRevision, { rights, signal, range }), range),
    ),
    kindEndpoint(
      getPolicyImpact,
      findPolicy,
      readPolicy,
      async ({ request, rights, signal }, { name, minRevision, range }) =>
        buildPage(request, await policies.impactOfDeletion(name, minRevision, { rights, signal, range }), range),
    ),
    kindEndpoint(
      previewPolicyImpact,
      (call) => {
        const kind = findPolicy(call);
        if (registry.isDeclared(kind.name)) return kind;
        throw new HttpError(404, `${kind.name} is no kind of policy.`);
      },
      (query, kind, { request }) => ({
        name: nameQuery(request, kind, meshInPath(request), query),
        range: readOffsetPage(query),
      }),
      async ({ request, rights, signal }, { name, range }) => {
        const body = await readSmallBody(request.body);
        const context = { caller: rights.caller, origin: readOrigin(request) };
        const { id, spec } = await admission.put({ address: name, body, dryRun: true, context });
        return buildPage(request, await policies.impactOfWrite(id, spec, { rights, signal, range }), range);
      },
    ),
  ];
}

function topologyEndpoint(sources: EndpointSources): Endpoint {
  const { policies } = sources.queries;
  return readingEndpoint(
    getTopology,
    (query, call) => readRoot(query, call.path('mesh'), sources),
    async (call, { query: { format }, more: root }) => {
      const { rights, signal, reply } = call;
      const graph = await policies.topology(call.path('mesh'), root, { rights, signal });
      if (format !== 'dot') return graph;
      void reply.type('text/vnd.graphviz; charset=utf-8');
      return topologyDot(graph);
    },
  );
}

function findKindInPath({ request }: Call, registry: Registry): Kind {
  return kindInPath(request, registry, true).kind;
}

function readPolicy(query: QueryReader, kind: Kind, { request }: Call) {
  return {
    name: nameQuery(request, kind, meshInPath(request), query),
    range: readOffsetPage(query),
    minRevision: readMinRevision(query),
  };
}

function affectingOptions(
  kind: string | undefined,
  representation: string | undefined,
  minRevision: number | undefined,
) {
  return { kind: kind || undefined, representation: representation === 'string', minRevision };
}

/** Decodes the root of a graph: `root=KIND/NAME` or `root=KIND/NAMESPACE/NAME`. */
function readRoot(query: QueryReader, mesh: string, { registry }: EndpointSources): NameQuery | undefined {
  const text = query.text('root');
  const zone = query.text('zone');
  if (text === undefined) return undefined;
  const parts = text.split('/');
  const [name = '', namespace] = [...parts.slice(1)].reverse();
  const kind = registry.noun((parts[0] ?? '').toLowerCase());
  if (!kind || name === '' || parts.length > (kind.namespaced ? 3 : 2)) {
    query.refuse('root', 'must be KIND/NAME or KIND/NAMESPACE/NAME of a known kind');
    return undefined;
  }
  return {
    kind,
    name,
    ...(kind.scope === 'mesh' ? { mesh } : {}),
    ...(namespace === undefined ? {} : { namespace }),
    ...(zone === undefined ? {} : { zone }),
  };
}

/** Returns a page with the URL of the next one; a page may end early if items are large. */
function buildPage<T extends SortedPage<object>>(request: RestRequest, found: T, { offset }: PageRange) {
  const end = offset + found.items.length;
  const more = found.items.length > 0 && end < found.total;
  return { ...found, next: more ? nextPageUrl(request, { offset: String(end) }) : null };
}
