import { Type } from 'typebox';
import { defineKind, Sync } from '@causeway/resources';
import { strict, StringMap } from './schema-parts';

/** `labels` is the seed's word, `matchLabels` Kuma's; they mean the same (design.md §4). */
const ServiceSelector = Type.Object({ labels: Type.Optional(StringMap), matchLabels: Type.Optional(StringMap) }, strict);

const Spec = Type.Object(
  {
    selector: Type.Object(
      {
        meshService: Type.Optional(ServiceSelector),
        meshMultiZoneService: Type.Optional(ServiceSelector),
        meshExternalService: Type.Optional(ServiceSelector),
      },
      strict,
    ),
    template: Type.String({ minLength: 1 }),
  },
  strict,
);

/** The operator's rule by which services get hostnames (seed 001). */
export const HostnameGenerator = defineKind({
  name: 'HostnameGenerator',
  plural: 'hostnamegenerators',
  shortName: 'hg',
  scope: 'global',
  sync: Sync.bothWays,
  writer: 'operator',
  spec: Spec,
  validate: (spec, at) => {
    const given = Object.keys(spec.selector);
    return given.length === 1
      ? []
      : [at.field('selector').violation('must name exactly one of meshService, meshMultiZoneService, meshExternalService')];
  },
});
