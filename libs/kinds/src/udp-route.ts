import { Type } from 'typebox';
import { defineKind } from '@causeway/resources';
import { ConnectionRules, connectionRoute, ParentRefs, routeKind } from './schema/route-parts';
import { routeViolations } from './schema/route-rules';
import { foreignReferences } from './stored/foreign-references';

/**
 * Routes UDP datagrams to a service; it competes with no other kind of route (T002-26) (seed GEP-1426; fields and
 * bounds of the Gateway API's standard channel).
 */
export const UDPRoute = defineKind({
  ...routeKind('UDPRoute'),
  spec: Type.Object({ parentRefs: Type.Optional(ParentRefs), rules: ConnectionRules }, connectionRoute),
  validate: routeViolations,
  warn: ({ spec }) => [
    ...foreignReferences(spec),
    'no proxy obeys a UDPRoute: addresses of services are caught for TCP only; the route is stored, synced and judged',
  ],
});
