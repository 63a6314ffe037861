import { Type } from 'typebox';
import { checkName, defineKind, Sync } from '@causeway/resources';
import { nameWarnings } from './schema/rules';
import { Duration, strict } from './schema/schema-parts';

/** Name of a quarantined resource, in the form of documents. */
const Quarantined = Type.Object(
  {
    type: Type.String({ minLength: 1, maxLength: 100 }),
    mesh: Type.Optional(Type.String({ maxLength: 253 })),
    namespace: Type.Optional(Type.String({ maxLength: 253 })),
    name: Type.String({ minLength: 1, maxLength: 253 }),
  },
  strict,
);

const Spec = Type.Object(
  {
    /** Whether other zones get its services; absent means true. */
    enabled: Type.Optional(Type.Boolean()),
    auth: Type.Optional(Type.Enum(['token', 'none'])),
    lost: Type.Optional(
      Type.Object({ policy: Type.Enum(['keep', 'depreferred', 'withdraw']), after: Type.Optional(Duration) }, strict),
    ),
    /**
     * Quarantined resources. `all`: the zone gets no session. A list: the global deletes and refuses these resources;
     * one that is removed from the list comes back.
     */
    quarantine: Type.Optional(
      Type.Object(
        {
          all: Type.Optional(Type.Boolean()),
          resources: Type.Optional(Type.Array(Quarantined, { maxItems: 100 })),
        },
        strict,
      ),
    ),
  },
  { ...strict, examples: [{ enabled: true }] },
);

/** A zone that may join the mesh; created on the global, or by the zone's first session (docs/design.md §5). */
export const Zone = defineKind({
  name: 'Zone',
  plural: 'zones',
  shortName: 'z',
  scope: 'global',
  sync: Sync.zoneList,
  writer: 'operator',
  bounds: { bytes: 64 * 1024 },
  spec: Spec,
  // The name is the value of the label `kuma.io/zone` of its resources, and label values have 63 characters.
  checkName: (name, at) =>
    name.length > 63
      ? [at.violation(`must not be longer than 63 characters, has ${name.length}`)]
      : checkName(name, at),
  warn: ({ name }) => nameWarnings(name),
});
