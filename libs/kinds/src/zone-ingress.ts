import { Type, type Static } from 'typebox';
import { defineKind, Sync, type FieldPath, type Violation } from '@causeway/resources';
import { checkHostAddress } from './schema/rules';
import { NonEmpty, Optionals, PortNumber, strict, StringMap, Text } from './schema/schema-parts';

const Networking = Type.Object(
  {
    address: Type.Optional(NonEmpty),
    port: PortNumber,
    advertisedAddress: Type.Optional(NonEmpty),
    advertisedPort: Type.Optional(PortNumber),
    admin: Type.Optional(Type.Object({ port: PortNumber }, strict)),
  },
  strict,
);

/** A service of the zone without a MeshService; only Kuma zones write such entries. */
const AvailableService = Optionals({
  tags: StringMap,
  instances: Type.Integer({ minimum: 0, maximum: 2 ** 32 - 1 }),
  mesh: Text,
  externalService: Type.Boolean(),
});

const Spec = Type.Object(
  {
    /** Zone of origin; the global overwrites the value that the zone sent (docs/reference/kds-wire.md §4.4). */
    zone: Type.Optional(NonEmpty),
    networking: Networking,
    availableServices: Type.Optional(Type.Array(AvailableService, { maxItems: 16_384 })),
  },
  { ...strict, examples: [{ networking: { address: '10.0.0.1', port: 10001 } }] },
);

/**
 * Ingress endpoint of a zone for all meshes, as in Kuma before MeshZoneAddress (docs/reference/kuma-2.14.md §1). Other
 * zones connect to the advertised address and port, which may differ from where the proxy listens.
 */
export const ZoneIngress = defineKind({
  name: 'ZoneIngress',
  plural: 'zoneingresses',
  shortName: 'zi',
  scope: 'global',
  sync: Sync.zoneAddresses,
  writer: 'operator',
  bounds: { bytes: 1024 * 1024 },
  serverOwned: ['zone', 'availableServices'],
  spec: Spec,
  validate: ({ networking }, at) => checkNetworking(networking, at.field('networking')),
  warn: ({ spec: { networking } }) =>
    networking.address === undefined && networking.advertisedAddress === undefined
      ? ['spec.networking: has no address, so no zone can enter here']
      : [],
});

function checkNetworking(networking: Static<typeof Networking>, at: FieldPath): Violation[] {
  const { address, advertisedAddress, advertisedPort } = networking;
  return [
    ...(address === undefined ? [] : checkHostAddress(address, at.field('address'))),
    ...(advertisedAddress === undefined ? [] : checkHostAddress(advertisedAddress, at.field('advertisedAddress'))),
    ...(advertisedAddress !== undefined && advertisedPort === undefined
      ? [at.field('advertisedPort').violation('is required with advertisedAddress', 'required')]
      : []),
    ...(advertisedPort !== undefined && advertisedAddress === undefined
      ? [at.field('advertisedAddress').violation('is required with advertisedPort', 'required')]
      : []),
  ];
}
