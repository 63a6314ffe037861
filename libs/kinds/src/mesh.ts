import { Type } from 'typebox';
import { defineKind, Sync } from '@causeway/resources';
import { strict, StringMap } from './schema-parts';

const ParametersRef = Type.Object(
  {
    group: Type.Optional(Type.String()),
    kind: Type.String({ minLength: 1 }),
    name: Type.String({ minLength: 1 }),
    namespace: Type.Optional(Type.String()),
  },
  strict,
);

const Spec = Type.Object(
  {
    controllerName: Type.Optional(Type.String({ minLength: 1, maxLength: 253 })),
    parametersRef: Type.Optional(ParametersRef),
    description: Type.Optional(Type.String({ maxLength: 64 })),
    namespaceSelector: Type.Optional(Type.Object({ matchLabels: Type.Optional(StringMap) }, strict)),
  },
  strict,
);

/** A mesh: what services, policies and names belong to (GEP-3949). Its behaviour comes in wave 2. */
export const Mesh = defineKind({
  name: 'Mesh',
  plural: 'meshes',
  shortName: 'm',
  scope: 'global',
  sync: Sync.meshWide,
  writer: 'operator',
  spec: Spec,
});
