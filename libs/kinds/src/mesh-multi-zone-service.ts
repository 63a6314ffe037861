import { Type } from 'typebox';
import { defineKind, Sync } from '@causeway/resources';
import { checkDistinctPorts, nameWarnings, checkLabelFields, selectorLabels } from './schema/rules';
import { MAX_ITEMS, PortNumber, protocols, ServiceSelector, strict } from './schema/schema-parts';

const Port = Type.Object(
  {
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 63 })),
    port: PortNumber,
    appProtocol: Type.Optional(Type.Enum(protocols, { default: 'tcp' })),
  },
  strict,
);

const Spec = Type.Object(
  {
    selector: Type.Object({ meshService: ServiceSelector }, strict),
    ports: Type.Array(Port, { minItems: 1, maxItems: MAX_ITEMS }),
  },
  {
    ...strict,
    examples: [
      { selector: { meshService: { matchLabels: { 'kuma.io/display-name': 'redis' } } }, ports: [{ port: 6379 }] },
    ],
  },
);

/** One service that consists of MeshServices of several zones (docs/reference/kuma-rest.md §3.4). */
export const MeshMultiZoneService = defineKind({
  name: 'MeshMultiZoneService',
  plural: 'meshmultizoneservices',
  shortName: 'mzsvc',
  scope: 'mesh',
  sync: Sync.fromGlobal,
  spec: Spec,
  validate: (spec, at) => {
    const selector = spec.selector.meshService;
    const place = at.field('selector').field('meshService');
    const none = Object.keys(selectorLabels(selector)).length === 0;
    return [
      ...checkLabelFields(selector, place),
      ...(none ? [place.field('matchLabels').violation('must not be empty', 'required')] : []),
      ...checkDistinctPorts(spec.ports, at.field('ports')),
    ];
  },
  warn: ({ name }) => nameWarnings(name),
});
