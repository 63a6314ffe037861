import { Type } from 'typebox';
import { defineKind, Sync } from '@causeway/resources';
import { strict } from './schema-parts';

const Spec = Type.Object(
  {
    /** Absent means true; false withdraws its services from the other zones. */
    enabled: Type.Optional(Type.Boolean()),
    auth: Type.Optional(Type.Enum(['token', 'none'])),
    lost: Type.Optional(
      Type.Object(
        {
          policy: Type.Enum(['keep', 'depreferred', 'withdraw']),
          after: Type.Optional(Type.String({ pattern: '^[0-9]+(ms|s|m|h)$' })),
        },
        strict,
      ),
    ),
  },
  strict,
);

/** A zone that may join the mesh; made on the global, or by a zone's first session (design.md §5). */
export const Zone = defineKind({
  name: 'Zone',
  plural: 'zones',
  shortName: 'z',
  scope: 'global',
  sync: Sync.zoneList,
  writer: 'operator',
  spec: Spec,
});
