import { defineKind, isDnsLabel, Sync } from '@causeway/resources';
import { checkNetworking } from './schema/dataplane-rules';
import { DataplaneSpec } from './schema/dataplane-spec';

/** One running instance of a workload: its listeners and services (docs/reference/kuma-rest.md §3.7, docs/reference/kuma-2.14.md §1). */
export const Dataplane = defineKind({
  name: 'Dataplane',
  plural: 'dataplanes',
  shortName: 'dp',
  scope: 'mesh',
  namespaced: true,
  sync: Sync.toGlobal,
  serverOwned: ['grantedServices'],
  spec: DataplaneSpec,
  validate: (spec, at) => checkNetworking(spec.networking, at.field('networking')),
  warn: ({ spec: { networking } }) => [
    ...(networking.inbound ?? []).flatMap(({ tags }, i) => {
      const service = tags?.['kuma.io/service'];
      if (service === undefined || isDnsLabel(service)) return [];
      const field = `spec.networking.inbound[${i}].tags["kuma.io/service"]`;
      return [`${field}: "${service}" is not an RFC 1035 label, so no MeshService is made of it`];
    }),
    ...(networking.listeners ?? []).flatMap(({ type }, i) =>
      type === 'ZoneEgress' ? [`spec.networking.listeners[${i}]: is not served; declare a ZoneEgress of the zone`] : [],
    ),
  ],
});
