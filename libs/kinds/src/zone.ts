import { Type } from 'typebox';
import { checkName, defineKind, Sync } from '@causeway/resources';
import { nameWarnings } from './rules';
import { Duration, strict } from './schema-parts';

const Spec = Type.Object(
  {
    /** Absent means true; false withdraws its services from the other zones. */
    enabled: Type.Optional(Type.Boolean()),
    auth: Type.Optional(Type.Enum(['token', 'none'])),
    lost: Type.Optional(
      Type.Object({ policy: Type.Enum(['keep', 'depreferred', 'withdraw']), after: Type.Optional(Duration) }, strict),
    ),
  },
  { ...strict, examples: [{ enabled: true }] },
);

/** A zone that may join the mesh; made on the global, or by a zone's first session (design.md §5). */
export const Zone = defineKind({
  name: 'Zone',
  plural: 'zones',
  shortName: 'z',
  scope: 'global',
  sync: Sync.zoneList,
  writer: 'operator',
  bounds: { bytes: 64 * 1024 },
  spec: Spec,
  // The label `kuma.io/zone` of what it makes holds the name.
  checkName: (name, at) =>
    name.length > 63
      ? [at.violation(`must not be longer than 63 characters, has ${name.length}`)]
      : checkName(name, at),
  warn: ({ name }) => nameWarnings(name),
});
