import { Type } from 'typebox';
import { defineKind, Sync } from '@causeway/resources';
import { Backends, GATEWAY_API, Hostname, ParentRefs, SectionName } from './schema/route-parts';
import { hostnameWarnings, routeViolations } from './schema/route-rules';
import { strict } from './schema/schema-parts';

const Rule = Type.Object({ name: Type.Optional(SectionName), backendRefs: Backends }, strict);

const Spec = Type.Object(
  {
    parentRefs: Type.Optional(ParentRefs),
    hostnames: Type.Optional(Type.Array(Hostname, { maxItems: 1_024 })),
    rules: Type.Array(Rule, { minItems: 1, maxItems: 1 }),
  },
  {
    ...strict,
    examples: [
      { parentRefs: [{ kind: 'Service', name: 'db' }], rules: [{ backendRefs: [{ name: 'db-v2', port: 5432 }] }] },
    ],
  },
);

/** What becomes of TLS connections to a service, without a look into them (seed GEP-1426; fields and bounds of the Gateway API's standard channel). `hostnames` is optional, because it means nothing for services (T002-33). */
export const TLSRoute = defineKind({
  name: 'TLSRoute',
  plural: 'tlsroutes',
  shortName: 'tlsroute',
  apiVersion: `${GATEWAY_API}/v1`,
  scope: 'mesh',
  namespaced: true,
  sync: Sync.routes,
  spec: Spec,
  validate: routeViolations,
  warn: ({ spec }) => hostnameWarnings(spec),
});
