import {
  describeServer,
  diagnose,
  getByKri,
  listKinds,
  reviewAccess,
  showAuthority,
  showConfig,
  showOpenApi,
  whoAmI,
} from '@causeway/api';
import { NotFound } from '@causeway/resources';
import { JSON_TYPE, resourceHeaders } from '../answers/responses';
import { documentForm } from '../http/request-decoding';
import { endpoint, type Endpoint } from '../operations/endpoint';
import type { EndpointSources } from '../operations/sources';

/** Links in the answer of the root path. */
const LINKS = {
  resources: '/_resources',
  openapi: '/openapi.json',
  docs: '/docs',
  config: '/config',
  whoAmI: '/who-am-i',
} as const;

/** Endpoints about the control plane and the caller. */
export function serverEndpoints({ queries, reviews, authority, openApi }: EndpointSources): readonly Endpoint[] {
  return [
    endpoint(describeServer, () => ({ ...queries.server.server(), links: LINKS })),
    endpoint(listKinds, () => ({ resources: queries.server.kinds(), defaultMesh: queries.defaultMesh })),
    endpoint(getByKri, async (call, { query }) => {
      const resource = await queries.resources.byKri(call.path('kri'), call.rights);
      const text = queries.json.encode(resource, { form: documentForm(query.format) });
      void call.reply.headers(resourceHeaders(resource));
      return text;
    }),
    endpoint(whoAmI, ({ rights: { caller } }) => {
      const { user: name, groups, by } = caller;
      return { name, groups, by, roles: reviews.rolesOf(caller) };
    }),
    endpoint(showAuthority, () => {
      const pem = authority();
      if (pem !== undefined) return pem;
      throw new NotFound('This server has no authority of its own; if it has a certificate, ask its issuer.');
    }),
    endpoint(reviewAccess, ({ rights }, { query: { group = '', verb, kind, user, mesh, namespace } }) => {
      const groups = group.split(',').filter((one) => one !== '');
      return reviews.review(rights.caller, { user, groups, verb, kind, mesh, namespace });
    }),
    endpoint(showConfig, () => queries.server.config()),
    endpoint(showOpenApi, ({ reply }) => {
      void reply.type(JSON_TYPE);
      return openApi();
    }),
    endpoint(diagnose, ({ signal }) => queries.doctor.report(signal)),
  ];
}
