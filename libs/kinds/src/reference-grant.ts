import { Type } from 'typebox';
import { defineKind, Sync } from '@causeway/resources';
import { GATEWAY_API, Group, KindName, NamespaceName, ObjectName } from './schema/route-parts';
import { strict } from './schema/schema-parts';
import { foreignReferences } from './stored/foreign-references';

export const From = Type.Object({ group: Group, kind: KindName, namespace: NamespaceName }, strict);
export const To = Type.Object({ group: Group, kind: KindName, name: Type.Optional(ObjectName) }, strict);

const Spec = Type.Object(
  { from: Type.Array(From, { minItems: 1, maxItems: 16 }), to: Type.Array(To, { minItems: 1, maxItems: 16 }) },
  {
    ...strict,
    examples: [
      { from: [{ group: GATEWAY_API, kind: 'HTTPRoute', namespace: 'edge' }], to: [{ group: '', kind: 'Service' }] },
    ],
  },
);

/**
 * Allows routes of other namespaces that are bound to a Gateway to name backends in this namespace (T002-36). Routes
 * that are bound to services need no grant (T002-35).
 */
export const ReferenceGrant = defineKind({
  name: 'ReferenceGrant',
  plural: 'referencegrants',
  shortName: 'refgrant',
  apiVersion: `${GATEWAY_API}/v1beta1`,
  scope: 'mesh',
  namespaced: true,
  sync: Sync.routes,
  spec: Spec,
  warn: ({ spec }) => foreignReferences(spec),
});
