import { Type } from 'typebox';
import { defineKind } from '@causeway/resources';
import { ConnectionRules, connectionRoute, ParentRefs, routeKind } from './schema/route-parts';
import { routeViolations } from './schema/route-rules';
import { foreignReferences } from './stored/foreign-references';

/** Routes TCP connections to a service (seed GEP-1426; fields and bounds of the Gateway API's standard channel). */
export const TCPRoute = defineKind({
  ...routeKind('TCPRoute'),
  spec: Type.Object({ parentRefs: Type.Optional(ParentRefs), rules: ConnectionRules }, connectionRoute),
  validate: routeViolations,
  warn: ({ spec }) => foreignReferences(spec),
});
