import { Type } from 'typebox';
import { defineKind, Sync } from '@causeway/resources';
import { checkHostAddress } from './schema/rules';
import { NonEmpty, PortNumber, strict } from './schema/schema-parts';

const Networking = Type.Object(
  {
    address: Type.Optional(NonEmpty),
    port: PortNumber,
    admin: Type.Optional(Type.Object({ port: PortNumber }, strict)),
  },
  strict,
);

const Spec = Type.Object(
  {
    /** Zone of origin; the global overwrites the value that the zone sent (docs/reference/kds-wire.md §4.4). */
    zone: Type.Optional(NonEmpty),
    networking: Networking,
  },
  { ...strict, examples: [{ networking: { address: '10.0.0.1', port: 10002 } }] },
);

/**
 * Exit from the mesh for a zone's proxies: while a zone has one, they reach MeshExternalServices through it only
 * (docs/guides/proxies.md, A zone egress). The global sends it to no other zone.
 */
export const ZoneEgress = defineKind({
  name: 'ZoneEgress',
  plural: 'zoneegresses',
  shortName: 'ze',
  scope: 'global',
  sync: Sync.toGlobal,
  writer: 'operator',
  bounds: { bytes: 16 * 1024 },
  serverOwned: ['zone'],
  spec: Spec,
  validate: ({ networking: { address } }, at) =>
    address === undefined ? [] : checkHostAddress(address, at.field('networking').field('address')),
  warn: ({ spec: { networking } }) =>
    networking.address === undefined
      ? ['spec.networking: has no address, so no proxy of the zone reaches a service outside the mesh']
      : [],
});
