import { Registry, Sync, type Kind } from '@causeway/resources';
import { opaqueKind } from '../opaque-kind';

/**
 * Kinds of Kuma that we have no word for and that its zones need of each other to reach each other's services: 2.x says
 * them as ZoneIngress, 2.14 also as MeshZoneAddress (kds.md §10.1). Stored and passed on as they came, to Kuma zones
 * only.
 */
const RELAYED: readonly Kind[] = [
  opaqueKind({ name: 'ZoneIngress', plural: 'zoneingresses', shortName: 'zi', scope: 'global', sync: Sync.relayed }),
  opaqueKind({
    name: 'MeshZoneAddress',
    plural: 'meshzoneaddresses',
    shortName: 'mza',
    scope: 'mesh',
    sync: Sync.relayed,
  }),
];

/** The kinds of a global's sync: those of the product, and those it only passes on. */
export function withRelayedKinds(registry: Registry): Registry {
  return new Registry([...registry.kinds, ...RELAYED.filter((kind) => !registry.kind(kind.name))]);
}
