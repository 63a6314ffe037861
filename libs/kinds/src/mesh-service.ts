import { Type } from 'typebox';
import { defineKind, Sync, type FieldPath, type Violation } from '@causeway/resources';
import { checkDistinctPorts, nameWarnings } from './schema/rules';
import { MAX_ITEMS, NonEmpty, PortNumber, protocols, strict, StringMap, Text } from './schema/schema-parts';

const Selector = Type.Object(
  {
    dataplaneTags: Type.Optional(StringMap),
    dataplaneLabels: Type.Optional(Type.Object({ matchLabels: Type.Optional(StringMap) }, strict)),
    dataplaneRef: Type.Optional(Type.Object({ name: NonEmpty }, strict)),
  },
  strict,
);

const Port = Type.Object(
  {
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 63 })),
    port: PortNumber,
    targetPort: Type.Optional(Type.Union([PortNumber, NonEmpty])),
    appProtocol: Type.Optional(Type.Enum(protocols, { default: 'tcp' })),
  },
  strict,
);

/** Zones that get the service: by name, or by the labels of their Zone. */
const ExportZones = Type.Union([
  Type.Array(NonEmpty, { maxItems: MAX_ITEMS }),
  Type.Object({ matchLabels: StringMap }, strict),
]);

const Export = Type.Object({ mode: Type.Enum(['All', 'None', 'Subset']), zones: Type.Optional(ExportZones) }, strict);

const Identity = Type.Object({ type: Type.Enum(['ServiceTag', 'SpiffeID']), value: Text }, strict);

const Spec = Type.Object(
  {
    selector: Type.Optional(Selector),
    ports: Type.Optional(Type.Array(Port, { maxItems: MAX_ITEMS })),
    export: Type.Optional(Export),
    state: Type.Optional(Type.Enum(['Available', 'Unavailable'])),
    identities: Type.Optional(Type.Array(Identity, { maxItems: MAX_ITEMS })),
    /** Number of healthy instances as other zones see it, rounded to an eighth; absent if at most one. */
    instances: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000 })),
  },
  {
    ...strict,
    examples: [{ selector: { dataplaneTags: { app: 'redis' } }, ports: [{ port: 6379, appProtocol: 'tcp' }] }],
  },
);

/** A service of the mesh: the Dataplanes that serve it, its ports, and the zones that get it (docs/design.md §1; seed 001). */
export const MeshService = defineKind({
  name: 'MeshService',
  plural: 'meshservices',
  shortName: 'msvc',
  scope: 'mesh',
  namespaced: true,
  sync: Sync.acrossZones,
  serverOwned: ['state', 'identities', 'instances'],
  spec: Spec,
  validate: (spec, at) => [
    ...checkSelectors(spec.selector ?? {}, at.field('selector')),
    ...checkDistinctPorts(spec.ports ?? [], at.field('ports')),
    ...checkZones(spec.export, at.field('export').field('zones')),
  ],
  warn: ({ name, spec }) => [
    ...nameWarnings(name),
    ...(matchesNothing(spec.selector) ? ['spec.selector: selects nothing, so no Dataplane serves this service'] : []),
    ...(spec.ports?.length ? [] : ['spec.ports: there are none, so nothing can connect to this service']),
  ],
});

function checkSelectors(selector: object, at: FieldPath): Violation[] {
  const given = Object.keys(selector);
  if (given.length <= 1) return [];
  return [at.violation(`must name only one of dataplaneTags, dataplaneLabels, dataplaneRef; got ${given.join(', ')}`)];
}

function matchesNothing(
  selector: { readonly dataplaneTags?: Readonly<Record<string, string>>; readonly [key: string]: unknown } | undefined,
): boolean {
  if (!selector || Object.keys(selector).length === 0) return true;
  return selector.dataplaneTags !== undefined && Object.keys(selector.dataplaneTags).length === 0;
}

function checkZones(rule: { readonly mode: string; readonly zones?: unknown } | undefined, at: FieldPath): Violation[] {
  if (!rule) return [];
  if (rule.mode === 'Subset' && rule.zones === undefined)
    return [at.violation('is required with mode Subset', 'required')];
  if (rule.mode !== 'Subset' && rule.zones !== undefined) {
    return [at.violation(`must be left out with mode ${rule.mode}`)];
  }
  return [];
}
