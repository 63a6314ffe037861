import { Type } from 'typebox';
import { defineKind, Sync } from '@causeway/resources';
import { Backends, GATEWAY_API, ParentRefs, SectionName } from './schema/route-parts';
import { routeViolations } from './schema/route-rules';
import { strict } from './schema/schema-parts';

const Rule = Type.Object({ name: Type.Optional(SectionName), backendRefs: Backends }, strict);

const Spec = Type.Object(
  {
    parentRefs: Type.Optional(ParentRefs),
    rules: Type.Array(Rule, { minItems: 1, maxItems: 1 }),
  },
  {
    ...strict,
    examples: [
      { parentRefs: [{ kind: 'Service', name: 'db' }], rules: [{ backendRefs: [{ name: 'db-v2', port: 5432 }] }] },
    ],
  },
);

/** What becomes of TCP connections to a service (seed GEP-1426; fields and bounds of the Gateway API's standard channel). */
export const TCPRoute = defineKind({
  name: 'TCPRoute',
  plural: 'tcproutes',
  shortName: 'tcproute',
  apiVersion: `${GATEWAY_API}/v1`,
  scope: 'mesh',
  namespaced: true,
  sync: Sync.routes,
  spec: Spec,
  validate: routeViolations,
});
