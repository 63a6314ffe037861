import { Type } from 'typebox';
import { defineKind } from '@causeway/resources';
import { ConnectionRules, connectionRoute, Hostname, ParentRefs, routeKind } from './schema/route-parts';
import { hostnameWarnings, routeViolations } from './schema/route-rules';
import { foreignReferences } from './stored/foreign-references';

const Spec = Type.Object(
  {
    parentRefs: Type.Optional(ParentRefs),
    hostnames: Type.Optional(Type.Array(Hostname, { maxItems: 1_024 })),
    rules: ConnectionRules,
  },
  connectionRoute,
);

/**
 * Routes TLS connections to a service without terminating them (seed GEP-1426; fields and bounds of the Gateway API's
 * standard channel). `hostnames` is optional, because it has no effect for services (T002-33).
 */
export const TLSRoute = defineKind({
  ...routeKind('TLSRoute'),
  spec: Spec,
  validate: routeViolations,
  warn: ({ spec }) => [...hostnameWarnings(spec), ...foreignReferences(spec)],
});
