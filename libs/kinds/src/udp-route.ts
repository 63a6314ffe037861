import { Type } from 'typebox';
import { defineKind } from '@causeway/resources';
import { ConnectionRules, connectionRoute, ParentRefs, routeKind } from './schema/route-parts';
import { routeViolations } from './schema/route-rules';
import { foreignReferences } from './stored/foreign-references';

/**
 * Routes UDP datagrams to a service; never conflicts with other kinds of routes (T002-26) (seed GEP-1426; fields and
 * bounds of the Gateway API's standard channel).
 */
export const UDPRoute = defineKind({
  ...routeKind('UDPRoute'),
  spec: Type.Object({ parentRefs: Type.Optional(ParentRefs), rules: ConnectionRules }, connectionRoute),
  validate: routeViolations,
  warn: ({ spec }) => [
    ...foreignReferences(spec),
    'no proxy applies a UDPRoute: only TCP to addresses of services is intercepted; the route is stored, synced and evaluated',
  ],
});
