import { Type } from 'typebox';
import { defineKind, Sync } from '@causeway/resources';
import { checkHostAddress } from './schema/rules';
import { NonEmpty, PortNumber, strict } from './schema/schema-parts';

const Spec = Type.Object(
  { address: NonEmpty, port: PortNumber },
  { ...strict, examples: [{ address: '192.0.2.10', port: 10001 }] },
);

/**
 * Ingress endpoint of its zone of origin for one mesh: the public address and port of a zone ingress
 * (docs/guides/zones.md, How a zone is entered). Has precedence over a ZoneIngress of the zone.
 */
export const MeshZoneAddress = defineKind({
  name: 'MeshZoneAddress',
  plural: 'meshzoneaddresses',
  shortName: 'mza',
  scope: 'mesh',
  sync: Sync.zoneAddresses,
  writer: 'operator',
  bounds: { bytes: 16 * 1024 },
  spec: Spec,
  validate: ({ address }, at) => checkHostAddress(address, at.field('address')),
});
