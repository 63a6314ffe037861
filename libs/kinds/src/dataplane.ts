import { Type } from 'typebox';
import { defineKind, Sync } from '@causeway/resources';
import { PortNumber, strict, StringMap } from './schema-parts';

const Inbound = Type.Object(
  {
    port: PortNumber,
    servicePort: Type.Optional(PortNumber),
    address: Type.Optional(Type.String()),
    serviceAddress: Type.Optional(Type.String()),
    name: Type.Optional(Type.String()),
    protocol: Type.Optional(Type.String()),
    tags: Type.Optional(StringMap),
    state: Type.Optional(Type.Enum(['Ready', 'NotReady', 'Ignored'])),
    health: Type.Optional(Type.Object({ ready: Type.Optional(Type.Boolean()) }, strict)),
  },
  strict,
);

const Spec = Type.Object(
  {
    networking: Type.Object(
      {
        address: Type.String({ minLength: 1 }),
        inbound: Type.Optional(Type.Array(Inbound)),
      },
      strict,
    ),
  },
  strict,
);

/** One running instance of a workload: where it listens and for which services (rest.md §3.7, kuma-2.14.md). */
export const Dataplane = defineKind({
  name: 'Dataplane',
  plural: 'dataplanes',
  shortName: 'dp',
  scope: 'mesh',
  namespaced: true,
  sync: Sync.toGlobal,
  spec: Spec,
});
