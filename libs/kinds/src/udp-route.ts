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

/** What becomes of UDP datagrams to a service; it competes with no other kind of route (T002-26) (seed GEP-1426; fields and bounds of the Gateway API's standard channel). */
export const UDPRoute = defineKind({
  name: 'UDPRoute',
  plural: 'udproutes',
  shortName: 'udproute',
  apiVersion: `${GATEWAY_API}/v1`,
  scope: 'mesh',
  namespaced: true,
  sync: Sync.routes,
  spec: Spec,
  validate: routeViolations,
});
