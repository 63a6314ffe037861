import { Type } from 'typebox';
import { defineKind, Sync } from '@causeway/resources';
import { PortNumber, strict, StringMap } from './schema-parts';

const Selector = Type.Object(
  {
    dataplaneTags: Type.Optional(StringMap),
    dataplaneLabels: Type.Optional(Type.Object({ matchLabels: Type.Optional(StringMap) }, strict)),
    dataplaneRef: Type.Optional(Type.Object({ name: Type.String({ minLength: 1 }) }, strict)),
  },
  strict,
);

const Port = Type.Object(
  {
    name: Type.Optional(Type.String({ minLength: 1 })),
    port: PortNumber,
    targetPort: Type.Optional(Type.Union([PortNumber, Type.String({ minLength: 1 })])),
    appProtocol: Type.Optional(Type.Enum(['tcp', 'http', 'http2', 'grpc', 'kafka'], { default: 'tcp' })),
  },
  strict,
);

const Spec = Type.Object(
  {
    selector: Type.Optional(Selector),
    ports: Type.Optional(Type.Array(Port)),
    state: Type.Optional(Type.Enum(['Available', 'Unavailable'])),
  },
  strict,
);

/** A service of the mesh: which Dataplanes serve it on which ports (design.md §1; seed 001). */
export const MeshService = defineKind({
  name: 'MeshService',
  plural: 'meshservices',
  shortName: 'msvc',
  scope: 'mesh',
  namespaced: true,
  sync: Sync.acrossZones,
  serverOwned: ['state'],
  spec: Spec,
  validate: (spec, at) => {
    const given = Object.keys(spec.selector ?? {});
    return given.length > 1
      ? [at.field('selector').violation(`must name only one of dataplaneTags, dataplaneLabels, dataplaneRef; got ${given.join(', ')}`)]
      : [];
  },
});
